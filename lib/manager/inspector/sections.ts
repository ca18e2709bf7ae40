import { html } from './html.js';
import type { Html } from './html.js';
import type { Overview } from './overview.js';
import { cachesSection, quarantineSection, sourcesSection } from './cache-sections.js';
import {
  activeSection,
  controllersSection,
  failuresSection,
  heldSection,
  hotLoopsSection,
  queuesSection,
  recentSection,
} from './controller-sections.js';
import {
  processSection,
  runnablesSection,
  shardsSection,
  webhooksSection,
} from './process-sections.js';

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
