import { expect } from 'chai';
import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { Stage, Tenant } from './suite/stage.js';

describe('The retry of a handler that throws an error with retryAfterMs', () => {
  let target: Awaited<ReturnType<typeof embeddedTarget>>;
  let stage: Stage;

  before(async () => {
    target = await embeddedTarget();
    stage = await Stage.open(target);
  });

  after(async () => {
    await stage.stop();
    await target.close();
  });

  it('waits as long as the error requests, in reconciles and in finalizes', async () => {
    const delays: (number | undefined)[] = [];
    const limited = (): never => {
      throw Object.assign(new Error('the provider is busy'), { retryAfterMs: 45_000 });
    };
    stage.operator.for(Tenant).reconciles(limited).finalizes(limited);
    stage.start({
      onEvent: (event) => {
        if (event.type === 'reconciled') delays.push(event.againInMs);
      },
    });
    await stage.create('acme');
    await target.eventually(async () => expect(delays).to.deep.equal([45_000]));
    await target.admin.delete(Tenant, stage.key('acme'));
    await target.eventually(async () => expect(delays).to.deep.equal([45_000, 45_000]));
  });
});
