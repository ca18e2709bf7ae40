import { expect } from 'chai';
import type { DeclarativeController } from '../../../lib/declarative/runtime/declarative-controller.js';
import { findCondition } from '../../../lib/object/conditions.js';
import { ControllerScene, configMap, sameName, view, views } from './controller-scene.js';

const ConfigMaps = { apiVersion: 'v1', kind: 'ConfigMap' };
const Nodes = { apiVersion: views, kind: 'Node' };

/** A controller that increments a number; two of them feed each other. */
const counter = (from: string, to: string) => ({
  name: `${from}-to-${to}`.toLowerCase(),
  sources: [{ kind: from }],
  pipeline: { '@project': { metadata: sameName, spec: { n: { '@add': ['$.spec.n', 1] } } } },
  target: { kind: to },
});

/** A controller that writes a Node for each Node, under another name. */
const growing = (name: object, fields: object = {}) => ({
  ...{ name: 'growing', sources: [{ kind: 'Node' }], target: { kind: 'Node' } },
  pipeline: { '@project': { metadata: { ...sameName, name }, ...fields } },
});

const longer = { '@concat': ['$.metadata.name', 'x'] };

/** A controller that writes two Nodes for each selected Node. */
const doubling = (select: object) => ({
  ...growing({}),
  pipeline: [
    { '@select': select },
    { '@project': { metadata: sameName, text: '$.text', both: ['a', 'b'] } },
    { '@unwind': '$.both' },
    { '@project': { metadata: sameName, text: '$.text' } },
  ],
});

function codes({ errors }: ControllerScene): readonly unknown[] {
  return errors.map(({ error }) => (error as { readonly code?: unknown }).code);
}

/** A controller that copies views to ConfigMaps. */
const copies = {
  ...{ name: 'copies', sources: [{ kind: 'Wish' }] },
  pipeline: { '@project': { metadata: sameName, data: '$.data' } },
  target: { apiGroup: '', kind: 'ConfigMap' },
};

function throttled(controller: DeclarativeController | undefined): string {
  const found = findCondition(controller?.status().conditions, 'Throttled');
  return found === undefined ? 'absent' : `${found.status} ${found.reason}`;
}

