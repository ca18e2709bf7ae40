/** Further requirements for a string that matches a pattern. */
interface PatternText {
  /** Preferred strings, if they match. */
  readonly candidates: readonly string[];
  readonly minLength: number;
  readonly maxLength: number;
  /** Picks alternatives and characters. @defaultValue the first */
  readonly pick?: Pick;
}

/** Picks one of several; the first by default. */
type Pick = <T>(choices: readonly [T, ...T[]]) => T;

const first: Pick = ([choice]) => choice;

/** Limit of repetitions of `*`, `+` and similar beyond the minimum. */
const maxRepeats = 64;

/**
 * Returns a string that a regular expression matches: one of the candidates, or one that is built from the pattern with
 * few repetitions. Undefined if none is found; lookarounds and back-references are not supported.
 */
export function textOfPattern(pattern: string, wanted: PatternText): string | undefined {
  const form = regExpOf(pattern);
  if (form === undefined) return undefined;
  const isFine = (text: string): boolean =>
    text.length >= wanted.minLength && text.length <= wanted.maxLength && form.test(text);
  const { candidates, pick = first } = wanted;
  const candidate = candidates.find(isFine);
  if (candidate !== undefined) return candidate;
  for (let repeats = 0; repeats <= maxRepeats; repeats++) {
    const { text } = alternatives({ pattern, at: 0, repeats, pick });
    if (isFine(text)) return text;
  }
  return undefined;
}

function regExpOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

interface Reading {
  readonly pattern: string;
  readonly at: number;
  readonly repeats: number;
  readonly pick: Pick;
}

/** Text for a part of a pattern, and the end of the part. */
interface Made {
  readonly text: string;
  readonly end: number;
}

/** Reads `a|b|c` up to the end or a closing bracket; picks an alternative. */
function alternatives(reading: Reading): Made {
  const { pattern, pick } = reading;
  const made: [Made, ...Made[]] = [sequence(reading)];
  let { end } = made[0];
  while (pattern[end] === '|') {
    made.push(sequence({ ...reading, at: end + 1 }));
    end = made.at(-1)?.end ?? end;
  }
  return { text: pick(made).text, end };
}

function sequence(reading: Reading): Made {
  const { pattern, repeats } = reading;
  let text = '';
  let at = reading.at;
  while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
    const atom = atomAt({ ...reading, at });
    const { least, most, end } = quantifierAt(pattern, atom.end);
    text += atom.text.repeat(Math.min(most, least + repeats));
    at = end;
  }
  return { text, end: at };
}

function quantifierAt(pattern: string, at: number) {
  const [whole, sign = '', low = '', comma = '', high = ''] =
    /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(pattern.slice(at)) ?? [];
  if (whole === undefined) return { least: 1, most: 1, end: at };
  const end = at + whole.length;
  if (sign !== '') return { least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity, end };
  const least = Number(low);
  if (comma === '') return { least, most: least, end };
  return { least, most: high === '' ? Infinity : Number(high), end };
}

function atomAt(reading: Reading): Made {
  const { pattern, at } = reading;
  const character = pattern[at] ?? '';
  if (character === '(') {
    const start = at + (/^\(\?(?::|<\w+>)/.exec(pattern.slice(at))?.[0].length ?? 1);
    const { text, end } = alternatives({ ...reading, at: start });
    return { text, end: end + 1 };
  }
  if (character === '[') return classAt(reading);
  if (character === '\\') {
    const letter = pattern[at + 1] ?? '';
    return { text: escapes[letter] ?? letter, end: at + 2 };
  }
  if (character === '^' || character === '$') return { text: '', end: at + 1 };
  return { text: character === '.' ? 'a' : character, end: at + 1 };
}

const escapes: Readonly<Record<string, string>> = {
  b: '',
  B: '',
  A: '',
  z: '',
  d: '0',
  w: 'a',
  s: ' ',
  D: 'a',
  W: '-',
  S: 'a',
  t: '\t',
  n: '\n',
};

/** Printable characters, common ones first. */
const characters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
const preferred = ['a', 'A', '0', ...characters];

function classAt({ pattern, at, pick }: Reading): Made {
  const [whole = '['] = /^\[\^?\]?(?:\\.|[^\]\\])*\]/.exec(pattern.slice(at)) ?? [];
  const form = regExpOf(whole);
  const [text = '', ...others] = preferred.filter((one) => form?.test(one));
  return { text: pick([text, ...others]), end: at + whole.length };
}
