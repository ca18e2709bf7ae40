import { expect } from 'chai';
import { forwarding, isStaleWrite } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { isOperatorError } from '../../../lib/system/operator-error.js';
import { thrownBy } from './patcher.js';
import type { OpenTargetScene, TargetScene } from './target-scene.js';

/** Returns a client that runs `happens` after its next read. */
function afterNextRead(scene: TargetScene, happens: () => Promise<unknown>): Client {
  const { client } = scene.context;
  let left = 1;
  return {
    ...forwarding(client),
    get: async (type, key, options) => {
      const object = await client.get(type, key, options);
      if (left-- > 0) await happens();
      return object;
    },
  };
}

async function remake(scene: TargetScene, data: Record<string, string>): Promise<void> {
  await scene.admin.delete(ConfigMap, { namespace: scene.namespace, name: 'web' });
  await scene.create(ConfigMap, { data });
}

export function racesSuite(open: OpenTargetScene): void {
  for (const how of ['Updater', 'Patcher'] as const) {
    it(`an object that is deleted and created again after the read of the ${how} is not changed by its write`, async () => {
      const scene = await open();
      await scene.create(ConfigMap, { data: { a: '1' } });
      const writing = scene.writing(ConfigMap, how);
      const client = afterNextRead(scene, () => remake(scene, { b: '2' }));
      expect(isStaleWrite(await thrownBy(writing.write({ data: { c: '3' } }, client)))).to.equal(
        true,
      );
      expect((await scene.get(ConfigMap))['data']).to.deep.equal({ b: '2' });
    });

    it(`an object that is deleted after the read of the ${how} is not created again by its write`, async () => {
      const scene = await open();
      await scene.create(ConfigMap, { data: { a: '1' } });
      const key = { namespace: scene.namespace, name: 'web' };
      const client = afterNextRead(scene, () => scene.admin.delete(ConfigMap, key));
      const writing = scene.writing(ConfigMap, how);
      expect(isStaleWrite(await thrownBy(writing.write({ data: { c: '3' } }, client)))).to.equal(
        true,
      );
      expect(await scene.find(ConfigMap)).to.equal(undefined);
    });

    it(`an object that is deleted and created again after the read of the ${how} keeps its fields when the ${how} is removed`, async () => {
      const scene = await open();
      await scene.create(ConfigMap, { data: { a: '1' } });
      const writing = scene.writing(ConfigMap, how);
      await writing.write({ data: { c: '3' } });
      const client = afterNextRead(scene, () => remake(scene, { c: '3' }));
      expect(isStaleWrite(await thrownBy(writing.remove(client)))).to.equal(true);
      expect((await scene.get(ConfigMap))['data']).to.deep.equal({ c: '3' });
      expect(await writing.remove()).to.equal('unchanged');
    });
  }

  it('a change after the read of an Updater causes a conflict if the Updater removes fields of others', async () => {
    const scene = await open();
    const updater = scene.updater(ConfigMap);
    await updater.write({ data: { a: '1' } });
    await scene.edit(ConfigMap, { data: { b: '2' } });
    const meanwhile = afterNextRead(scene, () => scene.edit(ConfigMap, { data: { c: '3' } }));
    expect(isStaleWrite(await thrownBy(updater.write({ data: { a: '1' } }, meanwhile)))).to.equal(
      true,
    );
    expect(await updater.write({ data: { a: '1' } })).to.equal('configured');
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1' });
  });

  for (const how of ['Updater', 'Patcher'] as const) {
    it(`a write of another replica after the read of the ${how} causes a conflict for its write`, async () => {
      const scene = await open();
      await scene.create(ConfigMap, { data: { a: '1' } });
      const newer = scene.writing(ConfigMap, how);
      const client = afterNextRead(scene, () => newer.write({ data: { a: 'new' } }));
      const former = scene.writing(ConfigMap, how);
      expect(isStaleWrite(await thrownBy(former.write({ data: { a: 'old' } }, client)))).to.equal(
        true,
      );
      expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: 'new' });
    });

    it(`a write of another replica after the read of the ${how} causes a conflict for the removal of its fields`, async () => {
      const scene = await open();
      await scene.create(ConfigMap, { data: { a: '1' } });
      const former = scene.writing(ConfigMap, how);
      await former.write({ data: { b: '2' } });
      const newer = scene.writing(ConfigMap, how);
      const client = afterNextRead(scene, () => newer.write({ data: { b: 'new' } }));
      expect(isStaleWrite(await thrownBy(former.remove(client)))).to.equal(true);
      expect((await scene.get(ConfigMap))['data']).to.include({ b: 'new' });
    });
  }

  it('a change after the read of a Patcher causes at most one conflict', async () => {
    const scene = await open();
    await scene.create(ConfigMap, { data: { a: '1' } });
    const client = afterNextRead(scene, () => scene.edit(ConfigMap, { data: { b: '2' } }));
    const patcher = scene.patcher(ConfigMap);
    expect(isStaleWrite(await thrownBy(patcher.write({ data: { c: '3' } }, client)))).to.equal(
      true,
    );
    expect(await patcher.write({ data: { c: '3' } }, client)).to.equal('configured');
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1', b: '2', c: '3' });
  });

  it('an object that another client creates first causes a conflict, and is taken over by the next write', async () => {
    const scene = await open();
    const { client } = scene.context;
    const late: Client = {
      ...forwarding(client),
      apply: async (object, options) => {
        if ((await scene.find(ConfigMap)) === undefined)
          await scene.create(ConfigMap, { data: { b: '2' } });
        return client.apply(object, options);
      },
    };
    const updater = scene.updater(ConfigMap);
    expect(isStaleWrite(await thrownBy(updater.write({ data: { a: '1' } }, late)))).to.equal(true);
    await updater.write({ data: { a: '1' } }, late);
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1' });
  });

  it('an object that another client deletes is written only after its deletion has ended', async () => {
    const scene = await open();
    await scene.create(ConfigMap, { metadata: { finalizers: ['shop.example.com/wait'] } });
    const key = { namespace: scene.namespace, name: 'web' };
    await scene.admin.delete(ConfigMap, key);
    const updater = scene.updater(ConfigMap);
    await scene.writes();
    const error = await thrownBy(updater.write({ data: { a: '1' } }));
    expect(isOperatorError(error, 'TargetDeleting')).to.equal(true);
    expect(String(error)).to.contain(`ConfigMap ${scene.namespace}/web is being deleted`);
    expect(await updater.remove()).to.equal('unchanged');
    expect(await scene.writes()).to.deep.equal([]);
    await scene.edit(ConfigMap, { metadata: { finalizers: null } });
    expect(await updater.write({ data: { a: '1' } })).to.equal('created');
  });
}
