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
// All of C0 and C1 except tab and line feed; marks that change the direction of text.
const confusing = /[^\P{Cc}\t\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function markup(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return value.map(markup).join('');
}
