import { expect } from 'chai';
import type { Trigger } from '../../../lib/controller/index.js';
import { RecentReconciles, overviewOf } from '../../../lib/manager/inspector/overview-of.js';
import type { OverviewSources } from '../../../lib/manager/inspector/overview-of.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const at = '2026-01-01T00:00:00.000Z';
const startMs = Date.parse(at);
const list = (...items: readonly unknown[]) => ({ items, more: 0 });

/** A controller without keys. */
const idle = {
  ...{ name: 'one', kind: 'Pod', phase: 'leader', isActive: true, depth: 0, delayed: 0 },
  ...{ longestWaiting: [], nextDelayed: [], active: [], held: [], clusters: [], hotLoops: [] },
  lastErrors: [],
};

const status = (facts: object): object => ({
  ...{ phase: 'running', isLeading: true, leader: 'me', controllers: [], runnables: [] },
  ...{ clusters: [], shards: undefined },
  ...facts,
});

/** Returns the overview of a manager with the given status and entries. */
const overview = (facts: object, more: object = {}) =>
  overviewOf({
    status: () => status(facts),
    ...{ clusters: new Map(), entries: [], recent: () => [], isElected: false },
    clock: new VirtualClock(startMs),
    ...more,
  } as unknown as OverviewSources);

const controller = (name: string, kind: string) => ({
  type: 'controller',
  controller: { name, type: { apiVersion: 'a.b/v1', kind } },
});
const object = (name: string, more: object = {}) => ({
  ...{ cluster: '', apiVersion: 'a.b/v1', kind: 'Thing', namespace: 'ns', name },
  ...more,
});
const keyOf = (name: string) => ({
  ...{ controller: 'things', cluster: '', key: `ns/${name}`, object: object(name) },
});
const entries = [controller('things', 'Thing')];
const things = { ...idle, name: 'things', kind: 'Thing' };

