import { expect } from 'chai';
import { shownDuration, shownError } from '../../../lib/manager/inspector/html.js';
import type { ObjectTree, ObjectView } from '../../../lib/manager/inspector/object-tree.js';
import type { Overview, ShownKey } from '../../../lib/manager/inspector/overview.js';
import { objectSections, sectionsOf } from '../../../lib/manager/inspector/sections.js';
import type { Section } from '../../../lib/manager/inspector/html.js';

const at = '2026-01-02T03:04:05.000Z';
const shown = <T>(...items: readonly T[]) => ({ items, more: 0 });

const keyOf = (controller: string, name: string): ShownKey => ({
  ...{ controller, cluster: 'home', key: `default/${name}` },
  object: {
    ...{ cluster: 'home', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name },
  },
});
const causes = [
  { type: 'event', text: 'updated: data.a', object: keyOf('', 'a').object },
  { type: 'more', text: 'and 3 more' },
] as const;

/** A state in which each table has rows. */
const full: Overview = {
  ...{ at, phase: 'running', isElected: true, isLeading: true, leader: 'host-1' },
  clusters: { items: ['home', 'away'], more: 2 },
  controllers: {
    items: [
      {
        ...{ name: 'one', apiVersion: 'v1', kind: 'ConfigMap', phase: 'leader', isActive: true },
        ...{ waiting: 1, delayed: 2, active: 3, held: 4, hotLoops: 5, failing: 6 },
        troubledSources: 7,
      },
      {
        ...{ name: 'two', apiVersion: 'v1', kind: 'Pod', phase: 'replica', isActive: false },
        ...{ waiting: 0, delayed: 0, active: 0, held: 0, hotLoops: 0, failing: 0 },
        troubledSources: 0,
      },
      {
        ...{ name: 'three', apiVersion: 'v1', kind: 'Pod', phase: 'shards', isActive: false },
        ...{ waiting: 0, delayed: 0, active: 0, held: 0, hotLoops: 0, failing: 0 },
        troubledSources: 0,
      },
    ],
    more: 1_234,
  },
  active: shown({
    ...{ ...keyOf('one', 'a'), reconcileID: 'id-1', lastedMs: 1_500, heldMs: 0, causes },
  }),
  held: shown({ ...keyOf('one', 'b'), reconcileID: 'id-2', lastedMs: 2, heldMs: 1, causes: [] }),
  queued: shown(
    { ...keyOf('one', 'c'), priority: 5, waits: 'worker', ms: 10 },
    { ...keyOf('one', 'd'), priority: -5, waits: 'time', ms: 20 },
  ),
  recent: shown(
    {
      ...{ ...keyOf('one', 'e'), reconcileID: 'id-3', at, outcome: 'error', durationMs: 7 },
      ...{ againInMs: 5, causes, error: 'out of beans' },
    },
    {
      ...{ ...keyOf('one', 'f'), reconcileID: 'id-4', at, outcome: 'success', durationMs: 8 },
      ...{ againInMs: undefined, causes: [], error: undefined },
    },
  ),
  failures: shown({
    ...{ ...keyOf('one', 'g'), outcome: 'timeout', message: 'too late', failures: 3, at },
  }),
  hotLoops: shown({
    ...{ ...keyOf('one', 'h'), written: keyOf('', 'w').object, writesPerMinute: 9, delayMs: 11 },
    paths: { items: ['data.a', 'data.b'], more: 1 },
    managers: shown('me', 'you'),
  }),
  caches: shown(
    {
      ...{ cluster: 'home', apiVersion: 'v1', kind: 'Pod', metadataOnly: true, objects: 12_345 },
      ...{ synced: true, parked: false, missing: undefined, bytes: 999_999 },
      ...{ problem: undefined, remedy: undefined },
    },
    {
      ...{ cluster: 'away', apiVersion: 'v1', kind: 'Pod', metadataOnly: false, objects: 1 },
      ...{ synced: false, parked: false, missing: undefined, bytes: 1_000_000 },
      ...{ problem: 'the server is away', remedy: undefined },
    },
    {
      ...{ cluster: 'away', apiVersion: 'a.b/v1', kind: 'C', metadataOnly: false, objects: 0 },
      ...{ synced: true, parked: true, missing: undefined, bytes: 1 },
      ...{ problem: '404', remedy: 'install it' },
    },
  ),
  quarantined: shown({
    ...{ ...keyOf('', 'q').object, namespace: 'default', resourceVersion: '77' },
    ...{ reason: 'no spec', atMs: 0 },
  } as never),
  troubledSources: shown(
    {
      ...{ controller: 'one', cluster: 'home', source: 's', synced: false, parked: false },
      problem: 'it fails',
    },
    {
      ...{ controller: 'one', cluster: 'home', source: 't', synced: false, parked: true },
      problem: undefined,
    },
  ),
  webhooks: shown(
    { type: 'validating', name: 'v.a.b', path: '/v', port: 8443 },
    { type: 'conversion', name: 'c.a.b', path: '/c', port: undefined },
  ),
  runnables: shown(
    { name: 'r', phase: 'leader', state: 'failed', url: undefined },
    { name: 's', phase: 'server', state: 'ready', url: 'http://127.0.0.1/' },
  ),
  shards: {
    ...{ phase: 'member', member: 'host-1', leader: undefined, epoch: 4, share: 0.3333 },
    members: { items: ['host-1', 'host-2'], more: 1 },
  },
};

