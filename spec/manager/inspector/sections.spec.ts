import { expect } from 'chai';
import { controllerFor, done, requeueAfter } from '../../../lib/controller/index.js';
import type { Overview } from '../../../lib/manager/inspector/overview.js';
import type { Manager } from '../../../lib/manager/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { ManagerSetup, aborted, configMap, watcher } from '../manager-setup.js';
import { onLoopback } from '../served.js';
import { inspected, sectionText } from './inspected.js';

/** A controller of which one key fails, one waits, and one is reconciled for long. */
const controller = controllerFor(ConfigMap).complete(async ({ key, signal }) => {
  if (key.name === 'bad') throw new Error('out of beans');
  if (key.name === 'slow') await aborted(signal);
  return key.name === 'late' ? requeueAfter(60_000) : done();
});

describe('The page of the inspector', () => {
  let setup: ManagerSetup;
  let manager: Manager;

  beforeEach(async () => {
    setup = await ManagerSetup.start();
    manager = setup.manager({ inspector: onLoopback });
  });
  afterEach(() => setup.end());

  async function started(): Promise<void> {
    await setup.run(manager);
    await manager.whenStarted();
    await setup.clock.advance(0);
  }

  /** Starts a manager with a controller and its objects. */
  async function busy(names: readonly string[] = ['bad', 'late', 'slow']): Promise<void> {
    manager.add(controller);
    await started();
    for (const name of names) {
      await setup.person.create(configMap(name));
      await setup.clock.advance(0);
    }
  }

  const sections = async (): Promise<Record<string, string>> => {
    const { text } = await inspected(manager, '/');
    const ids = [...text.matchAll(/<h2 id="(\S+)-title">/g)].map(([, id = '']) => id);
    return Object.fromEntries(ids.map((id) => [id, sectionText(text, id)]));
  };

  it('has a section for each part of an idle manager', async () => {
    await started();
    const { runnables, choose, ...others } = await sections();
    expect(others).to.deep.equal({
      process:
        'This process Manager running Leadership leads: there is no leader election ' +
        'Leader this process Clusters one As of 00:00:00 UTC',
      controllers: 'Controllers No controller was started yet.',
      active: 'Reconciled now No reconcile is running.',
      held: 'Held keys No key is held.',
      queues: 'Queues Nothing waits.',
      recent: 'Recent reconciles Nothing has been reconciled yet.',
      failures: 'Last errors No key fails.',
      'hot-loops': 'Hot loops There is no hot loop.',
      caches: 'Caches Nothing is cached.',
      quarantine: 'Quarantine All objects could be read.',
      sources: 'Sources in trouble All sources are synced.',
      webhooks: 'Webhooks There are no webhooks.',
      shards: 'Shards Keys are not spread over replicas.',
    });
    expect(runnables).to.match(/Name Phase State Address inspector server ready http:\S+$/);
    expect(choose).to.match(/API version Kind Namespace Name Show ownership$/);
  });

  it('shows keys that run, wait or fail in tables', async () => {
    await busy();
    const { controllers, active, queues, failures, recent, caches } = await sections();
    expect({ controllers, queues, failures }).to.deep.equal({
      controllers:
        'Controllers Controllers and the number of keys of each Controller Kind Runs on State ' +
        'Running Waiting Delayed Held Failing Hot loops Sources in trouble ' +
        'configmap ConfigMap (v1) the leader reconciles 1 0 2 0 1 0 0',
      queues:
        'Queues Waiting keys: of each controller, those with the longest wait and the next due ' +
        'Key Controller Waits for How long Priority ' +
        'default/bad configmap its time 5 ms to go 0 ' +
        'default/late configmap its time 1 min 0 s to go 0',
      failures:
        'Last errors Keys that have failed and not succeeded since, latest first ' +
        'Key Controller Error Outcome In a row At ' +
        'default/bad configmap out of beans error 1 00:00:00',
    });
    expect(active).to.match(/Key Controller For Why Reconcile ID default\/slow configmap 0 ms/);
    expect(recent).to.equal(
      'Recent reconciles Ended reconciles, latest first ' +
        'Key Controller Ended Outcome Took Again in Why ' +
        'default/late configmap 00:00:00 requeueAfter 0 ms 1 min 0 s ConfigMap default/late added ' +
        'default/bad configmap 00:00:00 error out of beans 0 ms 5 ms ConfigMap default/bad added',
    );
    expect(caches).to.match(
      /Kind API version Objects Memory, about Holds State Problem ConfigMap v1 3 \d kB objects synced$/,
    );
  });

  it('highlights only the numbers of keys that fail or are held too long', async () => {
    await busy();
    const { text } = await inspected(manager, '/');
    const [, section = ''] = text.split('<h2 id="controllers-title">');
    const [row = ''] = /<tbody>[^]*?<\/tr>/.exec(section) ?? [];
    const cells = [...row.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell = '']) => cell);
    const failing = '<strong class="bad">1</strong>';
    expect(cells.slice(-7)).to.deep.equal(['1', '0', '2', '0', failing, '0', '0']);
  });

  it('serves the data of its tables as JSON', async () => {
    await busy();
    const { text } = await inspected(manager, '/status.json');
    const overview = JSON.parse(text) as Overview;
    const at = '2026-01-01T00:00:00.000Z';
    const list = (...items: readonly unknown[]) => ({ items, more: 0 });
    const type = { apiVersion: 'v1', kind: 'ConfigMap' };
    const keyOf = (name: string) => ({
      ...{ controller: 'configmap', cluster: '', key: `default/${name}` },
      object: { cluster: '', ...type, namespace: 'default', name },
    });
    const added = (name: string) => {
      const object = { ...keyOf(name).object, uid: undefined };
      return { causes: [{ type: 'event', text: 'added', object }] };
    };
    // The ids are random, and undefined fields are absent from JSON.
    const random = new Set(['reconcileID', 'uid', 'bytes', 'url']);
    const plain = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value, (name, each: unknown) => (random.has(name) ? undefined : each)),
      );
    expect(plain(overview)).to.deep.equal(
      plain({
        ...{ at, phase: 'running', isElected: false, isLeading: true, clusters: list('') },
        controllers: list({
          ...{ name: 'configmap', ...type, phase: 'leader', isActive: true, waiting: 0 },
          ...{ delayed: 2, active: 1, held: 0, hotLoops: 0, failing: 1, troubledSources: 0 },
        }),
        active: list({ ...keyOf('slow'), lastedMs: 0, heldMs: 0, ...added('slow') }),
        held: list(),
        queued: list(
          { ...keyOf('bad'), priority: 0, waits: 'time', ms: 5 },
          { ...keyOf('late'), priority: 0, waits: 'time', ms: 60_000 },
        ),
        failures: list({
          ...{ ...keyOf('bad'), outcome: 'error', message: 'out of beans', failures: 1, at },
        }),
        hotLoops: list(),
        recent: list(
          {
            ...{ ...keyOf('late'), at, outcome: 'requeueAfter', durationMs: 0 },
            ...{ againInMs: 60_000, ...added('late') },
          },
          {
            ...{ ...keyOf('bad'), at, outcome: 'error', durationMs: 0 },
            ...{ againInMs: 5, ...added('bad'), error: 'out of beans' },
          },
        ),
        caches: list({
          ...{ cluster: '', ...type, metadataOnly: false, objects: 3, synced: true, parked: false },
        }),
        ...{ quarantined: list(), troubledSources: list(), webhooks: list() },
        runnables: list({ name: 'inspector', phase: 'server', state: 'ready' }),
      }),
    );
    expect(overview.caches.items[0]?.bytes).to.be.above(100);
  });

  it('shows retries and requested requeues as causes of a reconcile', async () => {
    await busy(['bad', 'late']);
    const latestOf = async (key: string) => {
      const { text } = await inspected(manager, '/status.json');
      const { recent } = JSON.parse(text) as Overview;
      return recent.items.find((each) => each.key === key)?.causes;
    };
    await setup.clock.advance(5);
    expect(await latestOf('default/bad')).to.deep.equal([
      { type: 'retry', text: 'retry after failure 1 in a row' },
    ]);
    await setup.clock.advance(60_000);
    expect(await latestOf('default/late')).to.deep.equal([
      { type: 'requeue', text: 'requested after 1 min 0 s' },
    ]);
  });

  it('keeps the last 50 reconciles', async () => {
    manager.add(watcher([]));
    for (let n = 0; n < 52; n++) await setup.create(`item-${n}`);
    await started();
    const { text } = await inspected(manager, '/status.json');
    const { recent } = JSON.parse(text) as Overview;
    expect([recent.items.length, recent.more]).to.deep.equal([50, 0]);
  });
});
