import { expect } from 'chai';
import { ControllerScene, configMap, sameName, view, views } from './controller-scene.js';

const Walls = { apiVersion: views, kind: 'Wall' };
const ConfigMaps = { apiVersion: 'v1', kind: 'ConfigMap' };

/** A controller that writes a `Wall` in its colour for each object of its own kind `Wish<colour>`. */
const painter = (colour: string, target: object = { kind: 'Wall' }) => ({
  ...{ name: colour, sources: [{ kind: `Wish${colour}` }], target },
  pipeline: { '@project': { metadata: sameName, data: { [colour]: 'yes' } } },
});

describe('two controllers with the same target object', () => {
  let scene: ControllerScene;
  afterEach(async () => scene.end());

  /** Runs a red painter, then starts a blue one. */
  async function painters(target?: object) {
    scene = await ControllerScene.start();
    await scene.put(view('Wishred', 'a'));
    await scene.put(view('Wishblue', 'a'));
    await scene.put(view('Wishblue', 'b'));
    const [red] = await scene.run(painter('red', target));
    const blue = scene.controller(painter('blue', target));
    await blue.start();
    await scene.settled();
    return { red: red!, blue };
  }

  it('report a conflict that names both controllers and the object, which the first controller keeps', async () => {
    const { red, blue } = await painters();
    const { a, b } = await scene.all(Walls);
    expect([a?.['data'], b?.['data']]).to.deep.equal([{ red: 'yes' }, { blue: 'yes' }]);
    expect([scene.ready(red), scene.ready(blue)]).to.deep.equal([
      'True Ready',
      'Unknown ReconciliationFailed',
    ]);
    const [condition] = blue.status().conditions;
    expect(condition?.message).to.contain('Wall default/a').and.contain('op/red');
    expect(condition?.message).to.contain('op/blue');
    expect(scene.errors[0]?.error).to.have.property('code', 'TargetConflict');
  });

  it('write the object of the second controller when the first no longer has a result for it', async () => {
    const { blue } = await painters();
    await scene.delete(view('Wishred', 'a'));
    await scene.settled();
    expect((await scene.all(Walls))['a']?.['data']).to.deep.equal({ blue: 'yes' });
    expect(scene.ready(blue)).to.equal('True Ready');
    await scene.delete(view('Wishblue', 'a'));
    await scene.settled();
    expect(await scene.names(Walls)).to.deep.equal(['b']);
  });

  it('write the object of the second controller when the first is removed', async () => {
    const { red, blue } = await painters();
    await scene.during(red.stop({ cleanUp: 'delete' }));
    await scene.settled();
    expect((await scene.all(Walls))['a']?.['data']).to.deep.equal({ blue: 'yes' });
    expect(scene.ready(blue)).to.equal('True Ready');
  });

  it('keep the object of the first controller when the second no longer has a result for it', async () => {
    const { blue } = await painters();
    await scene.delete(view('Wishblue', 'a'));
    await scene.settled();
    expect((await scene.all(Walls))['a']?.['data']).to.deep.equal({ red: 'yes' });
    expect(scene.ready(blue)).to.equal('True Ready');
  });

  it('write the object without fields of the other controller, whichever of them wrote it before a restart', async () => {
    scene = await ControllerScene.start();
    await scene.client.apply(configMap('a', { blue: 'yes' }), { fieldManager: 'op/blue' });
    await scene.put(view('Wishred', 'a'));
    await scene.put(view('Wishblue', 'a'));
    const target = { apiGroup: '', kind: 'ConfigMap' };
    await scene.run(painter('red', target));
    const blue = scene.controller(painter('blue', target));
    await blue.start();
    await scene.settled();
    expect((await scene.all(ConfigMaps))['a']?.['data']).to.deep.equal({ red: 'yes' });
  });
});

describe('a Patcher whose target is an object of an Updater', () => {
  let scene: ControllerScene;
  afterEach(async () => scene.end());

  const target = { apiGroup: '', kind: 'ConfigMap' };
  const labels = { checked: 'yes' };
  const patcher = {
    ...{ name: 'labels', target: { ...target, type: 'Patcher' }, sources: [{ kind: 'Wishred' }] },
    pipeline: { '@project': { metadata: { ...sameName, labels } } },
  };

  it('sets its fields again after a change and after a deletion of the object', async () => {
    scene = await ControllerScene.start();
    await scene.put(view('Wishred', 'a'));
    await scene.run(painter('red', target), patcher);
    const isRight = async (): Promise<void> => {
      await scene.settled();
      const { a } = await scene.all(ConfigMaps);
      expect([a?.metadata.labels, a?.['data']]).to.deep.equal([labels, { red: 'yes' }]);
    };
    await scene.eventually(isRight);
    const body = { metadata: { labels: { checked: 'no' } } };
    const key = { namespace: 'default', name: 'a' };
    await scene.client.patch(ConfigMaps, key, { type: 'merge', body });
    await scene.eventually(isRight);
    await scene.delete(configMap('a'));
    await scene.eventually(isRight);
  });
});
