import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller-builder.js';
import { done } from '../../lib/controller/result.js';
import { runControllers } from '../../lib/controller/run-controllers.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup } from './controller-setup.js';

describe('runControllers', () => {
  it('says when all reconcile, and leaves nothing behind', async () => {
    const setup = new ControllerSetup();
    setup.parts.failures['watch'] = [new OperatorError('UnknownKind', 'no Part')];
    const { clock, client } = setup;
    const stop = new AbortController();
    const seen: string[] = [];
    const controller = controllerFor(Thing).complete(async ({ key }) => {
      seen.push(key.name);
      return done();
    });
    setup.things.put('a');
    let isReady = false;
    const running = runControllers({
      controllers: [controller],
      signal: stop.signal,
      onReady: () => (isReady = true),
      ...{ client, clock },
    });
    await clock.advance(0);
    expect([isReady, seen]).to.deep.equal([true, ['a']]);
    expect(setup.things.watches).to.equal(1);
    stop.abort();
    await Promise.all([running, clock.advance(0)]);
    expect([setup.things.watches, clock.pendingTimers]).to.deep.equal([0, 0]);
  });

  it('is never ready when it was to stop before', async () => {
    const { client, clock } = new ControllerSetup();
    const controllers = [controllerFor(Thing).complete(async () => done())];
    let isReady = false;
    const onReady = (): void => void (isReady = true);
    const signal = AbortSignal.abort();
    await runControllers({ client, clock, controllers, onReady, signal });
    expect([isReady, clock.pendingTimers]).to.deep.equal([false, 0]);
  });
});
