import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import { done } from '../../lib/controller/result.js';
import type { Manager } from '../../lib/manager/manager.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { drivenController } from './suite/driven-controller.js';

describe('drivenController', () => {
  it('reconciles existing objects after each restart, and none while it is stopped', async () => {
    const target = await embeddedTarget();
    const namespace = await target.namespace();
    const seen: string[] = [];
    const setup = (manager: Manager): void => void manager.add(noting(seen));
    const create = (name: string) =>
      target.admin.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } });
    const driven = await drivenController({ target, setup });
    await create('a');
    await driven.eventually(() => expect(seen).to.deep.equal(['a']));
    await driven.restart();
    await driven.eventually(() => expect(seen).to.deep.equal(['a', 'a']));
    await driven.stop();
    await create('b');
    await driven.pass(60_000);
    expect(seen).to.deep.equal(['a', 'a']);
    await driven.start();
    await driven.eventually(() => expect([...seen].sort()).to.deep.equal(['a', 'a', 'a', 'b']));
    await driven.stop();
    await target.close();
  });
});

function noting(seen: string[]) {
  return controllerFor(ConfigMap)
    .withOptions({ name: 'noting' })
    .complete(async ({ key }) => {
      // The cluster itself creates another ConfigMap in each namespace.
      const isOwn = key.namespace?.startsWith('shop-') === true && key.name.length === 1;
      if (isOwn) seen.push(key.name);
      return done();
    });
}
