import { memberSchemaOf, patchStrategiesOf } from './schema.js';
import { isJsonObject, memberOf, setMember } from './json.js';
import type { Schema } from './schema.js';
import { patchDirective, withoutDirectives, withoutNulls } from './strategic-merge-directives.js';
import { badArgument, badPatch, unknownDirective } from './strategic-merge-errors.js';
import { mergeLists, orderedLists } from './strategic-merge-lists.js';
import type { ListStrategy } from './strategic-merge-lists.js';

type JsonMap = Readonly<Record<string, unknown>>;

const retainKeys = '$retainKeys';
const elementOrder = '$setElementOrder';
const deleteFromList = '$deleteFromPrimitiveList';

/**
 * Applies a strategic merge patch: maps are merged, and `null` removes. Lists are merged by their
 * `x-kubernetes-patch-merge-key` if `x-kubernetes-patch-strategy` has `merge`, else replaced. Directives:
 * `$patch: replace | delete`, `$retainKeys`, `$setElementOrder/<list>`, `$deleteFromPrimitiveList/<list>`.
 * Behaves like `k8s.io/apimachinery`'s `strategicpatch`.
 * @param original - Not changed; the result shares its unchanged parts.
 * @param schema - The schema of `original`.
 * @throws StrategicMergePatchError: the patch is malformed or does not fit.
 */
export function applyStrategicMergePatch(
  original: JsonMap,
  patch: JsonMap,
  schema: Schema | undefined,
): Record<string, unknown> {
  return mergeMaps(original, patch, schema);
}

function mergeMaps(
  original: JsonMap,
  patch: JsonMap,
  schema: Schema | undefined,
): Record<string, unknown> {
  const how = memberOf(patch, patchDirective);
  if (how !== undefined) return replaced(how, patch);
  const result: Record<string, unknown> = { ...original };
  const rest: Record<string, unknown> = { ...patch };
  retain(result, rest);
  orderElements(result, rest, schema);
  for (const name of Object.keys(rest)) {
    const deletes = name.startsWith(deleteFromList);
    const field = deletes ? nameAfter(name, deleteFromList) : name;
    mergeMember(result, { field, value: rest[name], deletes }, schema);
  }
  return result;
}

function replaced(how: unknown, patch: JsonMap): Record<string, unknown> {
  if (how === 'delete') return {};
  if (how !== 'replace') throw unknownDirective(how, patch);
  const rest = { ...patch };
  Reflect.deleteProperty(rest, patchDirective);
  return rest;
}

/** Removes every field that `$retainKeys` does not name. */
function retain(result: Record<string, unknown>, patch: Record<string, unknown>): void {
  const keys = memberOf(patch, retainKeys);
  if (keys === undefined) return;
  Reflect.deleteProperty(patch, retainKeys);
  const message = 'invalid patch format of retainKeys';
  if (!Array.isArray(keys)) throw badPatch(message);
  const kept = new Set<unknown>(keys);
  for (const [name, value] of Object.entries(patch)) {
    const isList = name.startsWith(deleteFromList) || name.startsWith(elementOrder);
    if (value !== null && !isList && !kept.has(name)) throw badPatch(message);
  }
  for (const name of Object.keys(result)) if (!kept.has(name)) Reflect.deleteProperty(result, name);
}

/** Merges the lists with a `$setElementOrder`, and removes them from `patch`. */
function orderElements(
  result: Record<string, unknown>,
  patch: Record<string, unknown>,
  schema: Schema | undefined,
): void {
  for (const name of Object.keys(patch).filter((each) => each.startsWith(elementOrder))) {
    const order = asList(patch[name]);
    Reflect.deleteProperty(patch, name);
    const field = nameAfter(name, elementOrder);
    const [old, change] = [memberOf(result, field), memberOf(patch, field)];
    const lists = {
      order,
      original: old === undefined ? undefined : asList(old),
      patch: change === undefined ? undefined : asList(change),
    };
    const merged = orderedLists(lists, strategyOf(schema, field));
    if (merged === undefined) continue;
    setMember(result, field, merged);
    Reflect.deleteProperty(patch, field);
  }
}

function asList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  throw badArgument('[]interface {}', value);
}

function nameAfter(name: string, prefix: string): string {
  const slash = name.indexOf('/');
  if (slash >= 0 && name.slice(0, slash) === prefix) return name.slice(slash + 1);
  const list = prefix === deleteFromList ? 'primitive' : 'setElementOrder';
  throw badPatch(`invalid patch format of ${list} list`);
}

interface MemberPatch {
  readonly field: string;
  readonly value: unknown;
  /** `value` lists the scalars to delete. */
  readonly deletes: boolean;
}

function mergeMember(
  result: Record<string, unknown>,
  { field, value, deletes }: MemberPatch,
  schema: Schema | undefined,
): void {
  if (value === null || value === undefined) {
    Reflect.deleteProperty(result, field);
    return;
  }
  const old = memberOf(result, field);
  if (isJsonObject(old) && isJsonObject(value)) {
    setMember(result, field, mergedMap(old, value, fieldSchema(schema, field)));
  } else if (Array.isArray(old) && Array.isArray(value)) {
    const strategy = strategyOf(schema, field);
    const merges = strategy.merges || deletes;
    setMember(result, field, merges ? mergeLists(old, value, { ...strategy, deletes }) : value);
  } else if (!deletes) {
    replaceMember(result, field, value);
  }
}

function mergedMap(old: JsonMap, value: JsonMap, schema: Schema | undefined): JsonMap {
  return patchStrategiesOf(schema).includes('replace') ? value : mergeMaps(old, value, schema);
}

// A new value is not merged, so its nulls and directives are dropped.
function replaceMember(result: Record<string, unknown>, field: string, value: unknown): void {
  const plain = withoutDirectives(withoutNulls(value));
  if (plain === undefined) Reflect.deleteProperty(result, field);
  else setMember(result, field, plain);
}

function fieldSchema(schema: Schema | undefined, field: string): Schema | undefined {
  if (schema === undefined) return undefined;
  const { allOf } = schema;
  const base = allOf?.length === 1 ? allOf[0] : undefined;
  return memberSchemaOf(schema, field) ?? fieldSchema(base, field);
}

function strategyOf(schema: Schema | undefined, field: string): ListStrategy {
  const list = fieldSchema(schema, field);
  return {
    merges: patchStrategiesOf(list).includes('merge'),
    mergeKey: list?.['x-kubernetes-patch-merge-key'] ?? '',
    mergeItems: (old, item) => mergeMaps(old, item, list?.items),
    deletes: false,
  };
}
