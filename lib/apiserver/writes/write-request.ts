import { FieldErrors } from '../../crd/internal.js';
import {
  apiVersionOf,
  deepEqual,
  groupOf,
  isJsonObject,
  versionOf,
  quoted,
  withoutMembers,
} from '../../object/index.js';
import type { ObjectMeta, TypeMeta, UnstructuredObject } from '../../object/index.js';
import type { UserInfo } from '../auth/authenticator.js';
import { DecodeError, Decoding, jsonTypeName } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import { definitionName, goTypeName, rawDefinition } from '../kinds/documents.js';
import type { ServedKind } from '../kinds/served-kind.js';
import {
  badRequest,
  failure,
  internalError,
  internalFailure,
  invalid,
  isStatusError,
  otherNamespace,
} from '../status-error.js';
import type { StatusError } from '../status-error.js';

/** The target and options of a write, for all verbs. */
export interface WriteRequest {
  readonly kind: ServedKind;
  readonly subresource: string | undefined;
  /** The namespace; empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** The name; empty for a create. */
  readonly name: string;
  /** The field manager, for `managedFields`. */
  readonly manager: string;
  /** Runs all steps except the commit. */
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** The length of the request's body. @defaultValue 0: the server itself writes */
  readonly bytes?: number | undefined;
  /** Adds a `Warning` header to the answer. */
  readonly warn: (text: string) => void;
  /** The user of the request. @defaultValue the server itself */
  readonly user?: UserInfo | undefined;
  /** Admission hooks in addition to the rules of the kind. @defaultValue none */
  readonly hooks?: WriteHooks | undefined;
}

export interface WriteResult {
  /** The object in the version of the request. */
  readonly object: UnstructuredObject;
  readonly created: boolean;
}

/** A write, in the form in which admission receives it. Its objects are in the version of the request. */
export interface AdmittedWrite {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  /** The object to store, or the options of a CONNECT; absent for a deletion. */
  readonly object: UnstructuredObject | undefined;
  /** The stored object; absent for a create. */
  readonly old: UnstructuredObject | undefined;
  /**
   * Runs the kind's own admission again, after hooks have changed the object. Returns the same object if that changes
   * nothing.
   * @defaultValue the kind's own admission changes no object
   */
  readonly readmit?: (object: UnstructuredObject) => UnstructuredObject;
}

/** Admission hooks of a write, in addition to the rules of its kind. */
export interface WriteHooks {
  /**
   * Runs after defaults and the kind's own admission.
   * @returns the object to write instead
   * @throws StatusError the write is refused.
   */
  admit(write: AdmittedWrite & { readonly object: UnstructuredObject }): UnstructuredObject;
  /** Runs last, immediately before the commit. @throws StatusError the write is refused. */
  validate(write: AdmittedWrite): void;
}

/**
 * Checks that the body of a write to the object `name` has that name.
 * @throws StatusError 400: the body has no name, or another name.
 */
