import { expect } from 'chai';
import { ensureCrd, forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { groupOf } from '../../../lib/object/index.js';
import { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import { deferred } from '../../controller/deferred.js';
import { ControllerScene, configMap, sameName, views } from './controller-scene.js';

const group = 'controllers.example.com';

function gizmos(version: string, scope = 'Namespaced'): CustomResourceDefinition {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `gizmos.${group}` },
    spec: {
      ...{ group, scope, names: { kind: 'Gizmo', plural: 'gizmos' } },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

describe('A declarative controller whose CRD is deleted and created again', () => {
  let scene: ControllerScene;

  beforeEach(async () => {
    scene = await ControllerScene.start();
    await install(gizmos('v1'));
  });

  afterEach(() => scene.end());

  async function install(crd: CustomResourceDefinition): Promise<void> {
    await ensureCrd(scene.base.person, crd, { clock: scene.base.clock });
  }

  async function replaceBy(crd: CustomResourceDefinition): Promise<void> {
    await scene.base.person.delete(CustomResourceDefinition, { name: crd.metadata.name ?? '' });
    await scene.eventually(async () => {
      expect(await scene.get(crd, { name: crd.metadata.name ?? '' })).to.equal(undefined);
    }, 1_000);
    await install(crd);
  }

  it('writes its target in the version that is served now', async () => {
    const pipeline = [{ '@project': { metadata: sameName, text: '$.data.text' } }];
    const sources = [{ apiGroup: '', kind: 'ConfigMap' }];
    await scene.put(configMap('a', { text: 'one' }));
    const [controller] = await scene.run({
      ...{ name: 'gizmos', sources, pipeline, target: { apiGroup: group, kind: 'Gizmo' } },
    });
    await replaceBy(gizmos('v2'));
    await scene.put(configMap('b', { text: 'two' }));
    await scene.eventually(async () => {
      const found = await scene.all({ apiVersion: `${group}/v2`, kind: 'Gizmo' });
      expect(Object.values(found).map((gizmo) => gizmo['text'])).to.deep.equal(['one', 'two']);
      expect(scene.ready(controller!)).to.equal('True Ready');
    }, 1_000);
  });

  it('reads its source in the scope and version that are served now', async () => {
    const pipeline = [{ '@project': { metadata: sameName, data: { text: '$.text' } } }];
    const sources = [{ apiGroup: group, kind: 'Gizmo' }];
    await scene.run({
      ...{ name: 'maps', sources, pipeline, target: { apiGroup: '', kind: 'ConfigMap' } },
    });
    await replaceBy(gizmos('v2'));
    const metadata = { namespace: 'default', name: 'g' };
    await scene.put({ apiVersion: `${group}/v2`, kind: 'Gizmo', metadata, text: 'there' });
    await scene.eventually(async () => {
      const made = await scene.get({ apiVersion: 'v1', kind: 'ConfigMap' }, metadata);
      expect(made?.['data']).to.deep.equal({ text: 'there' });
    }, 1_000);
  });

  it('looks up the new kind only once, even while the controllers that read views start again', async () => {
    const looks = { areScripted: false, count: 0 };
    const { base } = scene;
    const client: Client = {
      ...forwarding(base.client),
      resourceType: (type) => {
        // Only the first look-up returns the new kind.
        const isLate = type.kind === 'Gizmo' && looks.areScripted && ++looks.count > 1;
        return isLate ? Promise.reject(new Error('away')) : base.client.resourceType(type);
      },
    };
    await scene.manager.stop();
    scene = await ControllerScene.on(base, { client });
    const pipeline = [{ '@project': { metadata: sameName, data: { text: '$.text' } } }];
    const sources = [{ apiGroup: group, kind: 'Gizmo' }];
    const join = { '@join': { '@eq': ['$.Gizmo.metadata.name', '$.Price.metadata.name'] } };
    await scene.run({
      ...{ name: 'maps', sources: [...sources, { kind: 'Price' }], pipeline: [join, ...pipeline] },
      target: { apiGroup: '', kind: 'ConfigMap' },
    });
    looks.areScripted = true;
    await replaceBy(gizmos('v2'));
    await scene.eventually(() => expect(looks.count).to.equal(1), 1_000);
    await scene.during(scene.manager.viewWriters.restartReaders([`${groupOf(views)}/Price`]));
    await scene.eventually(
      () => expect(scene.ready(scene.controllers[0]!)).to.match(/^True/),
      1_000,
    );
  });

  it('waits for the answer of a look-up of its kind before it looks up the kind again', async () => {
    const looks = { areHeld: false, count: 0, answer: deferred() };
    const { base } = scene;
    const client: Client = {
      ...forwarding(base.client),
      resourceType: async (type) => {
        if (type.kind === 'Gizmo' && looks.areHeld) {
          looks.count++;
          await looks.answer.promise;
        }
        return base.client.resourceType(type);
      },
    };
    await scene.manager.stop();
    scene = await ControllerScene.on(base, { client });
    const pipeline = [{ '@project': { metadata: sameName, data: { text: '$.text' } } }];
    const sources = [{ apiGroup: group, kind: 'Gizmo' }];
    await scene.run({
      ...{ name: 'maps', sources, pipeline, target: { apiGroup: '', kind: 'ConfigMap' } },
    });
    looks.areHeld = true;
    await replaceBy(gizmos('v2'));
    await scene.eventually(() => expect(looks.count).to.equal(1), 1_000);
    await base.clock.advance(60_000);
    expect(looks.count).to.equal(1);
    looks.answer.resolve();
    await scene.eventually(
      () => expect(scene.ready(scene.controllers[0]!)).to.match(/^True/),
      1_000,
    );
  });

  it('waits while the kinds of its source and its target are not served', async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', onUnhandled);
    const key = { name: `gizmos.${group}` };
    await scene.base.person.delete(CustomResourceDefinition, key);
    const controller = scene.controller({
      ...{ name: 'copies', sources: [{ apiGroup: group, kind: 'Gizmo' }] },
      target: { apiGroup: group, kind: 'Copy' },
    });
    await controller.start();
    await scene.base.run(scene.manager);
    await scene.eventually(
      () => expect(scene.ready(controller)).to.equal('Unknown ReconciliationFailed'),
      1_000,
    );
    await controller.stop();
    process.off('unhandledRejection', onUnhandled);
    expect(unhandled, 'a rejection that ends the process').to.deep.equal([]);
  });
});
