import { expect } from 'chai';
import { ConfigMap } from '../../../lib/object/kinds.js';
import type { ObjectKey } from '../../../lib/object/kubernetes-object.js';
import { keyString } from '../../../lib/object/object-key.js';
import { Realm } from './target-scene.js';
import type { OpenTargetScene, TargetScene } from './target-scene.js';

function inNamespace({ namespace }: TargetScene, keys: readonly ObjectKey[]): string[] {
  const own = keys.filter((key) => key.namespace === namespace);
  return own.map(({ name }) => name).sort();
}

export function leftoversSuite(open: OpenTargetScene): void {
  for (const how of ['Updater', 'Patcher'] as const) {
    it(`objects written by earlier processes are found by the ${how}, without objects of other controllers`, async () => {
      const scene = await open();
      await Promise.all(['a', 'b', 'c'].map((name) => scene.create(ConfigMap, {}, name)));
      const [one, other] = [scene.writing(ConfigMap, how), scene.writing(ConfigMap, how, 'shop/x')];
      for (const [writing, names] of [
        [one, ['a', 'b']],
        [other, ['b', 'c']],
      ] as const) {
        for (const name of names) {
          const key = { namespace: scene.namespace, name };
          const document = { metadata: key, data: { [how]: '1' } };
          await writing.writer.write(key, document, scene.context);
        }
      }
      const again = scene.writing(ConfigMap, how);
      expect(inNamespace(scene, await again.writer.written(scene.context))).to.deep.equal([
        'a',
        'b',
      ]);
    });
  }

  it('objects written by earlier processes include an object that was written with only a name', async () => {
    const scene = await open();
    await scene.updater(ConfigMap).write({});
    await scene.updater(ConfigMap).write({});
    const keys = await scene.updater(ConfigMap).writer.written(scene.context);
    expect(inNamespace(scene, keys)).to.deep.equal(['web']);
  });

  it('objects written by earlier processes are found for a cluster-scoped kind', async () => {
    const scene = await open();
    const key = { name: scene.namespace };
    const { writer } = scene.updater(Realm);
    await writer.write(key, { spec: { a: 1 } }, scene.context);
    const keys = await writer.written(scene.context);
    expect(keys.map(keyString)).to.include(scene.namespace);
    await writer.write(key, undefined, scene.context);
    expect((await writer.written(scene.context)).map(keyString)).not.to.include(scene.namespace);
  });

  it('objects written by earlier processes do not include an object whose fields a Patcher has removed', async () => {
    const scene = await open();
    await scene.create(ConfigMap, {});
    const patcher = scene.patcher(ConfigMap);
    await patcher.write({ data: { a: '1' } });
    await patcher.remove();
    expect(inNamespace(scene, await patcher.writer.written(scene.context))).to.deep.equal([]);
  });
}