export function checkName(name: string, metadata: ObjectMeta): void {
  const { name: given = '' } = metadata;
  if (given === '') {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (given !== name) {
    throw badRequest(
      `the name of the object (${given}) does not match the name on the URL (${name})`,
    );
  }
}

/**
 * Checks that an object is in the namespace of the request. Metadata without a namespace gets the namespace of the
 * request. The namespace of a cluster-scoped object is removed: the server ignores it.
 * @throws StatusError 400: it is in another namespace.
 */
export function checkNamespaceName(
  { kind, namespace }: Pick<WriteRequest, 'kind' | 'namespace'>,
  metadata: ObjectMeta,
): void {
  if (!kind.type.namespaced) delete metadata.namespace;
  const { namespace: given = '' } = metadata;
  if (given === '' && namespace === '') delete metadata.namespace;
  else if (given === '') metadata.namespace = namespace;
  else if (given !== namespace) throw otherNamespace();
}

/**
 * The maximum nesting depth of objects, because code that walks them recurses. It is larger than
 * the depth that clients and caches accept (`maxDepth`), as on a real server.
 */
export const depthLimit = 1_000;

/** The JSON of a body to decode, and the problems that its parser found. */
export interface RawObject {
  readonly value: Readonly<Record<string, unknown>>;
  /** JSON paths of duplicate members. */
  readonly duplicates?: readonly string[];
  /** The problems of repeated keys in YAML. */
  readonly yamlProblems?: readonly string[];
  /** Reports unknown fields sorted by their paths, not in the order of the JSON. @defaultValue false */
  readonly sortsUnknown?: boolean;
}

/**
 * Decodes a body as an object of the request's kind. The request decides whether unknown and
 * duplicate fields are errors, warnings or ignored.
 * @throws StatusError 400: another kind, a wrong type, or a refused field.
 */
export function decodeObject(request: DecodeRequest, raw: RawObject): UnstructuredObject {
  const { kind } = request;
  try {
    return decodeStrictly(request, raw);
  } catch (error) {
    if (error instanceof DecodeError) throw cannotHandle(kind, error.message);
    throw error;
  }
}

/**
 * Decodes a patched object as {@link decodeObject} decodes bodies.
 * @param text - Returns the part that an error message shows.
 * @throws StatusError 422 with the whole result: the patch produced an object of another type.
 */
export function decodePatched(
  request: DecodeRequest,
  raw: RawObject,
  text: () => PatchedText,
): UnstructuredObject {
  const sorted = ({ value }: PatchedText): RawObject => ({
    ...raw,
    value: JSON.parse(value) as RawObject['value'],
  });
  const untyped = untypedProblem(request.kind, raw.value, text);
  if (untyped !== undefined) throw invalidPatch(text(), untyped);
  const warnings: string[] = [];
  const collecting = { ...request, warn: (warning: string) => warnings.push(warning) };
  try {
    const object = decodeStrictly(collecting, raw);
    if (warnings.length > 1 && raw.sortsUnknown !== true)
      decodeAgain(collecting, sorted(text()), warnings);
    warnings.forEach(request.warn);
    return object;
  } catch (error) {
    // The decoder checks the type of a built-in kind. The type of a custom resource is checked later.
    const isOfAnotherType = isStatusError(error) && request.kind.custom === undefined;
    if (!(error instanceof DecodeError) && !isOfAnotherType) throw error;
    const patched = text();
    const { converted } = patched;
    const first =
      isOfAnotherType || converted
        ? error
        : (decodeAgain(collecting, sorted(patched), warnings) ?? error);
    throw invalidPatch(patched, problemOfPatched(first, converted, raw.value, request.kind));
  }
}

function invalidPatch({ value }: PatchedText, why: string): StatusError {
  const message = `Invalid value: ${quoted(value)}: ${why}`;
  const causes = [{ reason: 'FieldValueInvalid', message, field: 'patch' }];
  return failure(422, 'Invalid', ` "" is invalid: patch: ${message}`, { causes });
}

/**
 * Returns why Go cannot tell the type of a patched object.
 * @throws StatusError 500: a custom resource has no version.
 */
function untypedProblem(
  { custom }: ServedKind,
  value: RawObject['value'],
  text: () => PatchedText,
): string | undefined {
  for (const name of ['apiVersion', 'kind']) {
    const { [name]: given = null } = value;
    if (given === null || typeof given === 'string') continue;
    const into = `Go struct field .${name} of type string`;
    return `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeName(given)} into ${into}`;
  }
  if (custom === undefined) return undefined;
  if (!value['kind']) return `Object 'Kind' is missing in '${text().value}'`;
  if (value['apiVersion']) return undefined;
  throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
}

/**
 * Decodes a patched object again with sorted members, because the real server's patch library sorts them. The first
 * problem is then the one that the real server reports. Replaces `warnings` by those of this second decoding.
 * @returns the first error, if there is one
 */
function decodeAgain(
  request: DecodeRequest,
  raw: RawObject,
  warnings: string[],
): DecodeError | undefined {
  warnings.length = 0;
  try {
    decodeStrictly(request, raw);
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
}

function problemOfPatched(
  error: Error,
  converted: boolean,
  value: RawObject['value'],
  { type }: ServedKind,
): string {
  if (error instanceof DecodeError) return converted ? error.conversion : error.message;
  return decodingProblem(type, { ...value, ...typeOfBody(value) });
}

const repeatedOwners = '.metadata.ownerReferences contains duplicate entries';
const owners =
  'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed';

/** Drops equal owner references, in place, with a warning. */
export function dropRepeatedOwners(
  { metadata }: UnstructuredObject,
  warn: (text: string) => void,
  when: '' | ' after mutating admission happens' = '',
): void {
  const { ownerReferences = [] } = metadata;
  if (ownerReferences.length < 2) return;
  const isRepeated = ownerReferences.map((one, index) =>
    ownerReferences.slice(0, index).some((other) => deepEqual(one, other)),
  );
  if (!isRepeated.includes(true)) return;
  const uids = ownerReferences.filter((_, index) => isRepeated[index]).map(({ uid }) => uid);
  warn(`${repeatedOwners}${when}; ${owners}: ${uids.join(', ')}`);
  metadata.ownerReferences = ownerReferences.filter((_, index) => isRepeated[index] !== true);
}

/**
 * Returns the form of an object that later reads return. Call it after the field owners are recorded: a client
 * owns the empty lists that it sends, and some kinds are stored without them.
 */
export function asStored(kind: ServedKind, object: UnstructuredObject): UnstructuredObject {
  // The real server stores definitions as JSON, others in protobuf, which has no empty lists.
  const isJson = kind.custom !== undefined || kind.type.group === 'apiextensions.k8s.io';
  if (isJson || !hasEmptyList({ ...object, metadata: undefined })) return object;
  const stored = kind.decode(object, true).object;
  // The labels of a Job and of its template may be the same map, which gets further labels later. Keep it shared.
  const labels = templateLabels(object);
  if (labels !== undefined && labels === object.metadata.labels) {
    Object.assign(stored.metadata, { labels: templateLabels(stored) });
  }
  return stored;
}

function templateLabels(object: UnstructuredObject): unknown {
  const path = ['spec', 'template', 'metadata', 'labels'];
  return path.reduce<unknown>(
    (value, name) => (isJsonObject(value) ? value[name] : undefined),
    object,
  );
}

function hasEmptyList(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0 || value.some(hasEmptyList);
  if (!isJsonObject(value)) return false;
  // A `for...in` loop, because `Object.values` would allocate for each of the many small objects of a write.
  for (const name in value) if (hasEmptyList(value[name])) return true;
  return false;
}

/** The part of a patched object that an error message shows. */
export interface PatchedText {
  readonly value: string;
  /** True if Go's converter, not its JSON decoder, reads the patched object. */
  readonly converted: boolean;
}

/**
 * Decodes the result of an apply as {@link decodeObject} decodes bodies. Unknown fields are already
 * handled.
 * @param applied - the body of the apply, which messages name.
 * @throws StatusError 500 without a reason, as the real server answers for a value that it cannot
 *   decode.
 */
export function decodeApplied(
  request: DecodeRequest,
  value: RawObject['value'],
  applied: UnstructuredObject,
): UnstructuredObject {
  const { type, custom } = request.kind;
  const ignoring = { ...request, fieldValidation: 'Ignore' } as const;
  if (custom !== undefined) return decodeCustom(ignoring, value);
  try {
    return decodeStrictly(ignoring, { value });
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { namespace = '', name = '' } = applied.metadata;
    const kind = `${type.group}/${type.version}, Kind=${type.kind}`;
    const why = `unable to convert unstructured object to ${kind}: ${error.conversion}`;
    const message = `failed to convert new object (${namespace}/${name}; ${kind}) to proper version: ${why}`;
    throw internalFailure(message);
  }
}

function decodeCustom(request: DecodeRequest, value: RawObject['value']): UnstructuredObject {
  try {
    return decodeLeniently(request, { value });
  } catch (error) {
    if (error instanceof DecodeError) throw cannotHandle(request.kind, error.message);
    throw error;
  }
}

/** The parts of a write that decoding needs. */
type DecodeRequest = Pick<WriteRequest, 'kind' | 'fieldValidation' | 'warn'>;

function decodeStrictly(request: DecodeRequest, raw: RawObject): UnstructuredObject {
  const object = decodeLeniently(request, raw);
  const { custom } = request.kind;
  if (custom !== undefined) custom.dropNulls(object);
  else if (clearsManagedFields(raw.value)) object.metadata.managedFields = [];
  const { emptyListsCount } = request.kind.rules;
  if (emptyListsCount !== undefined) {
    const { member, defaulted } = emptyListsCount;
    const value = raw.value[member];
    const counted = isJsonObject(value) ? withoutMembers(value, ...defaulted) : value;
    if (hasEmptyMember(counted)) changedByEmptyLists.add(object);
  }
  return object;
}

/** Returns whether a value has an empty list, or empty labels of a selector. */
function hasEmptyMember(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0 || value.some(hasEmptyMember);
  if (!isJsonObject(value)) return false;
  const { matchLabels } = value;
  const isEmptyMap = isJsonObject(matchLabels) && Object.keys(matchLabels).length === 0;
  return isEmptyMap || Object.values(value).some(hasEmptyMember);
}

const changedByEmptyLists = new WeakSet<UnstructuredObject>();

/** Returns whether the body of a decoded object has empty lists that count as a change of its kind. */
export function isChangedByEmptyLists(decoded: UnstructuredObject): boolean {
  return changedByEmptyLists.has(decoded);
}

/**
 * Returns whether the body clears `managedFields`: an empty list clears them, and a missing list keeps them. For a
 * custom resource, an empty list counts as missing.
 */
function clearsManagedFields({ metadata }: RawObject['value']): boolean {
  const sent = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  return Array.isArray(sent) && sent.length === 0;
}

/** Decodes without the removal of nulls. */
function decodeLeniently(
  { kind, fieldValidation, warn }: DecodeRequest,
  { value, duplicates = [], yamlProblems = [], sortsUnknown = false }: RawObject,
): UnstructuredObject {
  checkKind(kind, value);
  const { object, unknownFields: found } = kind.decode(value);
  const unknownFields = sortsUnknown ? [...found].sort() : found;
  const repeated = limited(duplicates.map((path) => `duplicate field ${quoted(path)}`));
  const all = [...repeated, ...unknownFields.map((path) => `unknown field ${quoted(path)}`)];
  // Go's JSON decoder finds the unknown fields of a built-in kind, unless a strategic patch was merged.
  const isDecodedByGo = kind.custom === undefined && !sortsUnknown;
  const problems = isDecodedByGo ? limited(all) : all;
  if (yamlProblems.length + problems.length > 0 && fieldValidation === 'Strict') {
    const first = yamlProblems.length === 0 ? [] : [yamlError(yamlProblems)];
    throw new DecodeError(`strict decoding error: ${[...first, ...problems].join(', ')}`);
  }
  if (fieldValidation === 'Warn') {
    for (const problem of [...yamlProblems, ...problems]) warn(problem);
  }
  return object;
}

/** Returns the error of Go's decoder for YAML with these problems. */
export function yamlError(problems: readonly string[]): string {
  return ['yaml: unmarshal errors:', ...problems].join('\n  ');
}

/** Returns each problem once, and at most as many as Go's JSON decoder collects. */
function limited(problems: readonly string[]): readonly string[] {
  return [...new Set(problems)].slice(0, 100);
}

/** Checks that a body has the type of a kind. @throws StatusError 400: the body has another type. */
export function checkKind(
  { type, custom }: ServedKind,
  value: Readonly<Record<string, unknown>>,
): void {
  const expected = apiVersionOf(type);
  const { apiVersion, kind } = typeOfBody(value);
  if (custom !== undefined && kind === '') {
    const json = JSON.stringify(value);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): Object 'Kind' is missing in '${json}' (${json.slice(0, 30)}${json.length > 30 ? ' ...' : ''})`,
    );
  }
  if (custom === undefined) {
    const given = { kind: kind || type.kind, apiVersion: apiVersion || expected };
    const isOther = given.kind !== type.kind || groupOf(given.apiVersion) !== type.group;
    // The type of the request itself needs no look-up: it is always registered.
    const isOwn = !isOther && given.apiVersion === expected;
    const isDecoded = isOwn || (!isOther && isRegistered(given));
    const why = isDecoded ? undefined : decodingProblem(type, { ...value, ...given });
    if (why !== undefined) {
      const said = `${given.kind} in version ${quoted(versionOf(given.apiVersion))}`;
      throw badRequest(`${said} cannot be handled as a ${type.kind}: ${why}`);
    }
  }
  if (apiVersion !== expected && (apiVersion !== '' || custom !== undefined)) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
}

/** Returns the type of a body. Null counts as an empty text, as in Go; other checks refuse all other values. */
function typeOfBody({ apiVersion, kind }: RawObject['value']): TypeMeta {
  const textOf = (given: unknown): string => (typeof given === 'string' ? given : '');
  return { apiVersion: textOf(apiVersion), kind: textOf(kind) };
}

function isRegistered({ kind, apiVersion }: TypeMeta): boolean {
  const [group, version] = [groupOf(apiVersion), versionOf(apiVersion)];
  return rawDefinition(definitionName(group, version, kind)) !== undefined;
}

/** Returns why Go cannot convert a body of another or an unknown type. */
function decodingProblem({ group, kind }: ServedKind['type'], given: TypeMeta & object): string {
  const { apiVersion, kind: name } = given;
  if (!isRegistered(given)) {
    return `no kind ${quoted(name)} is registered for version ${quoted(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
  }
  try {
    const definition = definitionName(groupOf(apiVersion), versionOf(apiVersion), name);
    goType(goTypeName(definition)).decode(given, new Decoding());
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
  const internal = group === '' ? 'core' : group.split('.')[0];
  return `converting (${versionOf(apiVersion)}.${name}) to (${internal}.${kind}): unknown conversion`;
}

/**
 * Checks the kind of a custom resource, as the first of its validations.
 * @throws StatusError 422: a body of another kind, such as a list.
 */
export function checkCustomKind(
  { type }: ServedKind,
  { kind, metadata }: UnstructuredObject,
): void {
  if (kind === type.kind) return;
  const errors = new FieldErrors();
  errors.invalid('kind', kind, `must be ${type.kind}`);
  const { name = '' } = metadata;
  throw invalid({ group: type.group, kind, name }, errors.causes);
}

function cannotHandle({ type }: ServedKind, why: string): Error {
  return badRequest(
    `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${why}`,
  );
}
