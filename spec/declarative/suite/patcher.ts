import { expect } from 'chai';
import { isOperatorError } from '../../../lib/system/operator-error.js';
import { ConfigMap, Deployment } from '../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { Gadget, Widget } from './target-scene.js';
import type { OpenTargetScene } from './target-scene.js';
import { deployment } from './updater.js';

/** Returns the error that `work` throws. */
export async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

export function patcherSuite(open: OpenTargetScene): void {
  it('a Patcher sets the fields of its document, and keeps all other fields of the object', async () => {
    const scene = await open();
    await scene.create(ConfigMap, { metadata: { labels: { a: '1' } }, data: { a: '1', b: '1' } });
    const document = { metadata: { annotations: { c: '1' } }, data: { b: '2' } };
    expect(await scene.patcher(ConfigMap).write(document)).to.equal('configured');
    const { metadata, data } = await scene.get(ConfigMap);
    expect(data).to.deep.equal({ a: '1', b: '2' });
    expect(metadata).to.deep.include({ labels: { a: '1' }, annotations: { c: '1' } });
  });

  it('a Patcher patches an object whose controller reference names another owner', async () => {
    const scene = await open();
    const owner = (await scene.create(ConfigMap, {}, 'owner')) as UnstructuredObject;
    const { name = '', uid = '' } = owner.metadata;
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true };
    const metadata = { ownerReferences: [reference] };
    await scene.create(ConfigMap, { metadata, data: { theirs: '1' } });
    const patcher = scene.patcher(ConfigMap);
    expect(await patcher.write({ data: { ours: '1' } })).to.equal('configured');
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ theirs: '1', ours: '1' });
    expect(await patcher.remove()).to.equal('configured');
    expect(await scene.get(ConfigMap)).to.deep.include({ data: { theirs: '1' } });
  });

  it('a Patcher removes exactly the fields that it set', async () => {
    const scene = await open();
    await scene.create(Gadget, {
      metadata: { labels: { a: '1' } },
      spec: { kept: { x: 1 }, y: 2 },
    });
    const patcher = scene.patcher(Gadget);
    const metadata = { labels: { b: '1' }, annotations: { c: '1' } };
    await patcher.write({ metadata, spec: { kept: { z: 3 }, own: { deep: 1 } } });
    expect(await patcher.remove()).to.equal('configured');
    const after = await scene.get(Gadget);
    expect(after['spec']).to.deep.equal({ kept: { x: 1 }, y: 2 });
    expect(after.metadata.labels).to.deep.equal({ a: '1' });
    expect(after.metadata.annotations ?? {}).to.deep.equal({});
    expect(await patcher.remove()).to.equal('unchanged');
  });

  it('a Patcher removes fields that an earlier process set', async () => {
    const scene = await open();
    await scene.create(ConfigMap, { data: { a: '1' } });
    await scene.patcher(ConfigMap).write({ data: { b: '2', c: '3' } });
    await scene.patcher(ConfigMap).write({ data: { c: '3' } });
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1', c: '3' });
    await scene.patcher(ConfigMap).remove();
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1' });
  });

  it('a Patcher removes only fields that no other field manager owns, and does not restore values that it overwrote', async () => {
    const scene = await open();
    await scene.create(ConfigMap, { data: { same: '1', taken: '1' } });
    const patcher = scene.patcher(ConfigMap);
    await patcher.write({ data: { same: '1', taken: '2' } });
    await patcher.remove();
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ same: '1' });
  });

  it('a Patcher restores fields that another client changed or removed', async () => {
    const scene = await open();
    await scene.create(ConfigMap, { data: { a: '1' } });
    const patcher = scene.patcher(ConfigMap);
    const document = { data: { b: '2', c: '3' } };
    await patcher.write(document);
    await scene.edit(ConfigMap, { data: { b: 'x', c: null } });
    expect(await patcher.write(document)).to.equal('configured');
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1', b: '2', c: '3' });
  });

  it('a Patcher removes a field that is null in its document, whichever field manager owns the field', async () => {
    const scene = await open();
    await scene.create(ConfigMap, { metadata: { labels: { a: '1', b: '1' } }, data: { c: '1' } });
    const patcher = scene.patcher(ConfigMap);
    const document = { metadata: { labels: { a: null } }, data: { c: null, d: '2', e: null } };
    expect(await patcher.write(document)).to.equal('configured');
    const { metadata, data } = await scene.get(ConfigMap);
    expect(metadata.labels).to.deep.equal({ b: '1' });
    expect(data).to.deep.equal({ d: '2' });
    await scene.writes();
    expect(await patcher.write(document)).to.equal('unchanged');
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('a Patcher creates no object, and reports which object is missing', async () => {
    const scene = await open();
    const patcher = scene.patcher(ConfigMap);
    const error = await thrownBy(patcher.write({ data: { a: '1' } }));
    expect(isOperatorError(error, 'TargetMissing')).to.equal(true);
    expect(String(error)).to.contain(`ConfigMap ${scene.namespace}/web does not exist`);
    expect(await scene.find(ConfigMap)).to.equal(undefined);
    expect(await patcher.remove()).to.equal('unchanged');
    await scene.create(ConfigMap, {});
    expect(await patcher.write({ data: { a: '1' } })).to.equal('configured');
  });

  it('a Patcher has no conflict with a Patcher of other fields of the same object', async () => {
    const scene = await open();
    await scene.create(Widget, { spec: {} });
    const [one, other] = [scene.patcher(Widget, 'shop/one'), scene.patcher(Widget, 'shop/other')];
    const documents = [{ spec: { size: 5 } }, { spec: { color: 'red' } }] as const;
    await one.write(documents[0]);
    await other.write(documents[1]);
    await scene.writes();
    expect(await one.write(documents[0])).to.equal('unchanged');
    expect(await other.write(documents[1])).to.equal('unchanged');
    expect(await scene.writes()).to.deep.equal([]);
    await one.remove();
    expect((await scene.get(Widget))['spec']).to.deep.equal({ size: 3, color: 'red' });
  });

  for (const type of [Widget, Gadget]) {
    it(`a Patcher that removes the last field of a map keeps the empty map if another field manager owns it (${type.kind})`, async () => {
      const scene = await open();
      await scene.create(type, { spec: { color: 'blue' } });
      const patcher = scene.patcher(type);
      await patcher.write({ spec: { tags: ['a'] } });
      const rest = type === Widget ? { size: 3 } : {};
      await scene.edit(type, { spec: { color: null, size: null } });
      await patcher.remove();
      expect((await scene.get(type))['spec']).to.deep.equal(rest);
      expect(await patcher.remove()).to.equal('unchanged');
    });
  }

  it('a Patcher annotates the template of a Deployment, which starts a rollout', async () => {
    const scene = await open();
    await scene.create(Deployment, deployment());
    const patcher = scene.patcher(Deployment);
    const template = { metadata: { annotations: { 'shop.example.com/version': '7' } } };
    await patcher.write({ spec: { template } });
    const annotated = (await scene.get(Deployment)) as Deployment;
    expect(annotated.spec?.template.metadata?.annotations).to.deep.equal(
      template.metadata.annotations,
    );
    await patcher.remove();
    const after = (await scene.get(Deployment)) as Deployment;
    expect(after.spec?.template.metadata?.annotations ?? {}).to.deep.equal({});
    expect(after.spec?.template.metadata?.labels).to.deep.equal({ app: 'web' });
  });
}
