import { html, objectLink, shownDuration, tableSection } from './html.js';
import type { Column, Html, Shown } from './html.js';
import type { ShownActive, ShownCause, ShownController, ShownKey } from './overview.js';

const keyColumns: readonly Column<ShownKey>[] = [
  { head: 'Key', cell: ({ object }) => objectLink(object) },
  { head: 'Controller', cell: ({ controller }) => controller },
];

const activeColumns: readonly Column<ShownActive>[] = [
  ...keyColumns,
  { head: 'For', cell: ({ lastedMs }) => shownDuration(lastedMs), isNumber: true },
  { head: 'Why', cell: ({ causes }) => causeList(causes) },
  { head: 'Reconcile ID', cell: ({ reconcileID }) => html`<code>${reconcileID}</code>` },
];

/** The sections about controllers and their keys, in order. */
export const controllerSections = [
  tableSection({
    ...{ id: 'controllers', title: 'Controllers', rows: ({ controllers }) => controllers },
    caption: 'Controllers and the number of keys of each',
    empty: 'No controller was started yet.',
    columns: [
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
  }),
  tableSection({
    ...{ id: 'active', title: 'Reconciled now', rows: ({ active }) => active },
    caption: 'Running reconciles and their causes',
    empty: 'No reconcile is running.',
    columns: activeColumns,
  }),
  tableSection({
    ...{ id: 'held', title: 'Held keys', rows: ({ held }) => held },
    caption: 'Keys whose reconcile timed out and has not ended',
    empty: 'No key is held.',
    columns: [
      ...activeColumns,
      { head: 'Overdue for', cell: ({ heldMs }) => shownDuration(heldMs), isNumber: true },
    ],
  }),
  tableSection({
    ...{ id: 'queues', title: 'Queues', rows: ({ queued }) => queued },
    caption: 'Waiting keys: of each controller, those with the longest wait and the next due',
    empty: 'Nothing waits.',
    columns: [
      ...keyColumns,
      { head: 'Waits for', cell: ({ waits }) => (waits === 'worker' ? 'a worker' : 'its time') },
      {
        head: 'How long',
        cell: ({ waits, ms }) =>
          waits === 'worker' ? `for ${shownDuration(ms)}` : `${shownDuration(ms)} to go`,
        isNumber: true,
      },
      { head: 'Priority', cell: ({ priority }) => priority, isNumber: true },
    ],
  }),
  tableSection({
    ...{ id: 'recent', title: 'Recent reconciles', rows: ({ recent }) => recent },
    caption: 'Ended reconciles, latest first',
    empty: 'Nothing has been reconciled yet.',
    columns: [
      ...keyColumns,
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
  }),
  tableSection({
    ...{ id: 'failures', title: 'Last errors', rows: ({ failures }) => failures },
    caption: 'Keys that have failed and not succeeded since, latest first',
    empty: 'No key fails.',
    columns: [
      ...keyColumns,
      { head: 'Error', cell: ({ message }) => html`<span class="message">${message}</span>` },
      { head: 'Outcome', cell: ({ outcome }) => outcome },
      { head: 'In a row', cell: ({ failures: times }) => times, isNumber: true },
      { head: 'At', cell: ({ at }) => timeElement(at) },
    ],
  }),
  tableSection({
    ...{ id: 'hot-loops', title: 'Hot loops', rows: ({ hotLoops }) => hotLoops },
    caption: 'Keys that write one object repeatedly and are slowed down',
    empty: 'There is no hot loop.',
    columns: [
      ...keyColumns,
      { head: 'Keeps writing', cell: ({ written }) => objectLink(written, 'kind') },
      { head: 'Writes a minute', cell: ({ writesPerMinute }) => writesPerMinute, isNumber: true },
      { head: 'Fields', cell: ({ paths }) => joined(paths) },
      { head: 'Field managers', cell: ({ managers }) => joined(managers) },
      { head: 'Slowed down by', cell: ({ delayMs }) => shownDuration(delayMs), isNumber: true },
    ],
  }),
];

/** Returns a time element, with the full date as attribute and tooltip. */
export function timeElement(at: string): Html {
  return html`<time datetime="${at}" title="${at}">${at.slice(11, 19)}</time>`;
}

function count(
  head: string,
  of: (row: ShownController) => number,
  isBad = false,
): Column<ShownController> {
  return {
    head,
    cell: (row) => (isBad && of(row) > 0 ? html`<strong class="bad">${of(row)}</strong>` : of(row)),
    isNumber: true,
  };
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

/** Returns the shown items as text, with the number of the items that are left out. */
export function joined({ items, more }: Shown<string>): string {
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
