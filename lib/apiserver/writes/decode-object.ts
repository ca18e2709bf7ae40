import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import { DecodeError } from '../go-json/decoding.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { badRequest } from '../status-error.js';
import type { WriteRequest } from './write-request.js';

/** A body to decode: its JSON and what else reading it told. */
export interface RawObject {
  readonly value: Readonly<Record<string, unknown>>;
  /** JSON paths of members that appear twice. */
  readonly duplicates?: readonly string[];
}

/**
 * Decodes a body as an object of the request's kind; unknown and duplicate fields are refused,
 * warned of or ignored, as the request asks.
 * @throws StatusError 400: another kind, a wrong type, or a refused field.
 */
export function decodeObject(
  request: Pick<WriteRequest, 'kind' | 'fieldValidation' | 'warn'>,
  { value, duplicates = [] }: RawObject,
): UnstructuredObject {
  const { kind } = request;
  checkKind(kind, value);
  const { object, unknownFields } = decodeOrRefuse(kind, value);
  const problems = [
    ...unknownFields.map((path) => `unknown field "${path}"`),
    ...duplicates.map((path) => `duplicate field "${path}"`),
  ];
  if (problems.length > 0 && request.fieldValidation === 'Strict') {
    throw cannotHandle(kind, `strict decoding error: ${problems.join(', ')}`);
  }
  if (request.fieldValidation === 'Warn') problems.forEach(request.warn);
  return object;
}

function checkKind({ type }: ServedKind, value: Readonly<Record<string, unknown>>): void {
  const expected = apiVersionOf(type);
  const { apiVersion = '', kind = '' } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): couldn't get version/kind; json parse error`,
    );
  }
  if (apiVersion !== '' && apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== '' && kind !== type.kind) {
    const message = `${kind} in version "${type.version}" cannot be handled as a ${type.kind}`;
    throw badRequest(
      `${message}: no kind "${kind}" is registered for version "${expected}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
}

function decodeOrRefuse(
  kind: ServedKind,
  value: Readonly<Record<string, unknown>>,
): ReturnType<ServedKind['decode']> {
  try {
    return kind.decode(value);
  } catch (error) {
    if (error instanceof DecodeError) throw cannotHandle(kind, error.message);
    throw error;
  }
}

function cannotHandle({ type }: ServedKind, why: string): Error {
  return badRequest(
    `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${why}`,
  );
}
