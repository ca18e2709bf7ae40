import { keyString } from '../../object/index.js';
import { shortened } from '../../system/index.js';
import type { Overview, ShownObject } from './overview.js';

/** Markup that is inserted into a page without escaping; all other values are escaped. */
export class Html {
  readonly text: string;

  /** @internal Use {@link html}, or {@link trusted} for constants of this package. */
  constructor(text: string) {
    this.text = text;
  }
}

/** Value that {@link html} accepts. */
export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

/** Returns markup with values: texts and attributes are escaped, lists joined, `undefined` omitted. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] ?? '';
  for (const [index, value] of values.entries()) text += markup(value) + (strings[index + 1] ?? '');
  return new Html(text);
}

/** Marks constant markup as safe; never pass data from outside of this package. */
export function trusted(text: string): Html {
  return new Html(text);
}

/**
 * Escapes `text` for markup, including quoted attributes. Control and bidirectional characters, which can
 * make a name look like another, become a visible replacement character.
 */
export function escapeHtml(text: string): string {
  return text.replaceAll(confusing, '\ufffd').replaceAll(special, (char) => escapes[char] ?? '');
}

const special = /[&<>"'`]/g;
const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};
// All control characters (C0 and C1) except tab and line feed, and marks that change the direction of text.
const confusing = /[^\P{Cc}\t\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function markup(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return value.map(markup).join('');
}

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => HtmlValue;
  /** Aligns numbers to the right. @defaultValue false */
  readonly isNumber?: boolean | undefined;
}

/** A part of a page that is updated separately. */
export interface Section {
  /** Id of the section's element; unique in the page. */
  readonly id: string;
  readonly title: string;
  /** Content below the title. */
  readonly body: Html;
}

export function tableSection<T>({
  title,
  rows,
  columns,
  ...options
}: TableOptions & {
  readonly title: string;
  readonly rows: (overview: Overview) => Shown<T>;
  readonly columns: readonly Column<NoInfer<T>>[];
}): (overview: Overview) => Section {
  const { id } = options;
  return (overview) => ({ id, title, body: table(rows(overview), columns, options) });
}

/** Options of a table, besides its rows and columns. */
interface TableOptions {
  /** Prefix of ids in the table; unique in the page. */
  readonly id: string;
  readonly caption: string;
  /** Text to show instead of a table without rows. */
  readonly empty: string;
}

/**
 * Returns a table with a caption; the first column contains the row headers. In a narrow window it scrolls on
 * its own, by keyboard too. The number of omitted rows is shown below.
 */
export function table<T>(
  { items, more }: Shown<T>,
  columns: readonly Column<T>[],
  { id, caption, empty }: TableOptions,
): Html {
  if (items.length === 0) return html`<p class="none">${empty}</p>`;
  const heads = columns.map(
    ({ head, isNumber = false }) => html`<th scope="col" ${numeric(isNumber)}>${head}</th>`,
  );
  const [first, ...others] = columns;
  const rows = items.map(
    (row) =>
      html`<tr>
        <th scope="row">${first?.cell(row)}</th>
        ${others.map(
          ({ cell, isNumber = false }) => html`<td${numeric(isNumber)}>${cell(row)}</td>`,
        )}
      </tr> `,
  );
  return html`<div
      class="scroll"
      id="${id}-scroll"
      role="region"
      aria-labelledby="${id}-caption"
      tabindex="0"
    >
      <table>
        <caption id="${id}-caption">
          ${caption}
        </caption>
        <thead>
          <tr>
            ${heads}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
    ${andMore(more)}`;
}

/** Returns a note about omitted rows. */
export function andMore(more: number): Html | undefined {
  return more === 0 ? undefined : html`<p class="more">and ${more.toLocaleString('en')} more</p>`;
}

function numeric(isNumber: boolean): Html | undefined {
  return isNumber ? html` class="number"` : undefined;
}

/** The first items of a list, and the number of the others. */
export interface Shown<T> {
  readonly items: readonly T[];
  readonly more: number;
}

/** Maximum number of rows of a table. */
export const maxRows = 50;

export function firstOf<T>(items: readonly T[], count: number = maxRows): Shown<T> {
  const first = items.slice(0, count);
  return { items: first, more: items.length - first.length };
}

/** Like {@link firstOf}, but maps only the items that are shown. */
export function firstMapped<T, R>(items: readonly T[], map: (item: T) => R): Shown<R> {
  const { items: first, more } = firstOf(items);
  return { items: first.map(map), more };
}

/** Returns the message of an error, or the thrown value, cut to 1,000 characters. */
export function shownError(error: unknown): string {
  // A message may be something other than a string.
  const message: unknown = error instanceof Error ? error.message : error;
  const isThing =
    (typeof message === 'object' && message !== null) || typeof message === 'function';
  return shortened(isThing ? `a value of type ${typeof message}` : String(message), maxLength);
}

/** Formats milliseconds for people. */
export function shownDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats milliseconds since 1970 in UTC: `2026-01-01T00:00:00.000Z`. */
export function shownTime(ms: number): string {
  return new Date(ms).toISOString();
}

const maxLength = 1_000;

/** Returns the path of an object's ownership tree. */
export function objectPath(object: ShownObject, path = '/object'): string {
  const { cluster, apiVersion, kind, namespace = '', name } = object;
  return pathWith(path, { cluster, apiVersion, kind, namespace, name });
}

/** Returns a path with a query string. Omits parameters that are empty. */
export function pathWith(path: string, parts: Readonly<Record<string, string>>): string {
  const given = Object.entries(parts).filter(([, value]) => value !== '');
  return `${path}?${new URLSearchParams(given).toString()}`;
}

/**
 * Returns the object's `namespace/name`, with the kind before it if `shows` is `kind`. It is a link to the ownership
 * tree if the kind is known.
 */
export function objectLink(object: ShownObject, shows: 'key' | 'kind' = 'key'): Html {
  const { cluster, apiVersion, kind } = object;
  const key = keyString(object);
  const text = shows === 'kind' ? `${kind} ${key}` : key;
  const where = cluster === '' ? undefined : html` <span class="note">in ${cluster}</span>`;
  // The kind is unknown after the controller was removed.
  if (apiVersion === '' || kind === '') return html`${text}${where}`;
  return html`<a href="${objectPath(object)}">${text}</a>${where}`;
}
