import { deepEqual } from './deep-equal.js';
import { formatJsonPointer } from './json-pointer.js';
import type { JsonPatchOperation } from './json-patch.js';
import { isJsonObject, memberOf } from './json.js';

/**
 * Returns the JSON patch (RFC 6902) that changes `from` to `to`; empty if they are equal. Objects are
 * compared member by member; a member that is `undefined` counts as absent. Lists are compared by index, so
 * an inserted item replaces those after it.
 */
export function createJsonPatch(from: unknown, to: unknown): readonly JsonPatchOperation[] {
  return [...changes(from, to, [])];
}

type Path = readonly string[];

function* changes(from: unknown, to: unknown, path: Path): Generator<JsonPatchOperation> {
  if (isJsonObject(from) && isJsonObject(to)) yield* memberChanges(from, to, path);
  else if (Array.isArray(from) && Array.isArray(to)) yield* itemChanges(from, to, path);
  else if (!deepEqual(from, to)) yield { op: 'replace', path: formatJsonPointer(path), value: to };
}

function* memberChanges(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  path: Path,
): Generator<JsonPatchOperation> {
  for (const name of Object.keys(from)) {
    const isGone = memberOf(from, name) !== undefined && memberOf(to, name) === undefined;
    if (isGone) yield { op: 'remove', path: formatJsonPointer([...path, name]) };
  }
  for (const name of Object.keys(to)) {
    const value = memberOf(to, name);
    if (value === undefined) continue;
    const before = memberOf(from, name);
    const inner = [...path, name];
    if (before === undefined) yield { op: 'add', path: formatJsonPointer(inner), value };
    else yield* changes(before, value, inner);
  }
}

function* itemChanges(
  from: readonly unknown[],
  to: readonly unknown[],
  path: Path,
): Generator<JsonPatchOperation> {
  const at = (index: number): Path => [...path, String(index)];
  const shared = Math.min(from.length, to.length);
  for (let index = 0; index < shared; index++) yield* changes(from[index], to[index], at(index));
  // From the end, so that a removal does not shift the indexes of later ones.
  for (let index = from.length - 1; index >= shared; index--) {
    yield { op: 'remove', path: formatJsonPointer(at(index)) };
  }
  for (const value of to.slice(shared)) {
    yield { op: 'add', path: formatJsonPointer([...path, '-']), value };
  }
}
