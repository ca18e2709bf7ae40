import { html } from './html.js';
import type { Html, HtmlValue } from './html.js';
import type { Shown } from './shown.js';

/** A column of a table. */
export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => HtmlValue;
  /** Aligns numbers to the right. @defaultValue false */
  readonly isNumber?: boolean | undefined;
}

/** Options of a table, beside its rows and columns. */
export interface TableOptions {
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
