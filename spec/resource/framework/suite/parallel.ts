import { expect } from 'chai';
import { forwarding } from '../../../../lib/client/index.js';
import type { Client } from '../../../../lib/client/index.js';
import { ResourceRouter, ResourceSet } from '../../../../lib/resource/index.js';
import type { Gadget } from './gadget.js';
import { finalizersOf } from './scene.js';
import type { OpenScene } from './scene.js';

/** Declares how several frameworks, or other controllers, share one object. */
export function parallelSuite(open: OpenScene): void {
  it("several frameworks keep each other's finalizers on the same object", async () => {
    const scene = await open();
    const names = ['one', 'two', 'three'];
    for (const name of names) scene.run({ name, resources: [scene.resource(name)] });
    const objects = ['a', 'b', 'c'];
    for (const name of objects) await scene.create(name);
    const calls = objects.flatMap((object) => names.map((name) => `${name} created ${object}`));
    await scene.until(() => calls.every((call) => scene.calls.includes(call)));
    for (const object of objects) {
      const held = finalizersOf(await scene.get(object));
      expect(held).to.have.members(names.map((name) => `operator-builder.io/${name}`));
    }
    for (const object of objects) await scene.delete(object);
    await scene.until(async () => {
      const gone = await Promise.all(objects.map((object) => scene.isGone(object)));
      return gone.every(Boolean);
    });
    const deletes = scene.calls.filter((call) => call.includes('deleted'));
    expect(new Set(deletes).size).to.equal(9);
    expect(scene.recorded()).to.deep.equal([]);
  });

  it("a framework keeps a finalizer that another client adds between the framework's read and its write", async () => {
    const scene = await open();
    let isMeddled = false;
    const { client } = scene.operator;
    const meddling: Client = {
      ...forwarding(client),
      patch: async (type, key, patch, options) => {
        if (!isMeddled) {
          isMeddled = true;
          await scene.edit('a', { metadata: { finalizers: ['other.example.com/held'] } });
        }
        return client.patch(type, key, patch, options);
      },
    };
    scene.run({ client: meddling });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    expect(finalizersOf(await scene.get('a'))).to.deep.equal([
      ...['other.example.com/held', 'operator-builder.io/shop'],
    ]);
    isMeddled = true;
    await scene.edit('a', { metadata: { finalizers: null } });
    await scene.until(async () => finalizersOf(await scene.get('a')).length === 1);
  });

  it('a framework reconciles only the objects that its resource sets handle, beside another framework of the same kind', async () => {
    const scene = await open();
    for (const version of ['v1', 'v2']) {
      const set = new ResourceSet<Gadget>({
        ...{ name: version, handles: ({ spec }) => spec?.version === version },
        resources: [scene.resource(version)],
      });
      scene.run({ name: version, resourceRouter: new ResourceRouter({ resourceSets: [set] }) });
    }
    await scene.create('a', { spec: { version: 'v1' } });
    await scene.create('b', { spec: { version: 'v2' } });
    const wanted = ['v1 created a', 'v2 created b'];
    await scene.until(() => wanted.every((call) => scene.calls.includes(call)));
    await scene.calm();
    expect(new Set(scene.calls)).to.deep.equal(new Set(wanted));
    expect(finalizersOf(await scene.get('a'))).to.deep.equal(['operator-builder.io/v1']);
    expect(finalizersOf(await scene.get('b'))).to.deep.equal(['operator-builder.io/v2']);
  });
}