describe('a loop of declarative controllers that react to their own writes', () => {
  let scene: ControllerScene;
  afterEach(async () => scene.end());

  it('is detected and throttled, and reported with the names of both controllers', async () => {
    scene = await ControllerScene.start();
    const [first] = await scene.run(counter('Ping', 'Pong'), counter('Pong', 'Ping'));
    await scene.put(view('Ping', 'a', { spec: { n: 0 } }));
    await scene.eventually(() => expect(scene.errors.length).to.be.at.least(1));
    const [found] = scene.errors;
    expect(found?.error).to.have.property('code', 'HotLoop');
    expect(found).to.include({ stage: 'target', subject: 'default/a' });
    expect(found?.message).to.contain('its own writes cause further writes').and.contain('spec.n');
    expect(found?.message).to.contain('op/ping-to-pong').and.contain('op/pong-to-ping');
    expect(scene.base.logged('warn').join()).to.contain('its own writes trigger it');
    await scene.eventually(() => expect(throttled(first)).to.equal('True Feedback'));
    const Ping = { apiVersion: views, kind: 'Ping' };
    const before = await scene.all(Ping);
    await scene.base.clock.advance(1_000);
    const after = await scene.all(Ping);
    const count = (all: typeof after): number => (all['a']?.['spec'] as { n: number }).n;
    expect(count(after) - count(before)).to.be.below(10);
  });

  it('is detected when each write creates another object, and does not affect other controllers', async () => {
    scene = await ControllerScene.start();
    const [looping, other] = await scene.run(growing(longer), copies);
    await scene.put(view('Node', 'n'));
    await scene.eventually(() => expect(throttled(looping)).to.equal('True Feedback'));
    const { length } = await scene.names(Nodes);
    expect(length).to.be.below(200);
    await scene.put(view('Wish', 'a', { data: { x: '1' } }));
    await scene.settled();
    expect(await scene.all(ConfigMaps)).to.have.nested.property('a.data.x', '1');
    expect([throttled(other), scene.ready(other!)]).to.deep.equal(['absent', 'True Ready']);
    // An object outside the chain is not throttled.
    await scene.put(view('Node', 'other'));
    await scene.settled();
    expect(await scene.names(Nodes)).to.include('otherx');
  });

  it('stops at a name of 253 characters, and is then reported as an error', async () => {
    scene = await ControllerScene.start();
    const [controller] = await scene.run(growing(longer));
    await scene.put(view('Node', 'n'.repeat(250)));
    await scene.settled();
    const lengths = (await scene.names(Nodes)).map((n) => n.length);
    expect(Math.max(...lengths)).to.equal(253);
    expect(scene.ready(controller!)).to.equal('Unknown ReconciliationFailed');
    expect(controller?.status().lastErrors.join()).to.contain('at most 253');
  });

  it('stops at a view of 1.5 MiB, and is then reported as an error', async () => {
    scene = await ControllerScene.start();
    const twice = { '@concat': ['$.text', '$.text'] };
    const [controller] = await scene.run(growing('$.metadata.name' as never, { text: twice }));
    await scene.put(view('Node', 'n', { text: 'x'.repeat(100_000) }));
    await scene.settled();
    const { n } = await scene.all(Nodes);
    expect((n?.['text'] as string).length).to.equal(800_000);
    expect(controller?.status().lastErrors.join()).to.contain('1.5 MiB');
  });

  it('is no longer reported in the condition Throttled when the loop has ended', async () => {
    scene = await ControllerScene.start();
    const [controller] = await scene.run(growing(longer));
    await scene.put(view('Node', 'n'));
    await scene.eventually(() => expect(throttled(controller)).to.equal('True Feedback'));
    for (const name of await scene.names(Nodes)) {
      await scene.delete(view('Node', name)).catch(() => undefined);
    }
    await scene.eventually(
      () => expect(throttled(controller)).to.equal('False NotThrottled'),
      60_000,
    );
  });

  it('is also detected when another client reverts each write of a controller', async () => {
    scene = await ControllerScene.start();
    const [controller] = await scene.run(copies);
    await scene.put(view('Wish', 'a', { data: { x: '1' } }));
    await scene.settled();
    for (let n = 0; n < 80; n++) {
      await scene.client.apply(configMap('a', { x: 'theirs' }), {
        ...{ fieldManager: 'somebody', force: true },
      });
      await scene.settled();
    }
    await scene.eventually(() => expect(throttled(controller)).to.equal('True Feedback'));
    expect(scene.errors.at(-1)?.message).to.contain('somebody').and.contain('ConfigMap default/a');
  });

  it('is also throttled if one of its controllers has a Periodic source', async () => {
    scene = await ControllerScene.start();
    const periodic = { apiGroup: 'source.dcontroller.io', kind: 'Periodic', type: 'Periodic' };
    const rounds = { ...periodic, parameters: { period: '2s' } };
    const ping = counter('Ping', 'Pong');
    const joined = {
      ...{ ...ping, sources: [...ping.sources, rounds] },
      pipeline: [
        { '@join': true },
        { '@project': { metadata: { name: 'a', namespace: 'default' }, n: '$.Ping.n' } },
        { '@project': { metadata: sameName, n: { '@add': ['$.n', 1] } } },
      ],
    };
    const [first] = await scene.run(joined, {
      ...counter('Pong', 'Ping'),
      pipeline: { '@project': { metadata: sameName, n: { '@add': ['$.n', 1] } } },
    });
    await scene.put(view('Ping', 'a', { n: 0 }));
    await scene.eventually(() => expect(throttled(first)).to.equal('True Feedback'));
    const n = async (): Promise<number> =>
      (await scene.all({ apiVersion: views, kind: 'Ping' }))['a']?.['n'] as number;
    const before = await n();
    for (let round = 0; round < 30; round++) await scene.base.clock.advance(2_000);
    expect((await n()) - before).to.be.below(20);
  });

  it('stops at a limit of objects, does not affect other controllers, and ends when its cause is corrected', async () => {
    scene = await ControllerScene.start();
    const [other] = await scene.run(copies);
    const growth = { objects: 20, bytes: 1024 ** 2 };
    const runaway = scene.controller(doubling({ '@exists': '$.text' }), { growth });
    await runaway.start();
    await scene.put(view('Node', 'n', { text: 'x', first: true }));
    await scene.eventually(() => expect(codes(scene)).to.include('GrowthLimit'));
    await scene.settled();
    const grown = await scene.names(Nodes);
    // 15 objects are written before the growth limit counts them, and 20 more until the controller reaches the limit.
    expect(grown.length).to.be.within(35, 40);
    expect(scene.errors.at(-1)?.message).to.match(/^op\/growing: .*20 objects or 1 MiB/);
    await scene.put(view('Wish', 'a', { data: { x: '1' } }));
    await scene.settled();
    expect(await scene.all(ConfigMaps)).to.have.nested.property('a.data.x', '1');
    const states = [scene.ready(runaway), scene.ready(other!)];
    expect(states).to.deep.equal(['Unknown ReconciliationFailed', 'True Ready']);
    await runaway.stop();
    const mended = scene.controller(doubling({ '@exists': '$.first' }));
    await mended.start();
    await scene.during(mended.whenSynced());
    await scene.settled();
    expect(await scene.names(Nodes)).to.deep.equal(['n', 'n-0', 'n-1']);
    expect(scene.ready(mended)).to.equal('True Ready');
  });

  it('stops at a limit of bytes, and continues when the objects have become smaller', async () => {
    scene = await ControllerScene.start();
    await scene.run(copies);
    const growth = { objects: 10_000, bytes: 10_000 };
    const runaway = scene.controller(doubling({ '@exists': '$.text' }), { growth });
    await runaway.start();
    await scene.put(view('Node', 'n', { text: 'x'.repeat(1_000) }));
    await scene.eventually(() => expect(codes(scene)).to.include('GrowthLimit'));
    await scene.settled();
    expect((await scene.names(Nodes)).length).to.be.within(15, 30);
    await scene.put(view('Node', 'n', { text: 'x'.repeat(100) }));
    await scene.eventually(async () => {
      expect((await scene.names(Nodes)).length).to.be.above(35);
    }, 1_000);
  });

  it('is not reported for many simultaneous changes of one group of documents', async () => {
    scene = await ControllerScene.start();
    const [gathering, copying] = await scene.run(
      {
        ...{ name: 'gathering', sources: [{ apiGroup: '', kind: 'ConfigMap' }] },
        pipeline: [
          { '@select': { '@eq': ['$.data.group', 'g'] } },
          { '@project': { metadata: { name: 'all', namespace: 'default' }, data: '$.data' } },
          { '@gather': ['$.data.group', '$.data.n'] },
        ],
        target: { kind: 'Wish' },
      },
      {
        ...copies,
        pipeline: [
          { '@project': { metadata: sameName, data: { seen: { '@concat': '$.data.n' } } } },
        ],
      },
    );
    const names = ['a', 'b', 'c'];
    for (let n = 0; n < 150; n++) {
      // Earlier states return repeatedly, like the readiness of pods.
      await scene.put(configMap(names[n % 3] ?? '', { group: 'g', n: `${n % 5}` }));
      await scene.settled();
    }
    const { all } = await scene.all({ apiVersion: views, kind: 'Wish' });
    expect((all?.['data'] as { n: unknown }).n).to.deep.equal(['2', '3', '4']);
    expect(await scene.all(ConfigMaps)).to.have.nested.property('all.data.seen', '234');
    expect([throttled(gathering), throttled(copying)]).to.deep.equal(['absent', 'absent']);
    expect(scene.errors).to.deep.equal([]);
  });

  it('is not reported for the rounds of a Periodic source', async () => {
    scene = await ControllerScene.start();
    await scene.put(view('Wish', 'a', { data: { x: '1' } }));
    const period = { apiGroup: 'source.dcontroller.io', kind: 'Periodic' };
    const rounds = { ...period, type: 'Periodic', parameters: { period: '2s' } };
    const [controller] = await scene.run({ ...copies, sources: [{ kind: 'Wish' }, rounds] });
    for (let n = 0; n < 60; n++) await scene.base.clock.advance(2_000);
    expect(throttled(controller)).to.equal('absent');
    expect(scene.errors).to.deep.equal([]);
  });
});