/** Returns the text of each section: `[…](…)` is a link, `*…*` emphasized, `#…` a number on the right. */
function textsOf(sections: readonly Section[]): Record<string, string> {
  const text = (markup: string): string =>
    markup
      .replaceAll(/<a href="([^"]*)">(.*?)<\/a>/g, (_, to: string, name: string) => {
        return `[${name}](${to.replaceAll('&amp;', '&')})`;
      })
      .replaceAll(/<strong class="bad">(.*?)<\/strong>/g, '*$1*')
      .replaceAll(/<t[hd][^>]*class="number"[^>]*>/g, '#')
      .replaceAll(/<time datetime="([^"]*)" title="\1">/g, '$1=')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
  return Object.fromEntries(
    sections.map(({ id, title, body }) => [`${id}: ${title}`, text(body.text)]),
  );
}

const to = (name: string, text = `default/${name}`): string =>
  `[${text}](/object?cluster=home&apiVersion=v1&kind=ConfigMap&namespace=default&name=${name}) in home`;

describe("The inspector's page about a manager with data in every section", () => {
  it('shows every value of each table row', () => {
    const eventCauses = `${to('a', 'ConfigMap default/a')} updated: data.a and 3 more`;
    const time = `${at}=03:04:05`;
    expect(textsOf(sectionsOf(full))).to.deep.equal({
      'process: This process': `Manager running Leadership leads Leader host-1 Clusters home, away and 2 more As of ${time} UTC`,
      'controllers: Controllers':
        'Controllers and the number of keys of each Controller Kind Runs on State ' +
        '#Running #Waiting #Delayed #Held #Failing #Hot loops #Sources in trouble ' +
        'one ConfigMap (v1) the leader reconciles #3 #1 #2 #*4* #*6* #*5* #*7* ' +
        'two Pod (v1) every replica waits #0 #0 #0 #0 #0 #0 #0 ' +
        'three Pod (v1) every replica, its share of the keys waits #0 #0 #0 #0 #0 #0 #0 ' +
        'and 1,234 more',
      'active: Reconciled now': `Running reconciles and their causes Key Controller #For Why Reconcile ID ${to('a')} one #1.5 s ${eventCauses} id-1`,
      'held: Held keys': `Keys whose reconcile timed out and has not ended Key Controller #For Why Reconcile ID #Overdue for ${to('b')} one #2 ms id-2 #1 ms`,
      'queues: Queues':
        'Waiting keys: of each controller, those with the longest wait and the next due ' +
        'Key Controller Waits for #How long #Priority ' +
        `${to('c')} one a worker #for 10 ms #5 ${to('d')} one its time #20 ms to go #-5`,
      'recent: Recent reconciles':
        'Ended reconciles, latest first Key Controller Ended Outcome #Took #Again in Why ' +
        `${to('e')} one ${time} *error* out of beans #7 ms #5 ms ${eventCauses} ` +
        `${to('f')} one ${time} success #8 ms #`,
      'failures: Last errors':
        'Keys that have failed and not succeeded since, latest first ' +
        `Key Controller Error Outcome #In a row At ${to('g')} one too late timeout #3 ${time}`,
      'hot-loops: Hot loops':
        'Keys that write one object repeatedly and are slowed down Key Controller ' +
        'Keeps writing #Writes a minute Fields Field managers #Slowed down by ' +
        `${to('h')} one ${to('w', 'ConfigMap default/w')} #9 data.a, data.b and 1 more me, you #11 ms`,
      'caches: Caches':
        'Cached kinds Kind API version Cluster #Objects #Memory, about Holds State Problem ' +
        '[Pod](/objects?cluster=home&apiVersion=v1&kind=Pod) v1 home #12,345 #1000 kB metadata synced ' +
        '[Pod](/objects?cluster=away&apiVersion=v1&kind=Pod) v1 away #1 #1.0 MB objects *not synced* the server is away ' +
        '[C](/objects?cluster=away&apiVersion=a.b%2Fv1&kind=C) a.b/v1 away #0 #1 kB objects *not served* install it : 404',
      'quarantine: Quarantine': `Objects in quarantine: change or delete them Object Version Reason ${to('q', 'ConfigMap default/q')} 77 no spec`,
      'sources: Sources in trouble':
        'Sources of controllers that are not synced Source Controller Cluster State Problem ' +
        's one home *not synced* it fails t one home *not served*',
      'webhooks: Webhooks':
        'Webhooks of this process Webhook Type Path Served ' +
        'v.a.b validating /v on port 8443 c.a.b conversion /c *no*',
      'shards: Shards':
        'This replica host-1 (member) Share of all keys 33.3 % Assigned by not known ' +
        'Replicas host-1, host-2 and 1 more Epoch 4',
      'runnables: Servers and other runnables':
        'Runnables Name Phase State Address r leader *failed* s server ready http://127.0.0.1/',
    });
  });

  const leaderships: readonly (readonly [Partial<Overview>, string, string])[] = [
    [{ isLeading: true, isElected: true, leader: 'me' }, 'leads', 'me'],
    [{ isLeading: true, isElected: false }, 'leads: there is no leader election', 'this process'],
    [{ isLeading: false, isElected: true, leader: 'other' }, 'stands by', 'other'],
    [{ isLeading: false, isElected: true }, 'stands by', 'not known'],
    [{ isLeading: false, isElected: true, phase: 'stopping' }, 'does not lead', 'not known'],
    [{ isLeading: false, isElected: false }, 'does not lead', 'this process'],
  ];
  for (const [facts, leadership, leader] of leaderships) {
    it(`shows that the process ${leadership}, for ${JSON.stringify(facts)}`, () => {
      const clusters = shown('');
      const overview = { ...full, leader: undefined, ...facts, clusters };
      expect(textsOf(sectionsOf(overview))['process: This process']).to.match(
        new RegExp(`Leadership ${leadership} Leader ${leader} Clusters one As of`),
      );
    });
  }
});

