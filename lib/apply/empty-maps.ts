import omit from 'lodash/omit.js';
import { fieldElement, parsePathElement, pathToString } from '../object/field-path.js';
import type { FieldPath } from '../object/field-path.js';
import { FieldSet } from '../object/field-set.js';
import { elementsOf, isLeaf } from '../object/field-tree.js';
import type { FieldNode } from '../object/field-tree.js';
import { formatJsonPointer } from '../object/json-pointer.js';
import { isJsonObject, memberOf } from '../object/json.js';
import type { JsonPatchOperation } from '../object/json-patch.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { appliedFields } from '../object/managed-fields.js';
import { hasKeys } from '../object/value-at-path.js';
import type { ApplyContext } from './context.js';
import type { Pair } from './desired-object.js';
import { builtInType } from './kind-traits.js';

/**
 * Empties the maps of a custom resource that are desired without members and hold only our fields. An apply
 * can't: the server removes the last field, replaces the remaining map by null (`{d: 3}`, then `{}`), and the
 * schema refuses null. Built-in kinds read null as empty.
 * @returns the object after the write, or `live` if there is nothing to empty
 */
export async function emptyMaps(
  context: ApplyContext,
  { desired, live }: Pair,
): Promise<UnstructuredObject> {
  const { controllerName, signal } = context.settings;
  const maps = mapsToEmpty({ desired, live }, controllerName);
  if (maps.length === 0) return live;
  const replaced = maps.map(({ pointer, to }): JsonPatchOperation => {
    return { op: 'replace', path: formatJsonPointer(pointer), value: to };
  });
  const { resourceVersion } = live.metadata;
  // Guards the patch: the list indices are valid only for the version that was read.
  const version = {
    op: 'replace',
    path: '/metadata/resourceVersion',
    value: resourceVersion,
  } as const;
  const changes = maps.map(({ path, from, to }) => ({ path: pathToString(path), from, to }));
  context.announce(desired.ref, { changes });
  const options = { fieldManager: controllerName, signal };
  const { type, ref } = desired;
  const operations = [...replaced, version];
  return (await context.client.patch(
    type,
    ref,
    { type: 'json', operations },
    options,
  )) as UnstructuredObject;
}

/** A map to empty. */
interface FullMap {
  readonly path: FieldPath;
  /** The path in the live object. */
  readonly pointer: readonly string[];
  readonly from: unknown;
  readonly to: unknown;
}

function mapsToEmpty({ desired, live }: Pair, manager: string): readonly FullMap[] {
  const ours = builtInType(live) === undefined ? appliedFields(live, manager) : undefined;
  if (ours === undefined) return [];
  const others = (live.metadata.managedFields ?? [])
    .filter((entry) => entry.manager !== manager || entry.operation !== 'Apply')
    .map(({ fieldsV1 = {} }) => FieldSet.fromFieldsV1(fieldsV1));
  const fields = omit(desired.object, ['apiVersion', 'kind', 'metadata']);
  return membersToEmpty({ desired: fields, live, node: ours.root, path: [], pointer: [] }, others);
}

/** A position in the desired object, in the live object and in the set of our fields. */
interface Place {
  readonly desired: unknown;
  readonly live: unknown;
  readonly node: FieldNode | undefined;
  readonly path: FieldPath;
  readonly pointer: readonly string[];
}

function below(place: Place, others: readonly FieldSet[]): readonly FullMap[] {
  const { desired, live, node, path, pointer } = place;
  // An atomic list or map stays ours when it is empty.
  if (node === undefined || isLeaf(node)) return [];
  if (Array.isArray(desired)) return itemsToEmpty(place, others);
  if (!isJsonObject(desired) || !isJsonObject(live)) return [];
  const isFull = holdsNothing(desired, node) && Object.keys(live).length > 0;
  if (isFull && isOurs(live, node) && !others.some((set) => isUsed(set, path))) {
    return [{ path, pointer, from: live, to: desired }];
  }
  return membersToEmpty(place, others);
}

function membersToEmpty(
  { desired, live, node, path, pointer }: Place,
  others: readonly FieldSet[],
): readonly FullMap[] {
  return Object.entries(desired as Readonly<Record<string, unknown>>).flatMap(([name, member]) => {
    const element = fieldElement(name);
    const place = {
      ...{ desired: member, live: isJsonObject(live) ? memberOf(live, name) : undefined },
      ...{ node: node?.[element], path: [...path, element], pointer: [...pointer, name] },
    };
    return below(place, others);
  });
}

function itemsToEmpty(
  { desired, live, node = {}, path, pointer }: Place,
  others: readonly FieldSet[],
): readonly FullMap[] {
  if (!Array.isArray(desired) || !Array.isArray(live)) return [];
  const wanted: readonly unknown[] = desired;
  const there: readonly unknown[] = live;
  return elementsOf(node).flatMap((element) => {
    const parsed = parsePathElement(element);
    if (parsed.type !== 'key') return [];
    const isItem = (item: unknown): boolean => hasKeys(item, parsed.keys, false);
    const index = there.findIndex(isItem);
    const place = {
      ...{ desired: wanted.find(isItem), live: there[index], node: node[element] },
      ...{ path: [...path, element], pointer: [...pointer, String(index)] },
    };
    return below(place, others);
  });
}

// The server drops an empty list that is not atomic, and the map around it.
function holdsNothing(desired: Readonly<Record<string, unknown>>, node: FieldNode): boolean {
  return Object.entries(desired).every(([name, member]) => {
    const child = node[fieldElement(name)];
    const isWhole = child !== undefined && isLeaf(child);
    return Array.isArray(member) && member.length === 0 && !isWhole;
  });
}

/** Returns true if the set contains the whole map. */
function isOurs(live: Readonly<Record<string, unknown>>, node: FieldNode): boolean {
  return Object.entries(live).every(([name, member]) => {
    const child = node[fieldElement(name)];
    if (child === undefined) return false;
    if (isLeaf(child)) return true;
    if (Array.isArray(member)) return elementsOf(child).length >= member.length;
    return isJsonObject(member) && isOurs(member, child);
  });
}

/** Returns true if the set has a field below `path`. */
function isUsed(set: FieldSet, path: FieldPath): boolean {
  return !path.reduce((rest, element) => rest.below(element), set).isEmpty;
}
