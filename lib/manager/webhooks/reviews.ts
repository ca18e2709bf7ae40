import type { Convertible } from '../../crd/index.js';
import {
  checkJson,
  deepFreeze,
  isDeeperThan,
  maxDepth,
  tooDeep,
  describeObject,
  createJsonPatch,
  isJsonObject,
  groupOf,
} from '../../object/index.js';
import type { KubernetesObject, TypeMeta, UnstructuredObject } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { denied } from './webhook.js';
import type {
  AdmissionOperation,
  AdmissionRequest,
  AdmissionUser,
  AdmissionWebhook,
  Allowed,
  Denied,
  Mutated,
} from './webhook.js';

type Json = Readonly<Record<string, unknown>>;

const admissionVersion = 'admission.k8s.io/v1';
const operations: readonly string[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

/**
 * Reads the request of an AdmissionReview (admission.k8s.io/v1) for `webhook`.
 * @throws BadRequestError the body is not an AdmissionReview, or is for another kind.
 */
export function readAdmissionReview(body: unknown, webhook: AdmissionWebhook): AdmissionRequest {
  const request = requestIn(body, { apiVersion: admissionVersion, kind: 'AdmissionReview' });
  refuseOtherKinds(request, webhook);
  const { uid, operation, namespace, name, subResource, userInfo, dryRun } = request;
  if (typeof operation !== 'string' || !operations.includes(operation)) {
    throw new BadRequestError(
      `request.operation: want ${operations.join(', ')}, got ${JSON.stringify(operation)}`,
    );
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
  return { apiVersion: admissionVersion, kind: 'AdmissionReview', response };
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
  throw new BadRequestError(`webhook ${name} is for ${resource.kind}, not for ${got}`);
}

function objectOf(request: Json, name: 'object' | 'oldObject'): KubernetesObject | undefined {
  const value = request[name];
  if (value === undefined || value === null) return undefined;
  if (isJsonObject(value)) {
    const object = value as unknown as KubernetesObject;
    // An old object that nests too deeply is passed on, so that users can repair or delete it.
    return isDeeperThan(value, maxDepth) ? Object.freeze(object) : deepFreeze(object);
  }
  throw new BadRequestError(`request.${name}: want an object`);
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

const conversionVersion = 'apiextensions.k8s.io/v1';

interface ConversionRequest {
  readonly uid: string;
  readonly desiredApiVersion: string;
  readonly objects: readonly UnstructuredObject[];
}

/**
 * Reads the request of a ConversionReview (apiextensions.k8s.io/v1).
 * @throws BadRequestError the body is not a ConversionReview.
 */
export function readConversionReview(body: unknown): ConversionRequest {
  const request = requestIn(body, { apiVersion: conversionVersion, kind: 'ConversionReview' });
  const { uid, desiredAPIVersion: desiredApiVersion, objects } = request;
  if (typeof desiredApiVersion !== 'string' || desiredApiVersion === '') {
    throw new BadRequestError('request.desiredAPIVersion: missing');
  }
  if (!Array.isArray(objects) || !objects.every(isJsonObject)) {
    throw new BadRequestError('request.objects: want a list of objects');
  }
  return { uid, desiredApiVersion, objects: objects as unknown as UnstructuredObject[] };
}

/**
 * Converts all objects of `request`, or none.
 * @throws OperatorError `InvalidObject`: no resource matches an object, or a conversion failed.
 * @throws OperatorError `InvalidValue`: a converted object has a value without a JSON form.
 */
export function convertAll(
  { desiredApiVersion, objects }: ConversionRequest,
  resources: readonly Convertible[],
): readonly UnstructuredObject[] {
  return objects.map((object) => {
    const { kind } = object;
    const group = groupOf(object.apiVersion);
    const resource = resources.find((each) => each.kind === kind && each.group === group);
    if (resource === undefined) {
      throw new BadRequestError(`no conversion of ${kind} (${object.apiVersion}) is served`);
    }
    const converted: unknown = attempt(object, () => resource.convert(object, desiredApiVersion));
    checkConverted(object, converted, desiredApiVersion);
    return converted;
  });
}

/** @throws OperatorError `TooDeep`: the converter overflows the stack. */
function attempt(object: UnstructuredObject, convert: () => unknown): unknown {
  try {
    return convert();
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(`convert ${describeObject(object)}`) : error;
  }
}

/** Applies the API server's checks. The server keeps all metadata except labels and annotations. */
function checkConverted(
  object: UnstructuredObject,
  converted: unknown,
  desiredApiVersion: string,
): asserts converted is UnstructuredObject {
  const subject = `${describeObject(object)}: its conversion to ${desiredApiVersion}`;
  const fail = (why: string): never => {
    throw new OperatorError('InvalidObject', `${subject} ${why}`);
  };
  if (converted instanceof Promise) fail('returned a Promise; convert without awaiting anything');
  if (!isJsonObject(converted)) return fail(`returned ${describe(converted)}, want an object`);
  checkJson(converted, subject);
  const { apiVersion: version, kind, metadata } = converted;
  const got = `${String(kind)} (${String(version)})`;
  if (version !== desiredApiVersion || kind !== object.kind)
    fail(`returned ${got}, want ${object.kind} (${desiredApiVersion})`);
  if (!isJsonObject(metadata)) return fail('lost the metadata; copy it');
  for (const field of ['name', 'namespace', 'uid'] as const) {
    if (metadata[field] === object.metadata[field]) continue;
    fail(`changed metadata.${field} to ${describe(metadata[field])}; copy the metadata`);
  }
  for (const field of ['labels', 'annotations'] as const) {
    const values = metadata[field] ?? {};
    const isMap =
      isJsonObject(values) && Object.values(values).every((value) => typeof value === 'string');
    if (!isMap) fail(`set metadata.${field} to a value that is not a map of strings`);
  }
}

function describe(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

/** Returns the ConversionReview with the converted objects for request `uid`. */
export function convertedReview(uid: string, objects: readonly UnstructuredObject[]): unknown {
  return reviewOf({ uid, convertedObjects: objects, result: { status: 'Success' } });
}

/** Returns the ConversionReview of a failed conversion, with the reason. */
export function failedReview(uid: string, message: string): unknown {
  return reviewOf({ uid, convertedObjects: [], result: { status: 'Failed', message } });
}

function reviewOf(response: unknown): unknown {
  return { apiVersion: conversionVersion, kind: 'ConversionReview', response };
}

/** A malformed request that no API server would send; the response is a 400. */
export class BadRequestError extends OperatorError {
  constructor(message: string, cause?: unknown) {
    super('InvalidObject', message, { cause });
  }
}

/** Returns the request of a review. @throws BadRequestError the body is another kind or version. */
function requestIn(body: unknown, { apiVersion, kind }: TypeMeta): Json & { readonly uid: string } {
  const request = isJsonObject(body) ? body['request'] : undefined;
  if (!isJsonObject(body) || body['kind'] !== kind || !isJsonObject(request)) {
    throw new BadRequestError(`invalid ${kind}: the body has another kind or no request`);
  }
  if (body['apiVersion'] !== apiVersion) {
    const got = JSON.stringify(body['apiVersion']);
    throw new BadRequestError(`${kind} ${got}: only ${apiVersion} is served`);
  }
  const { uid } = request;
  if (typeof uid !== 'string' || uid === '') throw new BadRequestError('request.uid: missing');
  return request as Json & { readonly uid: string };
}
