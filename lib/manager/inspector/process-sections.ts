import { html } from './html.js';
import type { Html, HtmlValue } from './html.js';
import { timeElement } from './controller-sections.js';
import type { Overview } from './overview.js';
import { table } from './table.js';

/** Shows the manager's phase, the leader and the clusters. */
export function processSection(overview: Overview): Html {
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
export function shardsSection({ shards }: Overview): Html {
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
export function webhooksSection({ webhooks }: Overview): Html {
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
export function runnablesSection({ runnables }: Overview): Html {
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
    { id: 'runnables', caption: 'What runs beside controllers', empty: 'Nothing.' },
  );
}

/** Returns a list of names and values. */
export function facts(rows: readonly (readonly [string, HtmlValue])[]): Html {
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
