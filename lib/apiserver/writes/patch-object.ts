import {
  applyJsonPatch,
  goText,
  JsonPatchError,
  isDeeperThan,
  isJsonObject,
  setMember,
  StrategicMergePatchError,
  applyStrategicMergePatch,
  applyMergePatch,
  apiVersionOf,
} from '../../object/index.js';
import type { JsonPatchOperation, UnstructuredObject } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { jsonTypeName } from '../go-json/decoding.js';
import { badRequest, failure, internalFailure } from '../status-error.js';
import { depthLimit } from './write-request.js';
import type { PatchedText, RawObject } from './write-request.js';

/** A patch other than an apply, as the client sent it. */
export interface PatchBody {
  readonly type: 'json' | 'merge' | 'strategic';
  readonly value: unknown;
  /** JSON paths of duplicate members. */
  readonly duplicates: readonly string[];
}

const operationsLimit = 10_000;

/**
 * Applies a patch to `live`. The caller decodes the result.
 * @throws StatusError 400, 413 or 422: the patch cannot be applied.
 */
export function patchObject(
  kind: ServedKind,
  live: UnstructuredObject,
  patch: PatchBody,
): RawObject {
  const patched = shallow(() => patchedValue(kind, live, patch));
  if (!isJsonObject(patched)) throw rejected();
  const own = { apiVersion: apiVersionOf(kind.type), kind: kind.type.kind };
  // Strategic patches are merged into Go's struct, which has no `apiVersion` and `kind` of its own.
  if (patch.type === 'strategic') {
    return { value: { ...patched, ...own }, duplicates: patch.duplicates, sortsUnknown: true };
  }
  const { duplicates } = patch;
  if (kind.custom !== undefined) return { value: patched, duplicates };
  if ((patched['apiVersion'] ?? null) === null) throw unnamed(live);
  return { value: { ...patched, kind: patched['kind'] ?? own.kind }, duplicates };
}

/** Without a version, the real server decodes nothing of an object, not even its name. */
function unnamed({ metadata: { name = '' } }: UnstructuredObject): Error {
  return badRequest(
    `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
  );
}

/**
 * Returns the text that the real server quotes if it cannot decode a patched object: the patch itself if it is
 * strategic, else the patched object. The real server's JSON patch library sorts the members of each object that the
 * patch changes.
 */
export function patchedText(
  kind: ServedKind,
  live: UnstructuredObject,
  patch: PatchBody,
): PatchedText {
  if (patch.type === 'strategic') return { value: goText(patch.value), converted: true };
  const { value } = patchObject(kind, live, patch);
  // Go keeps a custom resource as maps, whose members it always sorts.
  const before = kind.custom === undefined ? live : undefined;
  const sorted = sortedWhereChanged(value, before, patch.type === 'merge');
  return { value: JSON.stringify(sorted), converted: false };
}

/** @param opensLists - True if the library also sorts the members of objects in changed lists, as for a merge patch. */
function sortedWhereChanged(value: unknown, live: unknown, opensLists: boolean): unknown {
  if (value === live) return value;
  if ((live === undefined || opensLists) && Array.isArray(value)) {
    return value.map((item: unknown) => sortedWhereChanged(item, undefined, opensLists));
  }
  if (!isJsonObject(value)) return value;
  const old = isJsonObject(live) ? live : {};
  const names = Object.keys(value).sort();
  return Object.fromEntries(
    names.map((name) => [name, sortedWhereChanged(value[name], old[name], opensLists)]),
  );
}

/**
 * Runs `make` and checks the depth of its result.
 * @throws StatusError 400: several patches, each of acceptable depth, have made the object too
 *   deep.
 */
function shallow(make: () => unknown): unknown {
  const tooDeep = badRequest('the patch makes the object exceed max depth');
  let made: unknown;
  try {
    made = make();
  } catch (error) {
    // JavaScript throws a RangeError if its stack overflows.
    throw error instanceof RangeError ? tooDeep : error;
  }
  if (isDeeperThan(made, depthLimit)) throw tooDeep;
  return made;
}

function patchedValue(kind: ServedKind, live: UnstructuredObject, patch: PatchBody): unknown {
  switch (patch.type) {
    case 'json':
      return jsonPatched(live, patch.value);
    case 'merge':
      if (patch.value === null) throw badRequest('Invalid JSON Patch');
      if (!isJsonObject(patch.value)) {
        throw badRequest(
          `error decoding patch: json: cannot unmarshal ${jsonTypeName(patch.value)} into Go value of type map[string]interface {}`,
        );
      }
      return applyMergePatch(live, withoutNullsInLists(patch.value));
    case 'strategic':
      // Go reads null as a patch without members.
      return strategicPatched(kind, live, patch.value ?? {});
  }
}

/** Drops null members of objects in lists: the real server's library treats them as removed, unlike RFC 7396. */
function withoutNullsInLists(patch: unknown, inList = false): unknown {
  if (Array.isArray(patch)) return patch.map((item) => withoutNullsInLists(item, true));
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(patch)) {
    if (!inList || value !== null) setMember(result, name, withoutNullsInLists(value, inList));
  }
  return result;
}

function jsonPatched(live: UnstructuredObject, value: unknown): unknown {
  // Go reads null as an empty list.
  if (value === null) return live;
  if (!Array.isArray(value)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(value)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  const wrong = value.find((operation: unknown) => !isJsonObject(operation)) as unknown;
  if (wrong !== undefined) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonTypeName(wrong)} into Go value of type handlers.jsonPatchOp`,
    );
  }
  if (value.length > operationsLimit) {
    const message = `Request entity too large: The allowed maximum operations in a JSON patch is ${operationsLimit}, got ${value.length}`;
    throw failure(413, 'RequestEntityTooLarge', message);
  }
  try {
    return applyJsonPatch(live, value as readonly JsonPatchOperation[], { dialect: 'kubernetes' });
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    throw rejected();
  }
}

/** Returns the real server's error for a JSON patch that does not fit the object. */
function rejected(): Error {
  const message = 'the server rejected our request due to an error in our request';
  return failure(422, 'Invalid', message, {});
}

function strategicPatched(kind: ServedKind, live: UnstructuredObject, value: unknown): unknown {
  if (!isJsonObject(value)) {
    const type = 'map[string]interface {}';
    throw badRequest(`json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${type}`);
  }
  try {
    return applyStrategicMergePatch(live, value, kind.schema());
  } catch (error) {
    if (error instanceof StrategicMergePatchError) throw misfit(error);
    throw error;
  }
}

function misfit({ status, message }: StrategicMergePatchError): Error {
  if (status === 400) return badRequest(message);
  if (status === 500) return internalFailure(message);
  return failure(422, 'Invalid', message, {});
}
