import { describeObject } from '../../object/index.js';
import { controllerSections, joined, timeElement } from './controller-sections.js';
import { andMore, html, pathWith, objectLink, table, tableSection } from './html.js';
import type { Html, HtmlValue, Section } from './html.js';
import type { ObjectTree, TreeNode, ObjectView, ShownCondition } from './object-tree.js';
import type { Overview, ShownCache, ShownSource } from './overview.js';

const sections = [
  processSection,
  ...controllerSections,
  cachesSection,
  tableSection({
    ...{ id: 'quarantine', title: 'Quarantine', rows: ({ quarantined }) => quarantined },
    caption: 'Objects in quarantine: change or delete them',
    empty: 'All objects could be read.',
    columns: [
      { head: 'Object', cell: (object) => objectLink(object, 'kind') },
      { head: 'Version', cell: ({ resourceVersion }) => resourceVersion },
      { head: 'Reason', cell: ({ reason }) => html`<span class="message">${reason}</span>` },
    ],
  }),
  tableSection({
    ...{ id: 'sources', title: 'Sources in trouble' },
    rows: ({ troubledSources }) => troubledSources,
    caption: 'Sources of controllers that are not synced',
    empty: 'All sources are synced.',
    columns: [
      { head: 'Source', cell: ({ source }) => source },
      { head: 'Controller', cell: ({ controller }) => controller },
      { head: 'Cluster', cell: ({ cluster }) => cluster },
      { head: 'State', cell: (row) => stateOf(row) },
      { head: 'Problem', cell: ({ problem }) => html`<span class="message">${problem}</span>` },
    ],
  }),
  tableSection({
    ...{ id: 'webhooks', title: 'Webhooks', rows: ({ webhooks }) => webhooks },
    caption: 'Webhooks of this process',
    empty: 'There are no webhooks.',
    columns: [
      { head: 'Webhook', cell: ({ name }) => name },
      { head: 'Type', cell: ({ type }) => type },
      { head: 'Path', cell: ({ path }) => html`<code>${path}</code>` },
      {
        head: 'Served',
        cell: ({ port }) =>
          port === undefined ? html`<strong class="bad">no</strong>` : `on port ${port}`,
      },
    ],
  }),
  shardsSection,
  tableSection({
    ...{ id: 'runnables', title: 'Servers and other runnables', rows: (all) => all.runnables },
    caption: 'Runnables',
    empty: 'Nothing.',
    columns: [
      { head: 'Name', cell: ({ name }) => name },
      { head: 'Phase', cell: ({ phase }) => phase },
      {
        head: 'State',
        cell: ({ state }) =>
          state === 'failed' ? html`<strong class="bad">${state}</strong>` : state,
      },
      { head: 'Address', cell: ({ url }) => url },
    ],
  }),
];

/**
 * Returns the sections of the first page in order. Every call returns the same sections, with their current content.
 */
export function sectionsOf(overview: Overview): readonly Section[] {
  return sections.map((section) => section(overview));
}

/** Returns a section with its heading; live pages replace its body. */
export function sectionElement({ id, title, body }: Section): Html {
  return html`<section aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    <div id="${id}">${body}</div>
  </section> `;
}

/** Shows the cached kinds with their object counts and problems. */
function cachesSection({ caches, clusters }: Overview): Section {
  const isNamed = clusters.items.some((name) => name !== '');
  const body = table(
    caches,
    [
      { head: 'Kind', cell: kindLink },
      { head: 'API version', cell: ({ apiVersion }) => apiVersion },
      ...(isNamed ? [{ head: 'Cluster', cell: ({ cluster }: ShownCache) => cluster }] : []),
      { head: 'Objects', cell: ({ objects }) => objects.toLocaleString('en'), isNumber: true },
      { head: 'Memory, about', cell: ({ bytes }) => shownBytes(bytes), isNumber: true },
      { head: 'Holds', cell: ({ metadataOnly }) => (metadataOnly ? 'metadata' : 'objects') },
      { head: 'State', cell: (row) => stateOf(row) },
      { head: 'Problem', cell: problemOf },
    ],
    { id: 'caches', caption: 'Cached kinds', empty: 'Nothing is cached.' },
  );
  return { id: 'caches', title: 'Caches', body };
}

function kindLink({ cluster, apiVersion, kind }: ShownCache): Html {
  return html`<a href="${pathWith('/objects', { cluster, apiVersion, kind })}">${kind}</a>`;
}

function stateOf({ synced, parked }: Pick<ShownSource, 'synced' | 'parked'>): Html {
  if (parked) return html`<strong class="bad">not served</strong>`;
  return synced ? html`synced` : html`<strong class="bad">not synced</strong>`;
}

function problemOf({ problem, remedy }: ShownCache): Html | undefined {
  if (problem === undefined) return undefined;
  const advice = remedy === undefined ? undefined : html`<strong>${remedy}</strong>: `;
  return html`${advice}<span class="message">${problem}</span>`;
}

