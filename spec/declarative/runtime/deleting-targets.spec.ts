import { expect } from 'chai';
import type { DeclarativeController } from '../../../lib/declarative/runtime/declarative-controller.js';
import { ControllerScene, configMap, sameName, view } from './controller-scene.js';

const ConfigMaps = { apiVersion: 'v1', kind: 'ConfigMap' };
const finalizer = 'shop.example.com/wait';
const key = { namespace: 'default', name: 'a' };

/** A controller that writes a ConfigMap for each view Wanted. */
const wanted = {
  ...{ name: 'wanted', sources: [{ kind: 'Wanted' }] },
  pipeline: { '@project': { metadata: sameName, data: '$.data' } },
  target: { apiGroup: '', version: 'v1', kind: 'ConfigMap' },
};

describe('a target object that is still being deleted when it has to be written', () => {
  let scene: ControllerScene;
  afterEach(async () => scene.end());

  const logged = (level: string): readonly string[] =>
    scene.base.lines
      .filter((line) => line.level === level && line.message.includes('default/a'))
      .map(({ message }) => message);
  const finalizersOf = (finalizers: readonly string[]) => ({
    type: 'merge' as const,
    body: { metadata: { finalizers } },
  });

  /** Runs the controller while a finalizer of another program holds the deleted object. */
  async function runBeside(): Promise<DeclarativeController> {
    scene = await ControllerScene.start();
    await scene.put(configMap('a', { x: 'theirs' }, { finalizers: [finalizer] }));
    await scene.delete(configMap('a'));
    await scene.put(view('Wanted', 'a', { data: { x: '1' } }));
    const controller = scene.controller(wanted);
    await controller.start();
    await scene.base.run(scene.manager);
    await scene.eventually(() => expect(scene.ready(controller)).to.equal('Unknown Waiting'));
    return controller;
  }

  it('causes no error, and is created again as soon as its deletion has ended', async () => {
    const controller = await runBeside();
    const [condition] = controller.status().conditions;
    expect(condition?.message).to.contain('ConfigMap default/a is being deleted');
    expect(condition?.message).to.contain(finalizer);
    await scene.base.clock.advance(300_000);
    expect(logged('info')).to.have.length(1);
    expect([...logged('warn'), ...logged('error'), ...scene.errors]).to.deep.equal([]);
    const failed = scene.base.lines.filter(({ message }) => message.includes('reconcile failed'));
    expect(failed).to.deep.equal([]);
    await scene.client.patch(ConfigMaps, key, finalizersOf([]));
    await scene.eventually(async () => {
      expect((await scene.get(ConfigMaps, key))?.['data']).to.deep.equal({ x: '1' });
    });
    await scene.settled();
    expect(scene.ready(controller)).to.equal('True Ready');
  });

  it('is not created again if its document is removed meanwhile', async () => {
    const controller = await runBeside();
    await scene.delete(view('Wanted', 'a'));
    await scene.eventually(() => expect(scene.ready(controller)).to.equal('True Ready'));
    await scene.client.patch(ConfigMaps, key, finalizersOf([]));
    await scene.base.clock.advance(300_000);
    await scene.settled();
    expect(await scene.get(ConfigMaps, key)).to.equal(undefined);
    expect(scene.errors).to.deep.equal([]);
  });
});
