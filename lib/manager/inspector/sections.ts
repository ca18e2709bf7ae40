import { describeObject } from '../../object/index.js';
import {
  activeSection,
  controllersSection,
  failuresSection,
  heldSection,
  hotLoopsSection,
  queuesSection,
  recentSection,
  timeElement,
} from './controller-sections.js';
import { andMore, html, objectLink, table } from './html.js';
import type { Html, HtmlValue } from './html.js';
import type { ObjectTree, TreeNode, ObjectView, ShownCondition } from './object-tree.js';
import type { Overview, ShownCache, ShownSource } from './overview.js';

/** A part of the page that is updated separately. */
export interface Section {
  /** Id of its element; unique in the page. */
  readonly id: string;
  readonly title: string;
  /** Content below the title. */
  readonly body: Html;
}

/** Returns the sections of the first page in order; the set never changes. */
export function sectionsOf(overview: Overview): readonly Section[] {
  return [
    { id: 'process', title: 'This process', body: processSection(overview) },
    { id: 'controllers', title: 'Controllers', body: controllersSection(overview) },
    { id: 'active', title: 'Reconciled now', body: activeSection(overview) },
    { id: 'held', title: 'Held keys', body: heldSection(overview) },
    { id: 'queues', title: 'Queues', body: queuesSection(overview) },
    { id: 'recent', title: 'Recent reconciles', body: recentSection(overview) },
    { id: 'failures', title: 'Last errors', body: failuresSection(overview) },
    { id: 'hot-loops', title: 'Hot loops', body: hotLoopsSection(overview) },
    { id: 'caches', title: 'Caches', body: cachesSection(overview) },
    { id: 'quarantine', title: 'Quarantine', body: quarantineSection(overview) },
    { id: 'sources', title: 'Sources in trouble', body: sourcesSection(overview) },
    { id: 'webhooks', title: 'Webhooks', body: webhooksSection(overview) },
    { id: 'shards', title: 'Shards', body: shardsSection(overview) },
    { id: 'runnables', title: 'Servers and other runnables', body: runnablesSection(overview) },
  ];
}

/** Returns a section with its heading; live pages replace its body. */
export function sectionElement({ id, title, body }: Section): Html {
  return html`<section aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    <div id="${id}">${body}</div>
  </section> `;
}

