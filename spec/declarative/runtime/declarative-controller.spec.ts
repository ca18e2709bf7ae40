import { expect } from 'chai';
import { ControllerScene, configMap, sameName, view, views } from './controller-scene.js';

const ConfigMaps = { apiVersion: 'v1', kind: 'ConfigMap' };
const Copies = { apiVersion: views, kind: 'Copy' };

/** Makes a view Copy of each ConfigMap that its source selects. */
function copies(source: object = {}): object {
  return {
    name: 'copies',
    sources: [{ apiGroup: '', version: 'v1', kind: 'ConfigMap', namespace: 'default', ...source }],
    pipeline: [{ '@project': { metadata: sameName, data: '$.data' } }],
    target: { kind: 'Copy' },
  };
}

describe('DeclarativeController', () => {
  let scene: ControllerScene;
  afterEach(async () => scene.end());

  it('writes what comes out of its pipeline, at the start and as it changes', async () => {
    scene = await ControllerScene.start();
    await scene.put(configMap('a', { x: '1' }));
    await scene.run(copies());
    expect(await scene.all(Copies)).to.have.nested.property('a.data.x', '1');
    await scene.put(configMap('b', { x: '2' }));
    await scene.put(configMap('a', { x: '3' }));
    await scene.settled();
    const both = await scene.all(Copies);
    expect([both['a']?.['data'], both['b']?.['data']]).to.deep.equal([{ x: '3' }, { x: '2' }]);
    await scene.delete(configMap('a'));
    await scene.settled();
    expect(await scene.names(Copies)).to.deep.equal(['b']);
    expect(scene.errors).to.deep.equal([]);
  });

  it('follows its namespace, and what is labelled so: what falls out is deleted', async () => {
    scene = await ControllerScene.start();
    await scene.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } });
    await scene.run(copies({ labelSelector: { matchLabels: { app: 'x' } } }));
    const labelled = (app: string) => configMap('a', {}, { labels: { app } });
    await scene.put(labelled('x'));
    await scene.put(configMap('b'));
    await scene.put(configMap('c', {}, { namespace: 'other', labels: { app: 'x' } }));
    await scene.settled();
    expect(await scene.names(Copies)).to.deep.equal(['a']);
    await scene.put(labelled('y'));
    await scene.settled();
    expect(await scene.names(Copies)).to.deep.equal([]);
    await scene.put(labelled('x'));
    await scene.settled();
    expect(await scene.names(Copies)).to.deep.equal(['a']);
  });
});