describe('overviewOf, the data of the inspector about a manager', () => {
  it('contains the status of the manager', () => {
    const shards = {
      ...{ phase: 'member', member: 'm', leader: 'l', members: ['l', 'm'], epoch: 3 },
      ...{ share: 0.5, ranges: [[0, 1]] },
    };
    const runnables = [{ name: 'r', phase: 'leader', state: 'ready' }];
    const clusters = [
      { name: 'b', caches: [] },
      { name: 'a', caches: [] },
    ];
    const shown = overview({ clusters, runnables, shards }, { isElected: true });
    expect(shown).to.deep.equal({
      ...{ at, phase: 'running', isElected: true, isLeading: true, leader: 'me' },
      ...{ clusters: list('b', 'a'), controllers: list(), active: list(), held: list() },
      ...{ queued: list(), failures: list(), hotLoops: list(), recent: list(), caches: list() },
      ...{ quarantined: list(), troubledSources: list(), webhooks: list() },
      runnables: list(...runnables),
      shards: {
        ...{ phase: 'member', member: 'm', leader: 'l', members: list('l', 'm'), epoch: 3 },
        share: 0.5,
      },
    });
  });

  it('counts the keys of each controller, and shows its kind', () => {
    const busy = {
      ...{ ...things, phase: 'shards', isActive: false, depth: 4, delayed: 5 },
      active: [
        { cluster: '', key: 'ns/a', reconcileID: '1', lastedMs: 1, heldMs: 0, triggers: [] },
        {
          ...{ cluster: '', key: 'ns/b', reconcileID: '2', lastedMs: 3, heldMs: 2, triggers: [] },
          isTimedOut: true,
        },
      ],
      held: [{}],
      longestWaiting: [{ cluster: '', key: 'ns/c', priority: 1, waitedMs: 9 }],
      nextDelayed: [{ cluster: '', key: 'ns/d', priority: 0, inMs: 8 }],
    };
    const shown = overview({ controllers: [busy, idle] }, { entries });
    expect(shown.controllers).to.deep.equal(
      list(
        {
          ...{ name: 'things', apiVersion: 'a.b/v1', kind: 'Thing', phase: 'shards' },
          ...{ isActive: false, waiting: 4, delayed: 5, active: 2, held: 1, hotLoops: 0 },
          ...{ failing: 0, troubledSources: 0 },
        },
        {
          ...{ name: 'one', apiVersion: '', kind: 'Pod', phase: 'leader', isActive: true },
          ...{ waiting: 0, delayed: 0, active: 0, held: 0, hotLoops: 0, failing: 0 },
          troubledSources: 0,
        },
      ),
    );
    const [a, b] = [
      { ...keyOf('a'), reconcileID: '1', lastedMs: 1, heldMs: 0, causes: [] },
      { ...keyOf('b'), reconcileID: '2', lastedMs: 3, heldMs: 2, causes: [] },
    ];
    expect([shown.active, shown.held]).to.deep.equal([list(a, b), list(b)]);
    expect(shown.queued).to.deep.equal({
      items: [
        { ...keyOf('c'), priority: 1, waits: 'worker', ms: 9 },
        { ...keyOf('d'), priority: 0, waits: 'time', ms: 8 },
      ],
      more: 7,
    });
  });

  it('lists the failures of all controllers, the latest first, and the objects that are reconciled in a fast loop', () => {
    const failed = (name: string, afterMs: number) => ({
      ...{ cluster: '', key: `ns/${name}`, outcome: 'error', message: `no ${name}` },
      ...{ failures: 2, atMs: startMs + afterMs },
    });
    const letters = 'abcdefghijkl'.split('');
    const loop = {
      ...{ cluster: 'c1', key: 'ns/h', writesPerMinute: 30, delayMs: 40 },
      ...{ object: object('w'), paths: letters, managers: letters.slice(0, 10) },
    };
    const controllers = [
      { ...things, lastErrors: [failed('old', 0)], hotLoops: [loop] },
      { ...idle, lastErrors: [failed('new', 1_000)] },
    ];
    const shown = overview({ controllers }, { entries });
    const facts = { outcome: 'error', failures: 2 };
    expect(shown.failures).to.deep.equal(
      list(
        {
          ...{ ...keyOf('new'), controller: 'one', ...facts, message: 'no new' },
          object: object('new', { apiVersion: '', kind: 'Pod' }),
          at: '2026-01-01T00:00:01.000Z',
        },
        { ...keyOf('old'), ...facts, message: 'no old', at },
      ),
    );
    expect(shown.hotLoops).to.deep.equal(
      list({
        ...{ ...keyOf('h'), cluster: 'c1', object: object('h', { cluster: 'c1' }) },
        written: object('w', { cluster: 'c1' }),
        ...{ writesPerMinute: 30, delayMs: 40 },
        paths: { items: letters.slice(0, 10), more: 2 },
        managers: { items: letters.slice(0, 10), more: 0 },
      }),
    );
    expect(
      shown.controllers.items.map(({ failing, hotLoops }) => [failing, hotLoops]),
    ).to.deep.equal([
      [1, 1],
      [1, 0],
    ]);
  });

  it('describes each cause of a reconcile', () => {
    const event = { type: 'event', cluster: 'c1', object: object('x', { cluster: undefined }) };
    const fields = ['a', 'b', 'c', 'd', 'e', 'f'];
    const updated = { ...event, event: 'updated', isInInitialList: false };
    const cases: readonly (readonly [object, string])[] = [
      [
        { ...event, event: 'added', isInInitialList: true, changedFields: [] },
        'added (existed at the start)',
      ],
      [{ ...event, event: 'deleted', isInInitialList: false, changedFields: [] }, 'deleted'],
      [{ ...updated, changedFields: fields.slice(0, 5) }, 'updated: a, b, c, d, e'],
      [{ ...updated, changedFields: fields }, 'updated: a, b, c, d, e and 1 more'],
      [{ type: 'source', source: 'timer' }, 'source timer'],
      [{ type: 'acquired' }, 'the key came from another replica'],
      [{ type: 'requeue', afterMs: 61_000 }, 'requested after 1 min 1 s'],
      [{ type: 'retry', failures: 3 }, 'retry after failure 3 in a row'],
    ];
    for (const [trigger, text] of cases) {
      const { recent } = overview({}, { recent: () => [reconciled([trigger as Trigger])] });
      const { type } = trigger as Trigger;
      expect(recent.items[0]?.causes).to.deep.equal([
        { type, text, ...(type === 'event' && { object: object('x', { cluster: 'c1' }) }) },
      ]);
    }
  });

  const reconciled = (triggers: readonly Trigger[], more = 0, error?: unknown) => ({
    event: {
      ...{ type: 'reconciled', controller: 'things', cluster: '', key: 'ns/a', reconcileID: '1' },
      ...{ outcome: 'error', durationMs: 4, againInMs: 5, causes: { triggers, more }, error },
    },
    atMs: startMs,
  });
  const source = (n: number): Trigger => ({ type: 'source', source: `s${n}` });

  for (const [count, more, rest] of [
    [5, 0, undefined],
    [6, 0, 'and 1 more'],
    [5, 2, 'and 2 more'],
    [7, 3, 'and 5 more'],
  ] as const) {
    it(`shows five of ${count} causes, and counts the rest together with ${more} that the queue did not keep`, () => {
      const triggers = Array.from({ length: count }, (_, n) => source(n));
      const recent = () => [reconciled(triggers, more, new Error('no beans'))];
      const five = [0, 1, 2, 3, 4].map((n) => ({ type: 'source', text: `source s${n}` }));
      expect(overview({ controllers: [things] }, { recent, entries }).recent).to.deep.equal(
        list({
          ...{ ...keyOf('a'), reconcileID: '1', at, outcome: 'error', durationMs: 4 },
          ...{ againInMs: 5, error: 'no beans' },
          causes: rest === undefined ? five : [...five, { type: 'more', text: rest }],
        }),
      );
    });
  }

  it('lists each source of a controller that is not synced, is parked or has a problem', () => {
    const fine = { source: 'fine', synced: true, parked: false, problem: undefined };
    const sources = [
      fine,
      { ...fine, source: 'slow', synced: false },
      { ...fine, source: 'parked', parked: true },
      { ...fine, source: 'bad', problem: new Error('no') },
    ];
    const controllers = [{ ...things, clusters: [{ cluster: 'c1', sources }] }];
    const shown = overview({ controllers });
    const where = { controller: 'things', cluster: 'c1' };
    expect(shown.troubledSources).to.deep.equal(
      list(
        { ...where, source: 'slow', synced: false, parked: false, problem: undefined },
        { ...where, source: 'parked', synced: true, parked: true, problem: undefined },
        { ...where, source: 'bad', synced: true, parked: false, problem: 'no' },
      ),
    );
    expect(shown.controllers.items[0]?.troubledSources).to.equal(3);
  });

  it('lists caches whose kind is missing, with what to do, and the quarantined objects', () => {
    const missing = { type: 'kind', apiVersion: 'a.b/v1', kind: 'Thing' } as const;
    const bad = { apiVersion: 'a.b/v1', kind: 'Thing', name: 'q', reason: 'no spec' };
    const cache = {
      ...{ apiVersion: 'a.b/v1', kind: 'Thing', metadataOnly: false, objects: 0 },
      ...{ synced: false, parked: true },
    };
    const caches = [
      { ...cache, problem: new Error('404'), missing, quarantined: [bad] },
      { ...cache, problem: undefined, missing: undefined, quarantined: [] },
    ];
    const shown = overview({ clusters: [{ name: 'c1', caches }] });
    const facts = { cluster: '', ...cache, bytes: 0 };
    const remedy =
      'the server does not serve Thing of a.b/v1: install its CustomResourceDefinition';
    expect(shown.caches).to.deep.equal(
      list(
        { ...facts, missing, problem: '404', remedy },
        { ...facts, missing: undefined, problem: undefined, remedy: undefined },
      ),
    );
    expect(shown.quarantined.items).to.deep.equal([{ ...bad, cluster: 'c1' }]);
  });

  it('lists the webhooks of all runnables that serve webhooks', () => {
    const webhooks = [{ type: 'mutating', name: 'm', path: '/m', other: 1 }];
    const runnables = [
      { phase: 'webhook', webhooks, port: 8443 },
      { phase: 'leader', webhooks, port: 8443 },
      { phase: 'webhook', webhooks },
      { phase: 'webhook', port: 8443 },
    ];
    const served = runnables.map((runnable) => ({ type: 'runnable', runnable }));
    expect(overview({}, { entries: [...served, ...entries] }).webhooks).to.deep.equal(
      list({ type: 'mutating', name: 'm', path: '/m', port: 8443 }),
    );
  });
});

describe('The reconciles that an inspector remembers', () => {
  it('are the last 50, latest first, while the listener of the manager receives every reconcile', async () => {
    const clock = new VirtualClock(startMs);
    const recent = new RecentReconciles(clock);
    const told: unknown[] = [];
    const onEvent = (event: unknown): void => void told.push(event);
    const { onEvent: note } = recent.noting({ inspector: {}, onEvent });
    note({ type: 'hotLoop' });
    for (let n = 0; n < 52; n++) {
      await clock.advance(1);
      note({ type: 'reconciled', key: `${n}` });
    }
    expect(told).to.have.length(53);
    const kept = recent.all().map(({ event, atMs }) => [event.key, atMs - startMs]);
    expect(kept).to.deep.equal(Array.from({ length: 50 }, (_, n) => [`${51 - n}`, 52 - n]));
  });

  it('are not recorded without an inspector', () => {
    const options = { inspector: undefined, onEvent: undefined };
    expect(new RecentReconciles(new VirtualClock()).noting(options)).to.equal(options);
  });
});
