import { createJsonPatch } from '../../object/json-patch.js';
import { deepFreeze } from '../../object/deep-freeze.js';
import { isDeeperThan, maxDepth } from '../../object/depth.js';
import { isJsonObject } from '../../object/json.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { denied } from './admission.js';
import type {
  AdmissionOperation,
  AdmissionRequest,
  AdmissionUser,
  Allowed,
  Denied,
  Mutated,
} from './admission.js';
import { BadRequestError } from './bad-request-error.js';
import type { AdmissionWebhook } from './webhook.js';

type Json = Readonly<Record<string, unknown>>;

const apiVersion = 'admission.k8s.io/v1';
const operations: readonly string[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

/**
 * Reads the request of an AdmissionReview (admission.k8s.io/v1) for `webhook`.
 * @throws BadRequestError the body is not an AdmissionReview, or is for another kind.
 */
export function readAdmissionReview(body: unknown, webhook: AdmissionWebhook): AdmissionRequest {
  if (!isJsonObject(body) || body['kind'] !== 'AdmissionReview' || !isJsonObject(body['request'])) {
    throw new BadRequestError(400, 'the body is no AdmissionReview with a request');
  }
  if (body['apiVersion'] !== apiVersion) {
    const got = JSON.stringify(body['apiVersion']);
    throw new BadRequestError(400, `AdmissionReview ${got}: only ${apiVersion} is spoken here`);
  }
  const request = body['request'];
  refuseOtherKinds(request, webhook);
  const { uid, operation, namespace, name, subResource, userInfo, dryRun } = request;
  if (typeof uid !== 'string' || uid === '') throw new BadRequestError(400, 'request.uid: missing');
  if (typeof operation !== 'string' || !operations.includes(operation)) {
    throw new BadRequestError(400, `request.operation: ${JSON.stringify(operation)}`);
  }
  return {
    uid,
    operation: operation as AdmissionOperation,
    object: objectOf(request, 'object'),
    oldObject: objectOf(request, 'oldObject'),
    namespace: textOf(namespace),
    name: textOf(name) ?? '',
    subResource: textOf(subResource),
    user: userOf(userInfo),
    dryRun: dryRun === true,
  };
}

/**
 * Returns the AdmissionReview that denies an object that nests too deeply; undefined for other objects. An
 * error would allow the object with failurePolicy Ignore.
 */
export function tooDeepReview(body: unknown): unknown {
  const request = isJsonObject(body) ? body['request'] : undefined;
  if (!isJsonObject(request) || typeof request['uid'] !== 'string') return undefined;
  if (!isDeeperThan(request['object'], maxDepth)) return undefined;
  const message = `the object nests deeper than ${maxDepth} levels`;
  const verdict = denied(message, { code: 422, reason: 'Invalid' });
  const { name, kind } = request;
  const reviewed = { uid: request['uid'], object: undefined, name: textOf(name) ?? '' };
  return admissionReviewOf(reviewed, isJsonObject(kind) ? kind : {}, verdict);
}

type Reviewed = Pick<AdmissionRequest, 'uid' | 'object' | 'name'>;
type ReviewedKind = { readonly group?: unknown; readonly kind?: unknown };

/** Returns the AdmissionReview that answers a request about an object of `kind`. */
export function admissionReviewOf(
  reviewed: Reviewed,
  kind: ReviewedKind,
  verdict: Allowed | Denied | Mutated,
): unknown {
  const warnings = verdict.warnings.length > 0 ? { warnings: verdict.warnings } : {};
  const response = { uid: reviewed.uid, ...warnings, ...verdictOf(reviewed, kind, verdict) };
  return { apiVersion, kind: 'AdmissionReview', response };
}

function verdictOf(
  reviewed: Reviewed,
  kind: ReviewedKind,
  verdict: Allowed | Denied | Mutated,
): Json {
  switch (verdict.type) {
    case 'allowed':
      return { allowed: true };
    case 'denied':
      return { allowed: false, status: statusOf(verdict, reviewed, kind) };
    case 'mutated': {
      const patch = createJsonPatch(reviewed.object, verdict.object);
      if (patch.length === 0) return { allowed: true };
      const encoded = Buffer.from(JSON.stringify(patch)).toString('base64');
      return { allowed: true, patchType: 'JSONPatch', patch: encoded };
    }
  }
}

function statusOf(
  { message, code, reason, causes }: Denied,
  { name }: Reviewed,
  { group, kind }: ReviewedKind,
): Json {
  // kubectl reads the name of the invalid object from the details.
  const details = {
    ...(name !== '' && { name }),
    ...(typeof group === 'string' && group !== '' && { group }),
    ...(typeof kind === 'string' && { kind }),
    causes: causes.map(({ reason: why = 'FieldValueInvalid', ...rest }) => ({
      reason: why,
      ...rest,
    })),
  };
  return {
    ...{ apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', message, reason, code },
    ...((causes.length > 0 || reason === 'Invalid') && { details }),
  };
}

function refuseOtherKinds(request: Json, { name, resource }: AdmissionWebhook): void {
  const { group, version, kind } = isJsonObject(request['kind']) ? request['kind'] : {};
  const { subResource } = request;
  // A subresource may have its own kind, such as Scale.
  if (textOf(subResource) !== undefined) return;
  const isOurs =
    (group ?? '') === resource.group && version === resource.version && kind === resource.kind;
  if (isOurs) return;
  const got = JSON.stringify({ group, version, kind });
  throw new BadRequestError(400, `webhook ${name} is for ${resource.kind}, not for ${got}`);
}

function objectOf(request: Json, name: 'object' | 'oldObject'): KubernetesObject | undefined {
  const value = request[name];
  if (value === undefined || value === null) return undefined;
  if (isJsonObject(value)) {
    const object = value as unknown as KubernetesObject;
    // A too deep old object is passed on, so that it can be repaired or deleted.
    return isDeeperThan(value, maxDepth) ? Object.freeze(object) : deepFreeze(object);
  }
  throw new BadRequestError(400, `request.${name}: no object`);
}

function userOf(value: unknown): AdmissionUser {
  const { username, uid, groups, extra } = isJsonObject(value) ? value : {};
  return {
    username: textOf(username) ?? '',
    uid: textOf(uid),
    groups: Array.isArray(groups) ? groups.map(String) : [],
    extra: isJsonObject(extra) ? (extra as AdmissionUser['extra']) : undefined,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
