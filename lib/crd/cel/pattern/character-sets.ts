import type { CharacterTest } from './node.js';

function between(...ends: readonly (readonly [string, string])[]): CharacterTest {
  const ranges = ends.map(([low, high]) => [low.codePointAt(0) ?? 0, high.codePointAt(0) ?? 0]);
  return (point) => ranges.some(([low = 0, high = 0]) => low <= point && point <= high);
}

function oneOf(characters: string): CharacterTest {
  const points = new Set(Array.from(characters, (one) => one.codePointAt(0)));
  return (point) => points.has(point);
}

/** Returns a test that passes if any of the tests does. */
export function anyOf(tests: readonly CharacterTest[]): CharacterTest {
  const [only] = tests;
  if (tests.length === 1 && only !== undefined) return only;
  return (point) => tests.some((test) => test(point));
}

/** Returns the negated test. */
export function noneOf(test: CharacterTest): CharacterTest {
  return (point) => !test(point);
}

/** Returns a test for one code point or, with a `high` one, for a range. */
export function rangeTest(low: number, high: number = low): CharacterTest {
  return low === high ? (point) => point === low : (point) => low <= point && point <= high;
}

const digit = between(['0', '9']);
const lower = between(['a', 'z']);
const upper = between(['A', 'Z']);
const alpha = anyOf([lower, upper]);
const alnum = anyOf([alpha, digit]);

/** The set that `\w` matches and `\b` uses. */
export const isWord: CharacterTest = anyOf([alnum, oneOf('_')]);

/** `\d`, `\s` and `\w`; the capitals are their complements. */
export const perlSets: Readonly<Partial<Record<string, CharacterTest>>> = {
  d: digit,
  s: oneOf('\t\n\f\r '),
  w: isWord,
};

/** `[:alpha:]` and so on. */
export const posixSets: Readonly<Partial<Record<string, CharacterTest>>> = {
  alnum,
  alpha,
  digit,
  lower,
  upper,
  ascii: rangeTest(0, 0x7f),
  blank: oneOf('\t '),
  cntrl: anyOf([rangeTest(0, 0x1f), rangeTest(0x7f)]),
  graph: between(['!', '~']),
  print: between([' ', '~']),
  punct: between(['!', '/'], [':', '@'], ['[', '`'], ['{', '~']),
  space: oneOf('\t\n\v\f\r '),
  word: isWord,
  xdigit: anyOf([digit, between(['a', 'f'], ['A', 'F'])]),
};

/** Returns the test for a Unicode category (`L`, `Lu`) or script (`Greek`); undefined for unknown names. */
export function unicodeSet(name: string): CharacterTest | undefined {
  if (name === 'Any') return () => true;
  if (!/^[A-Z][A-Za-z_]*$/.test(name)) return undefined;
  const isCategory = name.length <= 2;
  try {
    const pattern = new RegExp(`^\\p{${isCategory ? name : `Script=${name}`}}$`, 'u');
    return (point) => pattern.test(String.fromCodePoint(point));
  } catch {
    return undefined;
  }
}

/** Returns a case-insensitive test. */
export function foldedTest(test: CharacterTest): CharacterTest {
  return (point) => test(point) || caseVariants(point).some(test);
}

function caseVariants(point: number): readonly number[] {
  const character = String.fromCodePoint(point);
  const small = character.toLowerCase();
  const capital = character.toUpperCase();
  const texts = [small, capital, small.toUpperCase(), capital.toLowerCase()];
  const single = texts.filter((text) => Array.from(text).length === 1);
  const points = single.map((text) => text.codePointAt(0) ?? point);
  // The long s and the Kelvin sign fold to letters and back.
  if (small === 's') points.push(0x17f);
  if (small === 'k') points.push(0x212a);
  return points;
}
