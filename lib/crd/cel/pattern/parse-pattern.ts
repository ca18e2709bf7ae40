import { foldedTest, noneOf, rangeTest } from './character-sets.js';
import { readClass, readEscape } from './parse-class.js';
import { PatternSyntaxError } from './node.js';
import type { Assertion, CharacterTest, PatternNode } from './node.js';

/** The state of flags such as `(?i)`. */
interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly U: boolean;
}

// Go's own limits.
const deepest = 1000;
const mostRepeats = 1000;

/**
 * Parses a pattern of Go's `regexp`.
 * @throws PatternSyntaxError
 */
export function parsePattern(source: string): PatternNode {
  const parser = new PatternParser(source);
  return parser.parse();
}

class PatternParser {
  readonly #source: string;
  #at = 0;
  #flags: Flags = { i: false, m: false, s: false, U: false };
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.#source.length) throw new PatternSyntaxError('unexpected )', this.#source);
    checkRepeats(node, 1);
    return node;
  }

  #rest(): string {
    return this.#source.slice(this.#at);
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #choice(): PatternNode {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { type: 'choice', parts };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at] ?? '')) {
      if (this.#take('\\Q')) {
        parts.push(...this.#quoted());
        continue;
      }
      const repeated = this.#repeat(parts);
      if (!repeated) parts.push(...this.#atom());
    }
    return { type: 'sequence', parts };
  }

  /** Text up to `\E` is literal; a repetition after it applies to its last character. */
  #quoted(): PatternNode[] {
    const end = this.#source.indexOf('\\E', this.#at);
    const text = this.#source.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#source.length : end + 2;
    return Array.from(text, (one) => this.#character(rangeTest(one.codePointAt(0) ?? 0)));
  }

  /**
   * Parses a repetition such as `*` or `{2,3}?` of the last part.
   * @returns whether a repetition follows
   */
  #repeat(parts: PatternNode[]): boolean {
    const [text = '', operator = '', lazy = ''] = repeatForm.exec(this.#rest()) ?? [];
    if (text === '') return false;
    const part = parts.pop();
    if (part === undefined) {
      throw new PatternSyntaxError('missing argument to repetition operator', text);
    }
    this.#at += text.length;
    const [again = ''] = repeatForm.exec(this.#rest()) ?? [];
    if (again !== '') {
      throw new PatternSyntaxError('invalid nested repetition operator', `${text}${again}`);
    }
    const [min, max] = countsOf(operator);
    const greedy = (lazy === '') !== this.#flags.U;
    parts.push({ type: 'repeat', part, min, max, greedy });
    return true;
  }

  /** Returns an empty list for standalone flags. */
  #atom(): PatternNode[] {
    if (this.#source[this.#at] === '(') return this.#group();
    if (this.#source[this.#at] === '[') {
      const { test, length } = readClass(this.#rest(), this.#flags.i);
      this.#at += length;
      return [{ type: 'character', test }];
    }
    if (this.#take('.')) {
      const test = this.#flags.s ? () => true : noneOf(rangeTest(0x0a));
      return [{ type: 'character', test }];
    }
    const { m } = this.#flags;
    if (this.#take('^')) return [{ type: 'assertion', assertion: m ? 'lineBegin' : 'begin' }];
    if (this.#take('$')) return [{ type: 'assertion', assertion: m ? 'lineEnd' : 'end' }];
    if (this.#source[this.#at] === '\\') return [this.#escape()];
    const point = this.#source.codePointAt(this.#at) ?? 0;
    this.#at += String.fromCodePoint(point).length;
    return [this.#character(rangeTest(point))];
  }

  #character(test: CharacterTest): PatternNode {
    return { type: 'character', test: this.#flags.i ? foldedTest(test) : test };
  }

  #escape(): PatternNode {
    const assertion = assertions[this.#source[this.#at + 1] ?? ''];
    if (assertion !== undefined) {
      this.#at += 2;
      return { type: 'assertion', assertion };
    }
    const { test, length } = readEscape(this.#rest(), this.#flags.i);
    this.#at += length;
    return { type: 'character', test };
  }

  #group(): PatternNode[] {
    const outer = this.#flags;
    const [text = '', name, flags, end] = groupForm.exec(this.#rest()) ?? [];
    if (text === '') throw badGroup(this.#rest());
    this.#at += text.length;
    if (flags !== undefined) {
      this.#flags = withFlags(outer, flags, text);
      if (end === ')') return [];
    }
    if (name !== undefined) this.#name(name, text);
    if (++this.#depth > deepest) {
      throw new PatternSyntaxError('expression nests too deeply', this.#source);
    }
    const inner = this.#choice();
    if (!this.#take(')')) throw new PatternSyntaxError('missing closing )', this.#source);
    this.#depth--;
    this.#flags = outer;
    return [inner];
  }

  readonly #names = new Set<string>();

  #name(name: string, text: string): void {
    if (!/^\w+$/.test(name)) throw new PatternSyntaxError('invalid named capture', text);
    if (this.#names.has(name)) throw new PatternSyntaxError('duplicate named capture', name);
    this.#names.add(name);
  }
}

const repeatForm = /^([*+?]|\{\d+(?:,\d*)?\})(\??)/;
const groupForm = /^\((?:\?P?<([^>]*)>|\?([a-zA-Z]*(?:-[a-zA-Z]+)?)([:)])|(?!\?))/;

const assertions: Readonly<Partial<Record<string, Assertion>>> = {
  A: 'begin',
  z: 'end',
  b: 'boundary',
  B: 'noBoundary',
};

function countsOf(operator: string): readonly [number, number | undefined] {
  if (operator === '*') return [0, undefined];
  if (operator === '+') return [1, undefined];
  if (operator === '?') return [0, 1];
  const [, low = '', comma, high = ''] = /^\{(\d+)(,?)(\d*)\}$/.exec(operator) ?? [];
  const min = Number(low);
  const max = comma === '' ? min : high === '' ? undefined : Number(high);
  if (min > mostRepeats || (max !== undefined && (max > mostRepeats || max < min))) {
    throw new PatternSyntaxError('invalid repeat count', operator);
  }
  return [min, max];
}

function badGroup(rest: string): PatternSyntaxError {
  if (/^\(\?P?</.test(rest) && !/^\(\?<[=!]/.test(rest)) {
    return new PatternSyntaxError('invalid named capture', rest);
  }
  const [part = rest] = /^\(\?[a-zA-Z-]*[\s\S]?/.exec(rest) ?? [];
  const isOpen = part === rest && /^\(\?[imsU-]*$/.test(part);
  if (isOpen) return new PatternSyntaxError('missing closing )', rest);
  return new PatternSyntaxError('invalid or unsupported Perl syntax', part);
}

function withFlags(flags: Flags, text: string, whole: string): Flags {
  const [on = '', off = ''] = text.split('-');
  if (/[^imsU]/.test(`${on}${off}`)) {
    const [part = whole] = /^\(\?[imsU-]*[\s\S]/.exec(whole) ?? [];
    throw new PatternSyntaxError('invalid or unsupported Perl syntax', part);
  }
  const set = (flag: keyof Flags): boolean =>
    (flags[flag] || on.includes(flag)) && !off.includes(flag);
  return { i: set('i'), m: set('m'), s: set('s'), U: set('U') };
}

/** Nested repetitions must not multiply to more than a single one may have. */
function checkRepeats(node: PatternNode, outer: number): void {
  if (node.type === 'sequence' || node.type === 'choice') {
    for (const part of node.parts) checkRepeats(part, outer);
  }
  if (node.type !== 'repeat') return;
  const { min, max = min } = node;
  const times = outer * Math.max(1, max);
  if (times > mostRepeats) {
    const text = node.max === min ? `{${min}}` : `{${min},${node.max ?? ''}}`;
    throw new PatternSyntaxError('invalid repeat count', text);
  }
  checkRepeats(node.part, times);
}
