import { expect } from 'chai';
import { ControllerScene, configMap, sameName, view, views } from './controller-scene.js';

const keyOfA = { namespace: 'default', name: 'a' };
const Copies = { apiVersion: views, kind: 'Copy' };

/** A controller that writes a view Copy for each ConfigMap that its source selects. */
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

  it('writes the result of its pipeline at the start and after changes', async () => {
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

  it('has a Ready condition with the first problem of its specification and the number of the other problems', async () => {
    scene = await ControllerScene.start();
    const path = ['controllers', 0, 'sources'];
    const problems = [
      { path, message: 'want a list' },
      { path: [], message: 'want a name' },
    ];
    for (const [given, message] of [
      [problems.slice(0, 1), 'controllers[0].sources: want a list'],
      [problems, 'controllers[0].sources: want a list (and 1 more)'],
      [problems.slice(1), 'want a name'],
    ] as const) {
      const controller = scene.controller(copies(), { problems: given });
      await controller.start();
      const [ready] = controller.status().conditions;
      expect(ready).to.deep.include({ status: 'False', reason: 'NotReady', message });
      await controller.stop();
    }
  });

  it('processes only objects that match its namespace and label selector, and deletes results when an object no longer matches', async () => {
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

  it('writes a view with any name once', async () => {
    scene = await ControllerScene.start();
    const names = ['(full reconcile)', '__proto__', 'constructor', 'web-TCP-80', 'é'];
    for (const [n, name] of names.entries()) await scene.put(configMap(`n-${n}`, { name }));
    const pipeline = [
      { '@select': { '@exists': '$.data.name' } },
      { '@project': { metadata: { name: '$.data.name' }, data: '$.data' } },
    ];
    await scene.run({ ...copies(), pipeline });
    expect(await scene.names(Copies)).to.have.members(names);
    await scene.settled();
  });

  it('joins kinds of the API server, views, and a kind with itself under an alias', async () => {
    scene = await ControllerScene.start();
    const watch = (as: string) => ({ apiGroup: '', kind: 'ConfigMap', as });
    await scene.run({
      name: 'pairs',
      sources: [watch('Left'), watch('Right'), { kind: 'Filter' }],
      pipeline: [
        {
          '@join': {
            '@and': [
              { '@eq': ['$.Left.data.pair', '$.Right.metadata.name'] },
              { '@eq': ['$.Filter.spec.of', '$.Left.metadata.name'] },
            ],
          },
        },
        {
          '@project': {
            metadata: {
              name: { '@concat': ['$.Left.metadata.name', '-', '$.Right.metadata.name'] },
              namespace: '$.Left.metadata.namespace',
            },
            values: ['$.Left.data.value', '$.Right.data.value'],
          },
        },
      ],
      target: { kind: 'Copy' },
    });
    await scene.put(configMap('a', { pair: 'b', value: '1' }));
    await scene.put(configMap('b', { pair: 'a', value: '2' }));
    await scene.settled();
    expect(await scene.names(Copies)).to.deep.equal([]);
    await scene.put(view('Filter', 'f', { spec: { of: 'a' } }));
    await scene.settled();
    expect(await scene.all(Copies))
      .to.have.nested.property('a-b.values')
      .deep.equal(['1', '2']);
    await scene.put(configMap('b', { pair: 'a', value: '3' }));
    await scene.put(view('Filter', 'g', { spec: { of: 'b' } }));
    await scene.settled();
    const all = await scene.all(Copies);
    expect([all['a-b']?.['values'], all['b-a']?.['values']]).to.deep.equal([
      ['1', '3'],
      ['3', '1'],
    ]);
    await scene.delete(view('Filter', 'f'));
    await scene.settled();
    expect(await scene.names(Copies)).to.deep.equal(['b-a']);
  });

  it('propagates a change through 25 chained controllers within 10 s', async () => {
    scene = await ControllerScene.start();
    const link = (place: number) => ({
      name: `link-${place}`,
      sources: [
        place === 0
          ? { apiGroup: '', kind: 'ConfigMap', namespace: 'default' }
          : { kind: `Link${place}` },
      ],
      pipeline: { '@project': { metadata: sameName, data: '$.data' } },
      target: { kind: `Link${place + 1}` },
    });
    await scene.run(...Array.from({ length: 25 }, (_, place) => link(place)));
    const last = { apiVersion: views, kind: 'Link25' };
    await scene.put(configMap('a', { x: '1' }));
    // The scene waits at most 10 s of real time.
    await scene.eventually(async () => {
      expect(await scene.all(last)).to.have.nested.property('a.data.x', '1');
    });
    await scene.delete(configMap('a'));
    await scene.eventually(async () => expect(await scene.names(last)).to.deep.equal([]));
  });

  it("stops writing when two controllers that read each other's results reach a limit", async () => {
    scene = await ControllerScene.start();
    const towards = (from: string, to: string) => ({
      name: `${from}-${to}`.toLowerCase(),
      sources: [{ kind: from }],
      pipeline: [
        {
          '@project': {
            metadata: sameName,
            spec: { n: { '@min': [5, { '@add': ['$.spec.n', 1] }] } },
          },
        },
      ],
      target: { kind: to },
    });
    await scene.run(towards('Ping', 'Pong'), towards('Pong', 'Ping'));
    await scene.put(view('Ping', 'a', { spec: { n: 0 } }));
    await scene.eventually(async () => {
      const pong = await scene.get({ apiVersion: views, kind: 'Pong' }, keyOfA);
      const ping = await scene.get({ apiVersion: views, kind: 'Ping' }, keyOfA);
      expect([ping?.['spec'], pong?.['spec']]).to.deep.equal([{ n: 5 }, { n: 5 }]);
    });
    await scene.settled();
    expect(scene.errors).to.deep.equal([]);
  });
});
