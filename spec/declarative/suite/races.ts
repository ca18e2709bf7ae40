import { expect } from 'chai';
import { forwarding, isStaleWrite } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { isOperatorError } from '../../../lib/system/operator-error.js';
import { thrownBy } from './patcher.js';
import type { OpenTargetScene, TargetScene } from './target-scene.js';

/** A client after whose next read something happens. */
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
    it(`does not have an ${how} hit an object that was made again`, async () => {
      const scene = await open();
      await scene.create(ConfigMap, { data: { a: '1' } });
      const writing = scene.writing(ConfigMap, how);
      const client = afterNextRead(scene, () => remake(scene, { b: '2' }));
      expect(isStaleWrite(await thrownBy(writing.write({ data: { c: '3' } }, client)))).to.equal(
        true,
      );
      expect((await scene.get(ConfigMap))['data']).to.deep.equal({ b: '2' });
    });

    it(`does not have an ${how} make an object again that was deleted`, async () => {
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

    it(`does not have an ${how} take away from an object that was made again`, async () => {
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

  it('is a conflict for an Updater that takes out what is foreign', async () => {
    const scene = await open();
    const updater = scene.updater(ConfigMap);
    await updater.write({ data: { a: '1' } });
    await scene.edit(ConfigMap, { data: { b: '2' } });
    const meanwhile = afterNextRead(scene, () => scene.edit(ConfigMap, { data: { c: '3' } }));
    expect(isStaleWrite(await thrownBy(updater.write({ data: { a: '1' } }, meanwhile)))).to.equal(
      true,
    );
    expect(await updater.write({ data: { a: '1' } })).to.equal('updated');
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1' });
  });

  for (const how of ['Updater', 'Patcher'] as const) {
    it(`has a late write of an ${how} refused where another replica has written since`, async () => {
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

    it(`has a late deletion of an ${how} refused where another replica has written since`, async () => {
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

  it('does not keep a Patcher from its fields: it meets a conflict once', async () => {
    const scene = await open();
    await scene.create(ConfigMap, { data: { a: '1' } });
    const client = afterNextRead(scene, () => scene.edit(ConfigMap, { data: { b: '2' } }));
    const patcher = scene.patcher(ConfigMap);
    expect(isStaleWrite(await thrownBy(patcher.write({ data: { c: '3' } }, client)))).to.equal(
      true,
    );
    expect(await patcher.write({ data: { c: '3' } }, client)).to.equal('updated');
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1', b: '2', c: '3' });
  });

  it('is a conflict where the object was made between the read and the first write, then takes it over', async () => {
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

  it('leaves an object alone that is being deleted, and makes it again when it is gone', async () => {
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
