import omit from 'lodash/omit.js';
import type { Client } from '../client/index.js';
import { getIfExists } from '../client/index.js';
import { isJsonObject, createMergePatch, keyOf } from '../object/index.js';
import type { UnstructuredObject, ResourceType } from '../object/index.js';
import { lastAppliedAnnotation } from '../feed/index.js';

/** Options of applying a file, named as in `kubectl apply`. */
export interface ApplyingOptions {
  /** Use server-side apply. @defaultValue whether the last apply was server-side */
  readonly serverSide?: boolean | undefined;
  /** Field manager. @defaultValue the last server-side applier's; otherwise `kubectl` */
  readonly fieldManager?: string | undefined;
  /** Take fields from other managers in a server-side apply. @defaultValue false */
  readonly forceConflicts?: boolean | undefined;
  /** Namespace for namespaced objects without one. */
  readonly namespace: string;
  readonly signal: AbortSignal;
}

const clientSideManager = 'kubectl-client-side-apply';

/** As in kubectl: reject misspelled fields instead of dropping them. */
const fieldValidation = 'Strict' as const;

/**
 * Returns the result of `kubectl apply` for an object in a file. An object that was applied server-side is applied
 * server-side again, by the same field manager. Fields missing from the file are removed, and fields of other managers
 * conflict. Any other object is merged three ways with kubectl's last-applied annotation; without the annotation,
 * fields missing from the file stay.
 * @throws OperatorError `UnknownKind`: the cluster does not serve its kind
 * @throws ApiError the cluster rejects the object or an unknown field; a conflict
 */
export async function applyResource(
  object: UnstructuredObject,
  client: Client,
  options: ApplyingOptions,
): Promise<UnstructuredObject> {
  const { signal, forceConflicts = false } = options;
  const type = await client.resourceType(object);
  const { metadata } = object;
  const place = type.namespaced ? { namespace: metadata.namespace ?? options.namespace } : {};
  const given = { ...object, metadata: { ...metadata, ...place } };
  const live = await getIfExists(client, type as ResourceType, keyOf(given), { signal });
  const former = live === undefined ? undefined : applierOf(live);
  if (options.serverSide ?? former !== undefined) {
    const fieldManager = options.fieldManager ?? former ?? 'kubectl';
    const force = forceConflicts;
    const applied = await client.apply(given, { fieldManager, force, fieldValidation, signal });
    return applied.object;
  }
  const noted = withNote(given);
  const { fieldManager = clientSideManager } = options;
  const writing = { fieldManager, fieldValidation, signal };
  if (live === undefined) return client.create(noted, writing);
  const body = threeWayPatch({ last: lastApplied(live), given: noted, live });
  if (Object.keys(body).length === 0) return live;
  const patch = { type: 'merge', body } as const;
  return client.patch<UnstructuredObject>(type as ResourceType, keyOf(given), patch, writing);
}

/** Returns the manager that applied the object server-side and owns fields of its spec. */
function applierOf({ metadata }: UnstructuredObject): string | undefined {
  const entries = (metadata.managedFields ?? []).filter(
    ({ operation, subresource = '', fieldsV1 = {} }) =>
      operation === 'Apply' && subresource === '' && 'f:spec' in fieldsV1,
  );
  const managers = [...new Set(entries.map(({ manager = '' }) => manager))];
  if (managers.includes('kubectl')) return 'kubectl';
  // With several managers, the owner of the file is ambiguous.
  return managers.length === 1 ? managers[0] : undefined;
}

function withNote(object: UnstructuredObject): UnstructuredObject {
  const { annotations = {}, ...metadata } = object.metadata;
  const own = omit(annotations, lastAppliedAnnotation);
  const noted = { ...object, metadata: { annotations: own, ...metadata } };
  const note = `${JSON.stringify(sorted(noted))}\n`;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...own, [lastAppliedAnnotation]: note } },
  };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

function lastApplied({ metadata }: UnstructuredObject): object {
  const note = metadata.annotations?.[lastAppliedAnnotation];
  if (note === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(note);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    // An invalid annotation counts as absent; the next apply replaces it.
    return {};
  }
}

interface ThreeWays {
  readonly last: object;
  readonly given: UnstructuredObject;
  readonly live: UnstructuredObject;
}

/** Returns a merge patch that sets the fields of the file, and removes fields that only the last applied file had. */
function threeWayPatch({ last, given, live }: ThreeWays): Record<string, unknown> {
  const set = onlySet(createMergePatch(live, given));
  const unset = onlyUnset(createMergePatch(last, given), live);
  return merged(unset, set);
}

/** Returns the part of `patch` that removes fields of `live`. */
function onlyUnset(patch: Record<string, unknown>, live: unknown): Record<string, unknown> {
  const there = isJsonObject(live) ? live : {};
  const entries = Object.entries(patch).flatMap(([name, value]): [string, unknown][] => {
    if (value === null) return there[name] === undefined ? [] : [[name, null]];
    if (!isJsonObject(value)) return [];
    const inner = onlyUnset(value, there[name]);
    return Object.keys(inner).length === 0 ? [] : [[name, inner]];
  });
  return Object.fromEntries(entries);
}

/** Drops removals, and objects that contain only removals. */
function onlySet(patch: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(patch).flatMap(([name, value]): [string, unknown][] => {
    if (!isJsonObject(value)) return value === null ? [] : [[name, value]];
    const inner = onlySet(value);
    const isEmpty = Object.keys(inner).length === 0 && Object.keys(value).length > 0;
    return isEmpty ? [] : [[name, inner]];
  });
  return Object.fromEntries(entries);
}

function merged(
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const result: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const mine = result[name];
    result[name] = isJsonObject(mine) && isJsonObject(value) ? merged(mine, value) : value;
  }
  return result;
}
