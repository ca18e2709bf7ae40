import { html } from './html.js';
import type { Html } from './html.js';
import { objectLink } from './object-link.js';
import type { Overview, ShownCache, ShownSource } from './overview.js';
import { table } from './table.js';

/** Shows the cached kinds with their object counts and problems. */
export function cachesSection({ caches, clusters }: Overview): Html {
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
    { id: 'caches', caption: 'Kinds that are cached', empty: 'Nothing is cached.' },
  );
}

/** Shows objects that the caches can't read, and why. */
export function quarantineSection({ quarantined }: Overview): Html {
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
export function sourcesSection({ troubledSources }: Overview): Html {
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
      caption: 'Sources of controllers that are not in step',
      empty: 'All sources are in step.',
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
  return synced ? html`in step` : html`<strong class="bad">not synced</strong>`;
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
