import { isJsonObject } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { AdmissionAttributes, AdmissionRequest } from './admission-attributes.js';
import type { Webhook } from './webhook-configurations.js';

/** The response of a webhook. */
export interface AdmissionResponse {
  readonly allowed: boolean;
  readonly warnings: readonly string[];
  /** The `Status` of a refusal. */
  readonly status: Readonly<Record<string, unknown>> | undefined;
  /** A JSON patch as text; undefined if nothing changes. */
  readonly patch: string | undefined;
}

/** The webhook of a review, and the kind in which it receives the object. */
export interface ReviewedBy {
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

/** Converts the object of a write to the version of another kind. */
export function inVersion(
  object: UnstructuredObject | undefined,
  { kind: from, objectKind }: AdmissionRequest,
  to: ServedKind,
): UnstructuredObject | null {
  if (object === undefined) return null;
  return from === to || objectKind !== undefined ? object : to.fromStorage(from.toStorage(object));
}

/**
 * Reads the response to a review.
 * @returns a text with the problem if the response is invalid
 */
export function readAdmissionResponse(
  body: unknown,
  asked: { readonly uid: string; readonly apiVersion: string; readonly mutating: boolean },
): AdmissionResponse | string {
  const review = isJsonObject(body) ? body : {};
  const { response, apiVersion = '', kind = '' } = review;
  if (!isJsonObject(response)) return 'webhook response was absent';
  const { uid = '', allowed, warnings = [], status, patch = '', patchType } = response;
  if (asked.apiVersion === 'admission.k8s.io/v1') {
    if (uid !== asked.uid) {
      return `expected response.uid=${JSON.stringify(asked.uid)}, got ${JSON.stringify(uid)}`;
    }
    if (apiVersion !== asked.apiVersion || kind !== 'AdmissionReview') {
      const got = `${groupVersion(String(apiVersion))}, Kind=${String(kind)}`;
      return `expected webhook response of ${asked.apiVersion}, Kind=AdmissionReview, got ${got}`;
    }
    const problem = patchProblem(asked.mutating, patch, patchType);
    if (problem !== undefined) return problem;
  }
  const text = asked.mutating && typeof patch === 'string' ? patch : '';
  return {
    allowed: allowed === true,
    warnings: Array.isArray(warnings) ? (warnings as string[]) : [],
    status: isJsonObject(status) ? status : undefined,
    patch: text === '' ? undefined : Buffer.from(text, 'base64').toString(),
  };
}

function groupVersion(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
}

function patchProblem(mutating: boolean, patch: unknown, type: unknown): string | undefined {
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
