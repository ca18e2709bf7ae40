import { failure } from '../status-error.js';

/**
 * Returns `value` as the real server writes it in answers of the type `application/yaml`: in the block style of
 * YAML 1.1, with keys in natural order, and with long lines folded.
 * @throws StatusError 500: a text has a character that is not allowed in YAML.
 */
export function yamlText(value: unknown): string {
  const writer = new Writer();
  writer.node(value, { indent: -indentWidth, after: 'start' });
  return `${writer.text}\n`;
}

const indentWidth = 2;
/** Texts are folded at the first space after this column. */
const bestWidth = 80;
/** Longer keys are marked with `?`, and their values begin on the next line. */
const longestSimpleKey = 128;

/** Where a node begins: at the start, after `key:`, or after an indicator, on the same line. */
interface Place {
  /** The indent of the mapping or sequence around the node. */
  readonly indent: number;
  readonly after: 'start' | 'key' | 'indicator';
}

class Writer {
  text = '';
  #column = 0;

  node(value: unknown, place: Place): void {
    if (Array.isArray(value) && value.length > 0) this.#sequence(value, place);
    else if (isMapping(value)) this.#mapping(value, place);
    else {
      this.#write(' ');
      this.#scalar(value, place.indent + indentWidth);
    }
  }

  #mapping(value: Readonly<Record<string, unknown>>, { indent: outer, after }: Place): void {
    const indent = outer + indentWidth;
    let isFirst = true;
    for (const key of membersOf(value).sort(compareNaturally)) {
      this.#begin(indent, isFirst ? after : 'key');
      isFirst = false;
      const isSimple = !key.includes('\n') && key.length <= longestSimpleKey;
      if (isSimple) this.#text(key, undefined);
      else {
        this.#write('? ');
        this.#scalar(key, indent + indentWidth);
        this.#newline(indent);
      }
      this.#write(':');
      this.node(value[key], { indent, after: isSimple ? 'key' : 'indicator' });
    }
  }

  /** Writes the items; below a key, they are not indented. */
  #sequence(items: readonly unknown[], { indent: outer, after }: Place): void {
    const indent = after === 'key' ? outer : outer + indentWidth;
    let isFirst = true;
    for (const item of items) {
      this.#begin(indent, isFirst ? after : 'key');
      isFirst = false;
      this.#write('-');
      this.node(item, { indent, after: 'indicator' });
    }
  }

  #begin(indent: number, after: Place['after']): void {
    if (after === 'key') this.#newline(indent);
    else if (after === 'indicator') this.#write(' ');
  }

  #scalar(value: unknown, indent: number): void {
    if (typeof value === 'string') this.#text(value, indent);
    else if (typeof value === 'number') this.#write(numberText(value));
    else this.#write(value === undefined ? 'null' : JSON.stringify(value));
  }

  /** Writes a text in its style. @param indent - the indent of further lines; undefined in keys, which have one line */
  #text(text: string, indent: number | undefined): void {
    if (forbidden.test(text)) throw failure(500, '', 'yaml: control characters are not allowed');
    const style = styleOf(text);
    if (style === 'literal' && indent !== undefined) this.#literal(text, indent);
    else if (style === 'plain') this.#folded(text, indent);
    else if (style === 'single') {
      this.#write("'");
      this.#folded(text.replaceAll("'", "''"), indent);
      this.#write("'");
    } else this.#double(text, indent);
  }

  #literal(text: string, indent: number): void {
    const hint = /^[ \n]/.test(text) ? String(indentWidth) : '';
    const chomping = !text.endsWith('\n') ? '-' : /^\n$|\n\n$/.test(text) ? '+' : '';
    this.#write(`|${hint}${chomping}`);
    for (const line of text.replace(/\n$/, '').split('\n')) {
      this.#newline(line === '' ? 0 : indent);
      this.#write(line);
    }
  }

  /** Writes a text, and breaks lines that are too long at single spaces. */
  #folded(text: string, indent: number | undefined): void {
    text.split(singleSpaces).forEach((word, nth) => {
      const isTooLong = indent !== undefined && this.#column > bestWidth;
      if (nth > 0 && isTooLong) this.#newline(indent);
      else if (nth > 0) this.#write(' ');
      this.#write(word);
    });
  }

  #double(text: string, indent: number | undefined): void {
    // A quirk of the real server: after a byte order mark at the start, it escapes all characters.
    const escapesAll = text.startsWith('\ufeff');
    const characters = Array.from(text);
    let wasSpace = false;
    this.#write('"');
    characters.forEach((character, at) => {
      const isInner = at > 0 && at < characters.length - 1;
      const isSpace = character === ' ' && !escapesAll;
      if (isSpace && !wasSpace && isInner && indent !== undefined && this.#column > bestWidth) {
        this.#newline(indent);
        if (characters[at + 1] === ' ') this.#write('\\');
      } else this.#write(escapesAll ? numericEscape(character) : escaped(character));
      wasSpace = isSpace;
    });
    this.#write('"');
  }

  #write(text: string): void {
    this.text += text;
    this.#column += text.length;
  }

  #newline(indent: number): void {
    this.text += `\n${' '.repeat(indent)}`;
    this.#column = indent;
  }
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    membersOf(value as Readonly<Record<string, unknown>>).length > 0
  );
}