function shownBytes(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Shows the manager's phase, the leader and the clusters. */
function processSection(overview: Overview): Section {
  const { at, phase, clusters } = overview;
  const named = clusters.items.filter((name) => name !== '');
  const body = facts([
    ['Manager', phase],
    ['Leadership', leadershipOf(overview)],
    ['Leader', overview.leader ?? (overview.isElected ? 'not known' : 'this process')],
    ['Clusters', named.length === 0 ? 'one' : joined({ ...clusters, items: named })],
    ['As of', html`${timeElement(at)} UTC`],
  ]);
  return { id: 'process', title: 'This process', body };
}

function shardsSection({ shards }: Overview): Section {
  return { id: 'shards', title: 'Shards', body: shardFacts(shards) };
}

function shardFacts(shards: Overview['shards']): Html {
  if (shards === undefined) return html`<p class="none">Keys are not spread over replicas.</p>`;
  const { phase, member, leader, members, epoch, share } = shards;
  return facts([
    ['This replica', `${member} (${phase})`],
    ['Share of all keys', `${(share * 100).toFixed(1)} %`],
    ['Assigned by', leader ?? 'not known'],
    ['Replicas', joined(members)],
    ['Epoch', epoch],
  ]);
}

/** Returns a list of names and values. */
function facts(rows: readonly (readonly [string, HtmlValue])[]): Html {
  return html`<dl>
    ${rows.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

function leadershipOf({ isElected, isLeading, phase }: Overview): string {
  if (isLeading) return isElected ? 'leads' : 'leads: there is no leader election';
  return phase === 'running' && isElected ? 'stands by' : 'does not lead';
}

/** Returns the sections of an object's page. */
export function objectSections(tree: ObjectTree): readonly Section[] {
  const { view, searchedKinds } = tree;
  return [
    { id: 'object', title: 'Object', body: objectSection(view) },
    { id: 'conditions', title: 'Status conditions', body: conditionsSection(view) },
    { id: 'owners', title: 'Owned by', body: treeOf(tree.owners, 'It has no owner.') },
    {
      id: 'dependents',
      title: 'Controls',
      body: html`${treeOf(tree.dependents, 'Nothing that is cached.')}${andMore(tree.moreDependents)}
        <p class="note">
          Looked for among the cached kinds: ${searchedKinds.join(', ') || 'none'}.
        </p>`,
    },
  ];
}

function treeOf(nodes: readonly TreeNode[], none: string): Html {
  if (nodes.length === 0) return html`<p class="none">${none}</p>`;
  return html`<ul class="tree">
    ${nodes.map(nodeItem)}
  </ul>`;
}

function objectSection({ object, from, problem, isBeingDeleted }: ObjectView): Html {
  return html`${facts([
    ['Kind', `${object.kind} (${object.apiVersion})`],
    ['Namespace', object.namespace ?? 'none'],
    ['Name', object.name],
    ['UID', object.uid ?? 'not known'],
    ['Read from', places[from]],
    ...(object.cluster === '' ? [] : ([['Cluster', object.cluster]] as const)),
    ...(isBeingDeleted ? ([['Deletion', 'is being deleted']] as const) : []),
  ])}${problem === undefined ? undefined : html`<p class="bad message">${problem}</p>`}`;
}

function conditionsSection({ conditions }: ObjectView): Html {
  return table<ShownCondition>(
    conditions,
    [
      { head: 'Type', cell: ({ type }) => type },
      { head: 'Status', cell: ({ status }) => status },
      { head: 'Reason', cell: ({ reason }) => reason },
      { head: 'Message', cell: ({ message }) => html`<span class="message">${message}</span>` },
    ],
    { id: 'conditions', caption: 'Conditions of its status', empty: 'It has no conditions.' },
  );
}

function nodeItem({ view, children, more }: TreeNode): Html {
  const below =
    children.length === 0
      ? undefined
      : html`<ul>
          ${children.map(nodeItem)}
        </ul>`;
  return html`<li>${nodeText(view)}${below}${andMore(more)}</li> `;
}

function nodeText({ object, from, problem, isBeingDeleted, conditions }: ObjectView): Html {
  const states = conditions.items.map(({ type, status }) => `${type}: ${status}`);
  const notes = [
    ...(from === 'server' ? ['read from the server'] : []),
    ...(isBeingDeleted ? ['is being deleted'] : []),
    ...states,
  ];
  const note =
    notes.length === 0 ? undefined : html` <span class="note">${notes.join(', ')}</span>`;
  if (problem === undefined) return html`${objectLink(object, 'kind')}${note}`;
  return html`${describeObject(object)} <span class="bad message">${problem}</span>`;
}

const places: Readonly<Record<ObjectView['from'], string>> = {
  cache: 'the cache',
  server: 'the server: it is not cached',
  gone: 'nowhere: the object does not exist',
  unreadable: 'nowhere: it could not be read',
};
