import { html, objectLink, shownDuration, table } from './html.js';
import type { Html, Shown, Column } from './html.js';
import type { Overview, ShownActive, ShownCause, ShownController, ShownKey } from './overview.js';

/** Shows the counts of each controller. */
export function controllersSection({ controllers }: Overview): Html {
  const count = (
    head: string,
    of: (row: ShownController) => number,
    isBad = false,
  ): Column<ShownController> => ({
    head,
    cell: (row) => (isBad && of(row) > 0 ? html`<strong class="bad">${of(row)}</strong>` : of(row)),
    isNumber: true,
  });
  return table(
    controllers,
    [
      { head: 'Controller', cell: ({ name }) => name },
      { head: 'Kind', cell: ({ kind, apiVersion }) => `${kind} (${apiVersion})` },
      { head: 'Runs on', cell: ({ phase }) => placeOf(phase) },
      { head: 'State', cell: ({ isActive }) => (isActive ? 'reconciles' : 'waits') },
      count('Running', ({ active }) => active),
      count('Waiting', ({ waiting }) => waiting),
      count('Delayed', ({ delayed }) => delayed),
      count('Held', ({ held }) => held, true),
      count('Failing', ({ failing }) => failing, true),
      count('Hot loops', ({ hotLoops }) => hotLoops, true),
      count('Sources in trouble', ({ troubledSources }) => troubledSources, true),
    ],
    {
      id: 'controllers',
      caption: 'Controllers and the number of keys of each',
      empty: 'No controller was started yet.',
    },
  );
}

/** Shows the running reconciles and their causes. */
export function activeSection({ active }: Overview): Html {
  const options = { id: 'active', caption: 'Running reconciles and their causes' };
  return table(active, activeColumns, { ...options, empty: 'No reconcile is running.' });
}

/** Shows keys that are blocked by a reconcile that does not end. */
export function heldSection({ held }: Overview): Html {
  const options = {
    id: 'held',
    caption: 'Keys whose reconcile timed out and has not ended',
  };
  const since: Column<ShownActive> = {
    head: 'Overdue for',
    cell: ({ heldMs }) => shownDuration(heldMs),
    isNumber: true,
  };
  return table(held, [...activeColumns, since], { ...options, empty: 'No key is held.' });
}

const activeColumns: readonly Column<ShownActive>[] = [
  ...keyColumns(),
  { head: 'For', cell: ({ lastedMs }) => shownDuration(lastedMs), isNumber: true },
  { head: 'Why', cell: ({ causes }) => causeList(causes) },
  { head: 'Reconcile ID', cell: ({ reconcileID }) => html`<code>${reconcileID}</code>` },
];

/** Shows the waiting keys. */
export function queuesSection({ queued }: Overview): Html {
  return table(
    queued,
    [
      ...keyColumns(),
      { head: 'Waits for', cell: ({ waits }) => (waits === 'worker' ? 'a worker' : 'its time') },
      {
        head: 'How long',
        cell: ({ waits, ms }) =>
          waits === 'worker' ? `since ${shownDuration(ms)}` : `${shownDuration(ms)} to go`,
        isNumber: true,
      },
      { head: 'Priority', cell: ({ priority }) => priority, isNumber: true },
    ],
    {
      id: 'queues',
      caption: 'Waiting keys: of each controller, those with the longest wait and the next due',
      empty: 'Nothing waits.',
    },
  );
}

/** Shows the last reconciles of all controllers. */
export function recentSection({ recent }: Overview): Html {
  return table(
    recent,
    [
      ...keyColumns(),
      { head: 'Ended', cell: ({ at }) => timeElement(at) },
      { head: 'Outcome', cell: ({ outcome, error }) => outcomeText(outcome, error) },
      { head: 'Took', cell: ({ durationMs }) => shownDuration(durationMs), isNumber: true },
      {
        head: 'Again in',
        cell: ({ againInMs }) => (againInMs === undefined ? '' : shownDuration(againInMs)),
        isNumber: true,
      },
      { head: 'Why', cell: ({ causes }) => causeList(causes) },
    ],
    {
      id: 'recent',
      caption: 'Ended reconciles, latest first',
      empty: 'Nothing has been reconciled yet.',
    },
  );
}

/** Shows the reasons of failures, by key. */
export function failuresSection({ failures }: Overview): Html {
  return table(
    failures,
    [
      ...keyColumns(),
      { head: 'Error', cell: ({ message }) => html`<span class="message">${message}</span>` },
      { head: 'Outcome', cell: ({ outcome }) => outcome },
      { head: 'In a row', cell: ({ failures: count }) => count, isNumber: true },
      { head: 'At', cell: ({ at }) => timeElement(at) },
    ],
    {
      id: 'failures',
      caption: 'Keys that have failed and not succeeded since, latest first',
      empty: 'No key fails.',
    },
  );
}

/** Shows keys that repeatedly write one object. */
export function hotLoopsSection({ hotLoops }: Overview): Html {
  return table(
    hotLoops,
    [
      ...keyColumns(),
      { head: 'Keeps writing', cell: ({ written }) => objectLink(written, 'kind') },
      { head: 'Writes a minute', cell: ({ writesPerMinute }) => writesPerMinute, isNumber: true },
      { head: 'Fields', cell: ({ paths }) => joined(paths) },
      { head: 'Field managers', cell: ({ managers }) => joined(managers) },
      { head: 'Slowed down by', cell: ({ delayMs }) => shownDuration(delayMs), isNumber: true },
    ],
    {
      id: 'hot-loops',
      caption: 'Keys that write one object repeatedly and are slowed down',
      empty: 'There is no hot loop.',
    },
  );
}

/** Returns a time element, with the full date as attribute and tooltip. */
export function timeElement(at: string): Html {
  return html`<time datetime="${at}" title="${at}">${at.slice(11, 19)}</time>`;
}

function keyColumns<T extends ShownKey>(): readonly Column<T>[] {
  return [
    { head: 'Key', cell: ({ object }) => objectLink(object) },
    { head: 'Controller', cell: ({ controller }) => controller },
  ];
}

function causeList(causes: readonly ShownCause[]): Html | undefined {
  if (causes.length === 0) return undefined;
  const items = causes.map(({ text, object }) => {
    const link = object === undefined ? undefined : html`${objectLink(object, 'kind')} `;
    return html`<li>${link}${text}</li>`;
  });
  return html`<ul class="causes">
    ${items}
  </ul>`;
}

function outcomeText(outcome: string, error: string | undefined): Html {
  if (error === undefined) return html`${outcome}`;
  return html`<strong class="bad">${outcome}</strong> <span class="message">${error}</span>`;
}

function joined({ items, more }: Shown<string>): string {
  return items.join(', ') + (more === 0 ? '' : ` and ${more} more`);
}

function placeOf(phase: string): string {
  switch (phase) {
    case 'leader':
      return 'the leader';
    case 'replica':
      return 'every replica';
    default:
      return 'every replica, its share of the keys';
  }
}
