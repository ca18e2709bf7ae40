import { isJsonObject, withoutMember } from '../object/index.js';

/** The maximum number of candidates that {@link shrunk} tries. */
const mostCandidates = 5_000;

/**
 * Returns a smaller JSON value that still fails: members and items are left out, strings shortened, numbers brought
 * nearer to zero, as long as `fails` returns true.
 * @param value - a value for which `fails` returns true
 */
export function shrunk(value: unknown, fails: (candidate: unknown) => boolean): unknown {
  let smallest = value;
  let tried = 0;
  for (;;) {
    let found = false;
    for (const candidate of smaller(smallest)) {
      if (++tried > mostCandidates) return smallest;
      if (!fails(candidate)) continue;
      smallest = candidate;
      found = true;
      break;
    }
    if (!found) return smallest;
  }
}

/** Yields values that are one step smaller, the smallest first. No sequence of steps is endless. */
function* smaller(value: unknown): Generator {
  if (Array.isArray(value)) yield* smallerLists(value);
  else if (isJsonObject(value)) yield* smallerObjects(value);
  else if (typeof value === 'string') yield* smallerTexts(value);
  else if (typeof value === 'number') yield* smallerNumbers(value);
  else if (value === true) yield false;
}

function* smallerLists(list: readonly unknown[]): Generator<readonly unknown[]> {
  if (list.length > 1) yield [];
  for (const index of list.keys()) yield list.toSpliced(index, 1);
  for (const [index, item] of list.entries()) {
    for (const less of smaller(item)) yield list.with(index, less);
  }
}

function* smallerObjects(object: Readonly<Record<string, unknown>>): Generator<object> {
  const names = Object.keys(object);
  if (names.length > 1) yield {};
  for (const name of names) yield withoutMember(object, name);
  for (const name of names) {
    for (const less of smaller(object[name])) yield { ...object, [name]: less };
  }
}

function* smallerTexts(text: string): Generator<string> {
  const letters = Array.from(text);
  if (letters.length > 1) yield '';
  if (letters.length > 3) yield letters.slice(0, letters.length / 2).join('');
  if (letters.length > 0) yield letters.slice(0, -1).join('');
  const plain = 'a'.repeat(letters.length);
  if (text !== plain) yield plain;
}

function* smallerNumbers(number: number): Generator<number> {
  for (const less of [0, Math.trunc(number / 2), number - Math.sign(number)]) {
    if (Math.abs(less) < Math.abs(number)) yield less;
  }
}
