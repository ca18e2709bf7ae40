import { expect } from 'chai';
import { ControllerScene, sameName, view, views } from './controller-scene.js';

/** Keeps counting: each of two feeds the other. */
const counter = (from: string, to: string) => ({
  name: `${from}-to-${to}`.toLowerCase(),
  sources: [{ kind: from }],
  pipeline: { '@project': { metadata: sameName, spec: { n: { '@add': ['$.spec.n', 1] } } } },
  target: { kind: to },
});

/** Has all walls in its colour, and looks every two seconds whether they are. */
const painter = (colour: string) => ({
  name: colour,
  sources: [
    { kind: 'Wish' },
    { apiGroup: 'source.dcontroller.io', kind: 'Periodic', parameters: { period: '2s' } },
  ],
  pipeline: { '@project': { metadata: sameName, colour } },
  target: { kind: 'Wall' },
});

describe('hot loops of declarative controllers', () => {
  let scene: ControllerScene;
  afterEach(async () => scene.end());

  it('a circle that never settles is found, slowed down, and named with both controllers', async () => {
    scene = await ControllerScene.start();
    await scene.run(counter('Ping', 'Pong'), counter('Pong', 'Ping'));
    await scene.put(view('Ping', 'a', { spec: { n: 0 } }));
    await scene.eventually(() => expect(scene.errors.length).to.be.at.least(1));
    const [found] = scene.errors;
    expect(found?.error).to.have.property('code', 'HotLoop');
    expect(found).to.include({ stage: 'target', subject: 'default/a' });
    expect(found?.message).to.contain('keeps writing').and.contain('spec.n');
    expect(found?.message).to.contain('op/ping-to-pong').and.contain('op/pong-to-ping');
    const Ping = { apiVersion: views, kind: 'Ping' };
    const before = await scene.all(Ping);
    await scene.base.clock.advance(1_000);
    const after = await scene.all(Ping);
    const count = (all: typeof after): number => (all['a']?.['spec'] as { n: number }).n;
    expect(count(after) - count(before)).to.be.below(10);
  });

  it('two controllers that write one object in turn are named with each other', async () => {
    scene = await ControllerScene.start();
    await scene.put(view('Wish', 'a'));
    await scene.run(painter('red'), painter('blue'));
    await scene.eventually(() => expect(scene.errors.length).to.be.at.least(2), 2_000);
    for (const { error, message } of scene.errors) {
      expect(error).to.have.property('code', 'HotLoop');
      expect(message).to.contain('keeps writing Wall default/a').and.contain('changing colour');
      expect(message).to.contain('op/red').and.contain('op/blue');
    }
    expect(scene.errors.map(({ controller }) => controller)).to.have.members(['red', 'blue']);
  });

  it('one that is alone is none', async () => {
    scene = await ControllerScene.start();
    await scene.put(view('Wish', 'a'));
    await scene.run(painter('red'));
    for (let n = 0; n < 60; n++) await scene.base.clock.advance(2_000);
    expect(scene.errors).to.deep.equal([]);
  });
});