describe("The inspector's page about an object with owners, dependents and conditions", () => {
  const view = (name: string, more: Partial<ObjectView> = {}): ObjectView => ({
    object: { cluster: '', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name },
    ...{ from: 'cache', problem: undefined, isBeingDeleted: false, conditions: shown() },
    ...more,
  });
  const link = (name: string): string =>
    `[ConfigMap default/${name}](/object?apiVersion=v1&kind=ConfigMap&namespace=default&name=${name})`;

  it('shows the object, its conditions, its owners and its dependents', () => {
    const ready = { type: 'Ready', status: 'True', reason: 'Done', message: 'all of it' };
    const conditions = { items: [ready, { ...ready, type: 'Idle' }], more: 3 };
    const tree: ObjectTree = {
      view: {
        ...view('a', { from: 'server', isBeingDeleted: true, conditions }),
        object: { cluster: 'home', apiVersion: 'a.b/v1', kind: 'C', name: 'a', uid: 'u-1' },
      },
      owners: [
        {
          view: view('b', { from: 'server', isBeingDeleted: true, conditions }),
          children: [{ view: view('c'), children: [], more: 0 }],
          more: 0,
        },
        {
          view: view('d', { from: 'unreadable', problem: 'no permission', conditions }),
          ...{ children: [], more: 0 },
        },
      ],
      dependents: [
        { view: view('e'), children: [{ view: view('f'), children: [], more: 0 }], more: 6 },
      ],
      ...{ moreDependents: 1_000, searchedKinds: ['ConfigMap', 'Secret'] },
    };
    expect(textsOf(objectSections(tree))).to.deep.equal({
      'object: Object':
        'Kind C (a.b/v1) Namespace none Name a UID u-1 Read from the server: it is not cached ' +
        'Cluster home Deletion is being deleted',
      'conditions: Status conditions':
        'Conditions of its status Type Status Reason Message ' +
        'Ready True Done all of it Idle True Done all of it and 3 more',
      'owners: Owned by':
        `${link('b')} read from the server, is being deleted, Ready: True, Idle: True ` +
        `${link('c')} ConfigMap default/d no permission`,
      'dependents: Controls':
        `${link('e')} ${link('f')} and 6 more and 1,000 more ` +
        'Looked for among the cached kinds: ConfigMap, Secret.',
    });
  });

  const places = {
    cache: 'the cache',
    server: 'the server: it is not cached',
    gone: 'nowhere: the object does not exist',
    unreadable: 'nowhere: it could not be read',
  };
  for (const [from, place] of Object.entries(places)) {
    it(`shows that the object was read from ${place}, and that it has neither owners nor dependents`, () => {
      const problem = 'for a reason';
      const tree: ObjectTree = {
        view: view('a', { from: from as ObjectView['from'], problem }),
        ...{ owners: [], dependents: [], moreDependents: 0, searchedKinds: [] },
      };
      expect(textsOf(objectSections(tree))).to.deep.equal({
        'object: Object': `Kind ConfigMap (v1) Namespace default Name a UID not known Read from ${place} for a reason`,
        'conditions: Status conditions': 'It has no conditions.',
        'owners: Owned by': 'It has no owner.',
        'dependents: Controls': 'Nothing that is cached. Looked for among the cached kinds: none.',
      });
    });
  }
});

describe('Values on a page of the inspector', () => {
  for (const [ms, text] of [
    [0.4, '0 ms'],
    [999, '999 ms'],
    [1_000, '1.0 s'],
    [59_940, '59.9 s'],
    [60_000, '1 min 0 s'],
    [119_999, '1 min 59 s'],
    [3_599_999, '59 min 59 s'],
    [3_600_000, '1 h 0 min'],
    [90_000_000, '25 h 0 min'],
    [3_900_000, '1 h 5 min'],
  ] as const) {
    it(`show ${ms} milliseconds as ${text}`, () => {
      expect(shownDuration(ms)).to.equal(text);
    });
  }

  it('show thrown values of any type, cut to 1,000 characters', () => {
    const values = [new Error('no'), 'text', 7, null, undefined, {}, () => undefined];
    expect(values.map(shownError)).to.deep.equal([
      ...['no', 'text', '7', 'null', 'undefined'],
      ...['a value of type object', 'a value of type function'],
    ]);
    expect(shownError('x'.repeat(1_000))).to.equal('x'.repeat(1_000));
    expect(shownError('x'.repeat(1_001))).to.equal(`${'x'.repeat(1_000)}…`);
  });
});