/** Shows the cached kinds with their object counts and problems. */
function cachesSection({ caches, clusters }: Overview): Html {
  const isNamed = clusters.items.some((name) => name !== '');
  return table(
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
}

/** Shows objects that the caches can't read, and why. */
function quarantineSection({ quarantined }: Overview): Html {
  return table(
    quarantined,
    [
      { head: 'Object', cell: (object) => objectLink(object, 'kind') },
      { head: 'Version', cell: ({ resourceVersion }) => resourceVersion },
      { head: 'Reason', cell: ({ reason }) => html`<span class="message">${reason}</span>` },
    ],
    {
      id: 'quarantine',
      caption: 'Objects in quarantine: change or delete them',
      empty: 'All objects could be read.',
    },
  );
}

/** Shows sources that do not deliver. */
function sourcesSection({ troubledSources }: Overview): Html {
  return table(
    troubledSources,
    [
      { head: 'Source', cell: ({ source }) => source },
      { head: 'Controller', cell: ({ controller }) => controller },
      { head: 'Cluster', cell: ({ cluster }) => cluster },
      { head: 'State', cell: (row) => stateOf(row) },
      {
        head: 'Problem',
        cell: ({ problem }) => html`<span class="message">${problem}</span>`,
      },
    ],
    {
      id: 'sources',
      caption: 'Sources of controllers that are not synced',
      empty: 'All sources are synced.',
    },
  );
}

function kindLink({ cluster, apiVersion, kind }: ShownCache): Html {
  const parts = Object.entries({ cluster, apiVersion, kind });
  const query = new URLSearchParams(parts.filter(([, value]) => value !== ''));
  return html`<a href="/objects?${query.toString()}">${kind}</a>`;
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
function processSection(overview: Overview): Html {
  const { at, phase, clusters } = overview;
  const named = clusters.items.filter((name) => name !== '');
  const more = clusters.more === 0 ? '' : ` and ${clusters.more} more`;
  return facts([
    ['Manager', phase],
    ['Leadership', leadershipOf(overview)],
    ['Leader', overview.leader ?? (overview.isElected ? 'not known' : 'this process')],
    ['Clusters', named.length === 0 ? 'one' : named.join(', ') + more],
    ['As of', html`${timeElement(at)} UTC`],
  ]);
}

/** Shows how replicas share keys. */
function shardsSection({ shards }: Overview): Html {
  if (shards === undefined) return html`<p class="none">Keys are not spread over replicas.</p>`;
  const { phase, member, leader, members, epoch, share } = shards;
  const more = members.more === 0 ? '' : ` and ${members.more} more`;
  return facts([
    ['This replica', `${member} (${phase})`],
    ['Share of all keys', `${(share * 100).toFixed(1)} %`],
    ['Assigned by', leader ?? 'not known'],
    ['Replicas', members.items.join(', ') + more],
    ['Epoch', epoch],
  ]);
}

/** Shows the webhooks of this process. */
function webhooksSection({ webhooks }: Overview): Html {
  return table(
    webhooks,
    [
      { head: 'Webhook', cell: ({ name }) => name },
      { head: 'Type', cell: ({ type }) => type },
      { head: 'Path', cell: ({ path }) => html`<code>${path}</code>` },
      {
        head: 'Served',
        cell: ({ port }) =>
          port === undefined ? html`<strong class="bad">no</strong>` : `on port ${port}`,
      },
    ],
    { id: 'webhooks', caption: 'Webhooks of this process', empty: 'There are no webhooks.' },
  );
}

/** Shows the runnables. */
function runnablesSection({ runnables }: Overview): Html {
  return table(
    runnables,
    [
      { head: 'Name', cell: ({ name }) => name },
      { head: 'Phase', cell: ({ phase }) => phase },
      {
        head: 'State',
        cell: ({ state }) =>
          state === 'failed' ? html`<strong class="bad">${state}</strong>` : state,
      },
      { head: 'Address', cell: ({ url }) => url },
    ],
    { id: 'runnables', caption: 'Runnables', empty: 'Nothing.' },
  );
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
    {
      id: 'owners',
      title: 'Owned by',
      body:
        tree.owners.length === 0
          ? html`<p class="none">It has no owner.</p>`
          : html`<ul class="tree">
              ${tree.owners.map(nodeItem)}
            </ul>`,
    },
    {
      id: 'dependents',
      title: 'Controls',
      body: html`${
          tree.dependents.length === 0
            ? html`<p class="none">Nothing that is cached.</p>`
            : html`<ul class="tree">
                  ${tree.dependents.map(nodeItem)}
                </ul>
                ${andMore(tree.moreDependents)}`
        }
        <p class="note">
          Looked for among the cached kinds: ${searchedKinds.join(', ') || 'none'}.
        </p>`,
    },
  ];
}

function objectSection({ object, from, problem, isBeingDeleted }: ObjectView): Html {
  return html`${facts([
    ['Kind', `${object.kind} (${object.apiVersion})`],
    ['Namespace', object.namespace ?? 'none'],
    ['Name', object.name],
    ['UID', object.uid ?? 'not known'],
    ['Read from', placeOf(from)],
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

function placeOf(from: ObjectView['from']): string {
  switch (from) {
    case 'cache':
      return 'the cache';
    case 'server':
      return 'the server: it is not cached';
    case 'gone':
      return 'nowhere: the object does not exist';
    case 'unreadable':
      return 'nowhere: it could not be read';
  }
}