/** Returns the names of the members that JSON would have: those with a value. */
function membersOf(value: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(value).filter((name) => value[name] !== undefined);
}

/** A space between two other characters. */
const singleSpaces = /(?<=[^ ]) (?=[^ ])/;

/**
 * Characters that the real server refuses in answers: it reads its JSON as YAML, and this JSON does not escape them.
 */
const forbidden = /[\u007f-\u0084\u0086-\u009f\ufffe\uffff]/;
/** Characters that are escaped. */
const special = /[^\n\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
/** Parts of a text that have a meaning in YAML. */
const indicators = /^(?:---|\.\.\.)|^[#,[\]{}&*!|>'"%@`]|^[-?:](?= |$)|:(?= |$)|(?<= )#/;

type Style = 'plain' | 'single' | 'double' | 'literal';

function styleOf(text: string): Style {
  if (text.includes('\n'))
    return special.test(text) || / (?:\n|$)/.test(text) ? 'double' : 'literal';
  if (!isReadAsText(text) || special.test(text)) return 'double';
  return indicators.test(text) || text.startsWith(' ') || text.endsWith(' ') ? 'single' : 'plain';
}

const constants =
  /^(?:|~|null|Null|NULL|[yYnN]|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF|\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF))$/;
const integer = /^[-+]?0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+)$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const time = /^[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})$/;
const spacedTime = /^(?: [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?)?$/;
const date = /^[0-9]{4}-(?:1[0-2]|0?[1-9])-(?:[12][0-9]|3[01]|0?[1-9])/;

/** Returns whether a YAML 1.1 parser reads `text` without quotes as a string, not as another value. */
function isReadAsText(text: string): boolean {
  if (constants.test(text) || sexagesimal.test(text)) return false;
  if (!/^[-+.0-9]/.test(text)) return true;
  const digits = text.replaceAll('_', '');
  if (integer.test(digits) || float.test(digits)) return false;
  const rest = date.test(text) ? text.replace(date, '') : 'x';
  return !time.test(rest) && !spacedTime.test(rest);
}

const shortEscapes: Readonly<Partial<Record<string, string>>> = {
  ...{ '\0': '\\0', '\x07': '\\a', '\b': '\\b', '\t': '\\t', '\n': '\\n', '\v': '\\v' },
  ...{ '\f': '\\f', '\r': '\\r', '\x1b': '\\e', '"': '\\"', '\\': '\\\\' },
};

function escaped(character: string): string {
  const short = shortEscapes[character];
  return short ?? (special.test(character) ? numericEscape(character) : character);
}

function numericEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const [letter, digits] = code <= 0xff ? ['x', 2] : code <= 0xffff ? ['u', 4] : ['U', 8];
  return `\\${letter}${code.toString(16).toUpperCase().padStart(digits, '0')}`;
}

/**
 * Formats a number as Go does: whole numbers below 2⁶³ without an exponent, others with an exponent from a million on
 * and below 0.0001.
 */
function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return String(BigInt(value));
  const [digits = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  const sign = exponent < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

const letter = /^\p{L}/u;

/** Compares keys by their first different characters: numbers by value, and letters after other characters. */
function compareNaturally(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  let at = 0;
  while (at < length && one[at] === other[at]) at++;
  if (at === length) return one.length - other.length;
  const [a, b] = [one.slice(at), other.slice(at)];
  const [isLetter, isOtherLetter] = [letter.test(a), letter.test(b)];
  if (isLetter !== isOtherLetter) return isLetter ? 1 : -1;
  return (isLetter ? 0 : compareNumbers(one, other, at)) || (a < b ? -1 : 1);
}

/** Returns whether one of the digits right before `at` is not zero. */
function isWithinNumber(text: string, at: number): boolean {
  for (let before = at - 1; /[0-9]/.test(text[before] ?? ''); before--) {
    if (text[before] !== '0') return true;
  }
  return false;
}

/** Compares the numbers around `at`, where both texts begin to differ; 0 if one has no number there. */
function compareNumbers(one: string, other: string, at: number): number {
  const isZero = one[at] === '0' || other[at] === '0';
  // A zero within a number is not leading: `10` is more than `1`, but `01` is not.
  const prefix = isZero && isWithinNumber(one, at) ? '1' : '';
  const [a, b] = [one, other].map((text) => /^[0-9]*/.exec(text.slice(at))?.[0] ?? '');
  const [x, y] = [BigInt(`${prefix}${a}` || '0'), BigInt(`${prefix}${b}` || '0')];
  if (x !== y) return x < y ? -1 : 1;
  return (a ?? '').length - (b ?? '').length;
}
