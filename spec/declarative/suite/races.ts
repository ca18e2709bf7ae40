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
    it(`a concurrent change prevents an ${how} from writing to a recreated object`, async () => {
      const scene = await open();
      await scene.create(ConfigMap, { data: { a: '1' } });
      const writing = scene.writing(ConfigMap, how);
      const client = afterNextRead(scene, () => remake(scene, { b: '2' }));
      expect(isStaleWrite(await thrownBy(writing.write({ data: { c: '3' } }, client)))).to.equal(
        true,
      );
      expect((await scene.get(ConfigMap))['data']).to.deep.equal({ b: '2' });
    });

    it(`a concurrent change prevents an ${how} from recreating a deleted object`, async () => {
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

    it(`a concurrent change prevents an ${how} from removing fields of a recreated object`, async () => {
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

  it('a concurrent change causes a conflict for an Updater that removes fields of others', async () => {
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
    it(`a concurrent change causes a conflict for a late write of an ${how} after a write of another replica`, async () => {
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

    it(`a concurrent change causes a conflict for a late removal of an ${how} after a write of another replica`, async () => {
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

  it('a concurrent change causes at most one conflict of a Patcher', async () => {
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

  it('a concurrent change causes a conflict if it creates the object first; the next write takes the object over', async () => {
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

  it('a concurrent change delays the write until the object is gone if it deletes the object', async () => {
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
