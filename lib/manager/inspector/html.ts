/** Markup that may stand in a page as it is; everything else is escaped. */
export class Html {
  readonly text: string;

  /** @internal Use {@link html}, or {@link trusted} for constants of our own. */
  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand between the parts of {@link html}. */
export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

/** Markup with values in it: texts and attributes are escaped, lists joined, `undefined` is nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] ?? '';
  for (const [index, value] of values.entries()) text += markup(value) + (strings[index + 1] ?? '');
  return new Html(text);
}

/** Markup that was written by us: never give it anything that came from elsewhere. */
export function trusted(text: string): Html {
  return new Html(text);
}

/**
 * `text` as it may stand in markup, quoted attributes included. Control and bidirectional marks, with
 * which a name could pass for another, become a visible replacement character.
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
// All of C0 and C1 but tab and line feed; marks that turn the direction of writing.
const confusing = /[^\P{Cc}\t\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function markup(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return value.map(markup).join('');
}
