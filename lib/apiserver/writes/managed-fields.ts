import type { ObjectMeta, UnstructuredObject } from '../../object/index.js';
import { apiVersionOf, groupOf, versionOf } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { failure, internalFailure, badRequest, isStatusError } from '../status-error.js';
import {
  ApplyConflictError,
  BadApplyError,
  TypedConversionError,
  excludeFields,
  fieldManagerApply,
  fieldManagerUpdate,
} from '../structured-merge/index.js';
import type {
  FieldFilter,
  FieldManagerOptions,
  VersionConverter,
} from '../structured-merge/index.js';
import type { WriteRequest } from './write-request.js';

/** Returns `next` with `managedFields` that record the changes of `request.manager`. */
export function trackUpdate(
  core: ServerCore,
  request: WriteRequest,
  live: UnstructuredObject | undefined,
  next: UnstructuredObject,
): UnstructuredObject {
  return fieldManagerUpdate(live, next, optionsOf(core, request));
}

const empties = new WeakMap<ServedKind, UnstructuredObject>();

/**
 * Returns the zero value of a built-in kind's Go struct, from which an object is created. The fields of the
 * zero value have no owner.
 */
function emptyObjectOf(kind: ServedKind): UnstructuredObject | undefined {
  if (kind.custom !== undefined) return undefined;
  const empty = empties.get(kind) ?? kind.decode({}).object;
  empties.set(kind, empty);
  return empty;
}

/** The input of a server-side apply. */
export interface ApplyRequest {
  readonly write: WriteRequest;
  readonly applied: UnstructuredObject;
  readonly force: boolean;
}

/**
 * Server-side apply: returns `live` with the fields of `applied` merged in, before defaults.
 * @throws StatusError 409 with the conflicts, 400, or 500 if a body does not fit its schema.
 */
export function applyFields(
  core: ServerCore,
  { write, applied, force }: ApplyRequest,
  live: UnstructuredObject | undefined,
): UnstructuredObject {
  try {
    return fieldManagerApply(live, applied, { force, ...optionsOf(core, write) });
  } catch (error) {
    if (error instanceof ApplyConflictError) throw applyConflict(error);
    if (error instanceof TypedConversionError) throw internalFailure(error.message);
    if (error instanceof BadApplyError) throw badRequest(error.message);
    throw error;
  }
}

/** Returns whether an apply changed nothing but the managers and the annotation of `kubectl`. */
export function isSameButManagers(merged: UnstructuredObject, live: UnstructuredObject): boolean {
  const [next, old] = [merged.metadata, live.metadata];
  return (
    isSameBut(merged, live, 'metadata') &&
    isSameBut(next, old, 'managedFields', 'annotations') &&
    haveSameAnnotations(next, old)
  );
}

/**
 * Returns whether an apply kept the annotations, except that of `kubectl`. Null counts as missing, but an empty map
 * does not.
 */
function haveSameAnnotations(merged: ObjectMeta, live: ObjectMeta): boolean {
  const [next, old] = [annotationsOf(merged), annotationsOf(live)];
  if (next === undefined || old === undefined) return next === old;
  return isSameBut(next, old, lastApplied);
}

function annotationsOf({ annotations }: ObjectMeta): ObjectMeta['annotations'] {
  return annotations ?? undefined;
}

/** `kubectl` writes this annotation with each apply. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns whether two objects share all members, except the members named in `except`. */
function isSameBut(one: object, other: object, ...except: readonly string[]): boolean {
  const [left, right] = [one, other] as readonly Readonly<Record<string, unknown>>[];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  for (const name of except) names.delete(name);
  return [...names].every((name) => left?.[name] === right?.[name]);
}

function applyConflict(error: ApplyConflictError): Error {
  return failure(409, 'Conflict', error.message, { causes: error.causes });
}

function optionsOf(core: ServerCore, request: WriteRequest): FieldManagerOptions {
  const { kind, subresource, manager } = request;
  return {
    manager,
    apiVersion: apiVersionOf(kind.type),
    schema: kind.schema(),
    now: core.clock.now(),
    subresource,
    customResource: kind.custom !== undefined,
    emptyObject: emptyObjectOf(kind),
    resetFields: resetFieldsOf(kind, subresource),
    convert: converterOf(core, kind),
  };
}

/** Drops the fields that the endpoint resets: clients that write through it cannot own them. */
function resetFieldsOf(kind: ServedKind, subresource: string | undefined): FieldFilter | undefined {
  const filter = resetsOf(kind, subresource);
  if (kind.custom === undefined || filter === undefined || subresource === 'status') return filter;
  const own = apiVersionOf(kind.type);
  // The filter names fields of one version. As on the real server, it does not apply to fields of other versions.
  return (set, apiVersion) => (apiVersion === own ? filter(set, apiVersion) : set);
}

function resetsOf(kind: ServedKind, subresource: string | undefined): FieldFilter | undefined {
  const resets = kind.rules.resets?.[subresource ?? ''];
  if (resets !== undefined) return excludedFields(resets);
  if (subresource === 'status') return withoutSpec;
  // As on the real server: these endpoints ignore fields outside their part, but the sender owns them nevertheless.
  if (kind.rules.partRules?.[subresource ?? ''] !== undefined) return undefined;
  const hasStatus = kind.custom?.hasStatus ?? kind.subresources.has('status');
  return hasStatus ? withoutStatus : undefined;
}

const withoutSpec = excludeFields('spec');
const withoutStatus = excludeFields('status');
// The filters that `excludedFields` has made, by their paths.
const filters = new WeakMap<readonly string[], FieldFilter>();

function excludedFields(paths: readonly string[]): FieldFilter {
  let filter = filters.get(paths);
  if (filter === undefined) filters.set(paths, (filter = excludeFields(...paths)));
  return filter;
}

function converterOf(core: ServerCore, kind: ServedKind): VersionConverter {
  const servedIn = (apiVersion: string): ServedKind | undefined => {
    const found = core.kinds.findKind(groupOf(apiVersion), versionOf(apiVersion), kind.type.kind);
    return found?.collection === kind.collection ? found : undefined;
  };
  return (object, apiVersion) => {
    const target = servedIn(apiVersion);
    if (target === undefined) return undefined;
    const source = servedIn(object.apiVersion) ?? kind;
    const converted = converting(() => convertedTo(target, source, object));
    return { object: converted, schema: target.schema() };
  };
}

/** @throws TypedConversionError a webhook could not convert an object. */
function converting(convert: () => UnstructuredObject): UnstructuredObject {
  try {
    return convert();
  } catch (error) {
    if (isStatusError(error)) throw new TypedConversionError(error.body.message ?? '');
    throw error;
  }
}

function convertedTo(
  target: ServedKind,
  source: ServedKind,
  object: UnstructuredObject,
): UnstructuredObject {
  if (target === source) return object;
  if (target.custom === undefined) return target.fromStorage(source.toStorage(object));
  const apiVersion = apiVersionOf(target.type);
  // Without a webhook, versions differ in their schemas only. Unlike in a read, unknown fields stay.
  return target.conversions?.convert(object, apiVersion) ?? { ...object, apiVersion };
}
