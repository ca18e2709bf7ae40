import {
  anyOf,
  foldedTest,
  noneOf,
  perlSets,
  posixSets,
  rangeTest,
  unicodeSet,
} from './character-sets.js';
import { PatternSyntaxError } from './node.js';
import type { CharacterTest } from './node.js';

/** A parsed character set, and the length of its source. */
export interface ReadSet {
  readonly test: CharacterTest;
  readonly length: number;
}

/**
 * Parses an escape sequence: a set (`\d`, `\pL`) or one character.
 * @throws PatternSyntaxError
 */
export function readEscape(text: string, folded: boolean): ReadSet {
  const set = readSet(text, folded);
  if (set !== undefined) return set;
  const { point, length } = readCharacter(text);
  const test = rangeTest(point);
  return { test: folded ? foldedTest(test) : test, length };
}

/** Parses `\d`, `\W`, `\pL` or `\p{^Greek}`; returns undefined for other text. */
function readSet(text: string, folded: boolean): ReadSet | undefined {
  const fold = (test: CharacterTest): CharacterTest => (folded ? foldedTest(test) : test);
  const [perl = '', letter = ''] = /^\\([dswDSW])/.exec(text) ?? [];
  const known = perlSets[letter.toLowerCase()];
  if (known !== undefined) {
    const test = fold(known);
    return { test: letter === letter.toLowerCase() ? test : noneOf(test), length: perl.length };
  }
  if (!/^\\[pP]/.test(text)) return undefined;
  const [whole = '', kind = '', braced, single] =
    /^\\([pP])(?:\{([^}]*)\}|([\s\S]))/u.exec(text) ?? [];
  const name = braced ?? single ?? '';
  const set = unicodeSet(name.replace(/^\^/, ''));
  if (set === undefined || single === '{') {
    const where = whole === '' || single === '{' ? text : whole;
    throw new PatternSyntaxError('invalid character class range', where);
  }
  const negated = (kind === 'P') !== name.startsWith('^');
  return { test: negated ? noneOf(fold(set)) : fold(set), length: whole.length };
}

interface ReadCharacter {
  readonly point: number;
  readonly length: number;
}

const controls: Readonly<Partial<Record<string, number>>> = {
  a: 0x07,
  f: 0x0c,
  n: 0x0a,
  r: 0x0d,
  t: 0x09,
  v: 0x0b,
};

const largestPoint = 0x10ffff;

/** Parses one character, escaped or not. */
function readCharacter(text: string): ReadCharacter {
  if (!text.startsWith('\\')) {
    const point = text.codePointAt(0) ?? 0;
    return { point, length: String.fromCodePoint(point).length };
  }
  const character = text[1] ?? '';
  if (character === '') {
    throw new PatternSyntaxError('trailing backslash at end of expression', '');
  }
  const control = controls[character];
  if (control !== undefined) return { point: control, length: 2 };
  const [hex, braced, plain] = /^\\x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))/.exec(text) ?? [];
  if (hex !== undefined) {
    const point = Number.parseInt(braced ?? plain ?? '', 16);
    if (point <= largestPoint) return { point, length: hex.length };
  }
  const [octal] = /^\\(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(text) ?? [];
  if (octal !== undefined) {
    return { point: Number.parseInt(octal.slice(1), 8), length: octal.length };
  }
  // An escaped character stands for itself unless it is a letter or a digit.
  if (/^[\0-\x7f]$/.test(character) && !/[0-9A-Za-z]/.test(character)) {
    return { point: character.codePointAt(0) ?? 0, length: 2 };
  }
  const shown = /^\\(?:x\{?[0-9A-Fa-f]*|[\s\S])/u.exec(text)?.[0] ?? text;
  throw new PatternSyntaxError('invalid escape sequence', shown);
}

/**
 * Parses `[a-z[:digit:]\pL]`.
 * @throws PatternSyntaxError
 */
export function readClass(text: string, folded: boolean): ReadSet {
  const negated = text.startsWith('[^');
  const first = negated ? 2 : 1;
  const tests: CharacterTest[] = [];
  let at = first;
  while (text[at] !== ']' || at === first) {
    if (at >= text.length) throw new PatternSyntaxError('missing closing ]', text);
    const { test, length } = readMember(text.slice(at), folded);
    tests.push(test);
    at += length;
  }
  const test = anyOf(tests);
  return { test: negated ? noneOf(test) : test, length: at + 1 };
}

function readMember(text: string, folded: boolean): ReadSet {
  const [posix, negated = '', name = ''] = /^\[:(\^?)(\w*):\]/.exec(text) ?? [];
  if (posix !== undefined) {
    const set = posixSets[name];
    if (set === undefined) throw new PatternSyntaxError('invalid character class range', posix);
    const test = folded ? foldedTest(set) : set;
    return { test: negated === '' ? test : noneOf(test), length: posix.length };
  }
  const set = readSet(text, folded);
  if (set !== undefined) return set;
  const low = readCharacter(text);
  const isRange = text[low.length] === '-' && !['', ']'].includes(text[low.length + 1] ?? '');
  const high = isRange ? readCharacter(text.slice(low.length + 1)) : low;
  const length = isRange ? low.length + 1 + high.length : low.length;
  if (high.point < low.point) {
    throw new PatternSyntaxError('invalid character class range', text.slice(0, length));
  }
  const test = rangeTest(low.point, high.point);
  return { test: folded ? foldedTest(test) : test, length };
}
