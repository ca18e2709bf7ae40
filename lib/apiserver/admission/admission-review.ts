import {
  compileCel,
  boolType,
  dynType,
  listType,
  mapType,
  stringType,
  structType,
  CelDictionary,
  CelList,
} from '../../crd/internal.js';
import type { CelProgram, CelType, CelValue } from '../../crd/internal.js';
import { isJsonObject } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import type { UserInfo } from '../auth/authenticator.js';
import type { Authorizer } from '../auth/authorizer.js';
import { Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { AdmittedWrite } from '../writes/write-request.js';
import {
  authorizerFunctions,
  authorizerValues,
  authorizerVariables,
} from './authorizer-expressions.js';
import type { Webhook } from './match-webhook.js';

/** The `Status` of a response. */
interface ReviewStatus {
  readonly code?: number;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: object;
  readonly metadata?: object;
}

export interface AdmissionResponse {
  readonly allowed: boolean;
  readonly warnings: readonly string[];
  /** The `Status` of a refusal. */
  readonly status: ReviewStatus | undefined;
  /** A JSON patch as text; undefined if nothing changes. */
  readonly patch: string | undefined;
}

/** The webhook of a review, and the kind in the API version in which the webhook receives the object. */
interface ReviewedBy {
  readonly webhook: Pick<Webhook, 'admissionReviewVersions'>;
  readonly kind: ServedKind;
}

/** Returns an `AdmissionReview` request without its uid. */
export function admissionReview(
  attributes: AdmissionAttributes,
  { webhook, kind }: ReviewedBy,
): { readonly apiVersion: string; readonly request: Readonly<Record<string, unknown>> } {
  const { namespace, name, operation, user, dryRun, options } = attributes;
  const known = webhook.admissionReviewVersions.find((one) => one === 'v1' || one === 'v1beta1');
  const { username, uid, groups, extra } = user;
  const request = {
    ...versionOf(kind, attributes, ''),
    ...versionOf(attributes.kind, attributes, 'request'),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: { username, ...(uid && { uid }), groups, ...(extra && { extra }) },
    object: inVersion(attributes.object, attributes, kind),
    oldObject: inVersion(attributes.old, attributes, kind),
    dryRun,
    options,
  };
  return { apiVersion: `admission.k8s.io/${known ?? 'v1'}`, request };
}

function versionOf(
  { type }: ServedKind,
  { subresource, objectKind }: AdmissionRequest,
  prefix: '' | 'request',
): object {
  const { group, version, plural } = type;
  const shown = (objectKind ?? { type }).type;
  const named = (name: string): string =>
    prefix === '' ? name : prefix + name.charAt(0).toUpperCase() + name.slice(1);
  return {
    [named('kind')]: { group: shown.group, version: shown.version, kind: shown.kind },
    [named('resource')]: { group, version, resource: plural },
    ...(subresource !== '' && { [named('subResource')]: subresource }),
  };
}

/** Converts the object of a write to the API version of `to`. */
export function inVersion(
  object: UnstructuredObject | undefined,
  { kind: from, objectKind }: AdmissionRequest,
  to: ServedKind,
): UnstructuredObject | null {
  if (object === undefined) return null;
  return from === to || objectKind !== undefined ? object : to.fromStorage(from.toStorage(object));
}

/**
 * Returns how a patch changes the `apiVersion` or `kind` of an object, which neither webhooks nor policies may do. If a
 * patch removes them from a built-in object, the object keeps its type.
 * @returns undefined if the type is the same
 */
export function typeChange(
  { custom }: ServedKind,
  object: UnstructuredObject,
  patched: Readonly<Record<string, unknown>>,
): string | undefined {
  for (const member of ['apiVersion', 'kind'] as const) {
    const next = patched[member] ?? '';
    if (next !== '' && next !== object[member]) {
      return `changed the ${member} of the object from ${object[member]} to ${JSON.stringify(next)}`;
    }
    if (next === '' && custom !== undefined) return `removed the ${member} of the object`;
  }
  return undefined;
}

/** An `AdmissionReview` with a response, as Go decodes it. */
interface DecodedReview {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly response?: {
    readonly uid: string;
    readonly allowed: boolean;
    readonly status?: ReviewStatus;
    readonly patch?: string;
    readonly patchType?: string;
    readonly warnings?: readonly string[];
  };
}

/**
 * Reads the response to a review.
 * @returns a string with the problem if the response is invalid
 * @throws DecodeError a member of the response has another type.
 */
export function readAdmissionResponse(
  body: unknown,
  asked: { readonly uid: string; readonly apiVersion: string; readonly mutating: boolean },
): AdmissionResponse | string {
  const review = goType('admission/v1.AdmissionReview').decode(body ?? {}, new Decoding());
  const { response, apiVersion = '', kind = '' } = review as DecodedReview;
  if (response === undefined) return 'webhook response was absent';
  const { uid, allowed, warnings = [], status, patch = '', patchType } = response;
  if (asked.apiVersion === 'admission.k8s.io/v1') {
    if (uid !== asked.uid) {
      return `expected response.uid=${JSON.stringify(asked.uid)}, got ${JSON.stringify(uid)}`;
    }
    if (apiVersion !== asked.apiVersion || kind !== 'AdmissionReview') {
      const got = `${groupVersion(apiVersion)}, Kind=${kind}`;
      return `expected webhook response of ${asked.apiVersion}, Kind=AdmissionReview, got ${got}`;
    }
    const problem = patchProblem(asked.mutating, patch, patchType);
    if (problem !== undefined) return problem;
  }
  const text = asked.mutating ? patch : '';
  return {
    ...{ allowed, warnings, status },
    patch: text === '' ? undefined : Buffer.from(text, 'base64').toString(),
  };
}

function groupVersion(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
}

function patchProblem(mutating: boolean, patch: string, type?: string): string | undefined {
  if (!mutating) {
    if (patch !== '') return 'validating webhook may not return response.patch';
    return type === undefined ? undefined : 'validating webhook may not return response.patchType';
  }
  if (patch !== '' && type === undefined) {
    return 'webhook returned response.patch but not response.patchType';
  }
  if (patch === '' && type !== undefined) {
    return 'webhook returned response.patchType but not response.patch';
  }
  if (type === undefined || type === 'JSONPatch') return undefined;
  return type === ''
    ? 'webhook returned invalid response.patchType of ""'
    : `unsupported patch type ${JSON.stringify(type)}`;
}

/** The parts of a request that admission reads. All writes of the request share them. */
export interface AdmissionRequest {
  readonly kind: ServedKind;
  /**
   * The kind of the body, if it differs from the resource's kind: a Scale, an Eviction.
   * @defaultValue `kind`
   */
  readonly objectKind?: ServedKind | undefined;
  /** The subresource; empty for the resource itself. */
  readonly subresource: string;
  /** The namespace; for a Namespace, its own name. */
  readonly namespace: string;
  /** The name; empty if the object has no name yet. */
  readonly name: string;
  readonly user: UserInfo;
  /** Decides about the requests of the user. */
  readonly authorizer: Authorizer;
  readonly dryRun: boolean;
  /** The options of the operation, without their kind; null for a CONNECT. */
  readonly options: Readonly<Record<string, unknown>> | null;
  /** Adds a `Warning` header to the answer. */
  readonly warn: (text: string) => void;
}

/** A write to admit. */
export interface AdmissionAttributes extends AdmissionRequest, AdmittedWrite {}

const kindType = structType('kubernetes.GroupVersionKind', texts('group', 'version', 'kind'));
const resourceType = structType(
  'kubernetes.GroupVersionResource',
  texts('group', 'version', 'resource'),
);
const userType = structType(
  'kubernetes.UserInfo',
  new Map([
    ...texts('username', 'uid'),
    ['groups', listType(stringType)],
    ['extra', mapType(stringType, listType(stringType))],
  ]),
);
const requestType = structType(
  'kubernetes.AdmissionRequest',
  new Map([
    ...texts('subResource', 'requestSubResource', 'name', 'namespace', 'operation'),
    ['kind', kindType],
    ['resource', resourceType],
    ['requestKind', kindType],
    ['requestResource', resourceType],
    ['userInfo', userType],
    ['dryRun', boolType],
    ['options', dynType],
  ]),
);

export const admissionVariables: ReadonlyMap<string, CelType> = new Map([
  ['object', dynType],
  ['oldObject', dynType],
  ['request', requestType],
  ['namespaceObject', dynType],
]);

function texts(...names: readonly string[]): Map<string, CelType> {
  return new Map(names.map((name) => [name, stringType]));
}

/** Compiles an admission expression. @throws CelCompileError */
export function compileAdmission(source: string): CelProgram {
  const variables = new Map([...admissionVariables, ...authorizerVariables]);
  return compileCel(source, variables, { functions: authorizerFunctions });
}

/** Returns the values of the variables with which an expression checks the rights of the user of a write. */
export function rightsOf(attributes: AdmissionAttributes): Readonly<Record<string, CelValue>> {
  const { kind, user, authorizer, subresource, namespace, name } = attributes;
  const { group, plural: resource } = kind.type;
  return authorizerValues({ user, authorizer }, { group, resource, subresource, namespace, name });
}

/** Converts JSON without a schema to a CEL value. */
export function jsonValue(value: unknown): CelValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return new CelList(value.map((item: unknown) => jsonValue(item)));
  const map = new CelDictionary();
  if (!isJsonObject(value)) return map;
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) map.insert(name, jsonValue(member));
  }
  return map;
}
