import type { Convertible } from '../../crd/definition/convert-object.js';
import { tooDeep } from '../../object/depth.js';
import { describeObject } from '../../object/describe-object.js';
import { isJsonObject } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { groupOf } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import { BadRequestError } from './bad-request-error.js';

const apiVersion = 'apiextensions.k8s.io/v1';

/** The request of a ConversionReview. */
export interface ConversionRequest {
  readonly uid: string;
  readonly desiredApiVersion: string;
  readonly objects: readonly UnstructuredObject[];
}

/**
 * Reads the request of a ConversionReview (apiextensions.k8s.io/v1).
 * @throws BadRequestError the body is not a ConversionReview.
 */
export function readConversionReview(body: unknown): ConversionRequest {
  const request = isJsonObject(body) ? body['request'] : undefined;
  if (!isJsonObject(body) || body['kind'] !== 'ConversionReview' || !isJsonObject(request)) {
    throw new BadRequestError(400, 'the body is no ConversionReview with a request');
  }
  if (body['apiVersion'] !== apiVersion) {
    const got = JSON.stringify(body['apiVersion']);
    throw new BadRequestError(400, `ConversionReview ${got}: only ${apiVersion} is spoken here`);
  }
  const { uid, desiredAPIVersion: desiredApiVersion, objects } = request;
  if (typeof uid !== 'string' || uid === '') throw new BadRequestError(400, 'request.uid: missing');
  if (typeof desiredApiVersion !== 'string' || desiredApiVersion === '') {
    throw new BadRequestError(400, 'request.desiredAPIVersion: missing');
  }
  if (!Array.isArray(objects) || !objects.every(isJsonObject)) {
    throw new BadRequestError(400, 'request.objects: no list of objects');
  }
  return { uid, desiredApiVersion, objects: objects as unknown as UnstructuredObject[] };
}

/**
 * Converts all objects of `request`, or none.
 * @throws OperatorError `InvalidObject`: no resource matches an object, or a conversion failed.
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
      throw new BadRequestError(400, `no conversion of ${kind} (${object.apiVersion}) is served`);
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
  const fail = (why: string): never => {
    const message = `${describeObject(object)}: its conversion to ${desiredApiVersion} ${why}`;
    throw new OperatorError('InvalidObject', message);
  };
  if (converted instanceof Promise) fail('returned a Promise; convert without awaiting anything');
  if (!isJsonObject(converted)) return fail(`returned ${describe(converted)}, want an object`);
  const { apiVersion: version, kind, metadata } = converted;
  const got = `${String(kind)} (${String(version)})`;
  if (version !== desiredApiVersion || kind !== object.kind) fail(`returned ${got}`);
  if (!isJsonObject(metadata)) return fail('lost the metadata; copy it');
  for (const field of ['name', 'namespace', 'uid'] as const) {
    if (metadata[field] === object.metadata[field]) continue;
    fail(`changed metadata.${field} to ${describe(metadata[field])}; copy the metadata`);
  }
  for (const field of ['labels', 'annotations'] as const) {
    const values = metadata[field] ?? {};
    const isMap = isJsonObject(values) && Object.values(values).every(isString);
    if (!isMap) fail(`made metadata.${field} something else than a map of strings`);
  }
}

function isString(value: unknown): boolean {
  return typeof value === 'string';
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
  return { apiVersion, kind: 'ConversionReview', response };
}
