import { ApiError, quoted } from '../object/index.js';
import type { Status, StatusCause, StatusDetails } from '../object/index.js';

// `Symbol.for`, because an error may come from another copy of this package.
const brand = Symbol.for('operator-builder.StatusError');

/**
 * An error answer of this server; `body` is the `Status` in the response. It is an `ApiError`, so that
 * `isNotFound`, `isConflict`, … classify it.
 */
export class StatusError extends ApiError {
  readonly [brand] = true;

  constructor(status: Status) {
    const { name, kind = 'object' } = status.details ?? {};
    super(status, { verb: 'serve', kind, name, status: status.code ?? 500 });
  }
}

/** Returns true if `error` is an answer of this server and not a defect. */
export function isStatusError(error: unknown): error is StatusError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** The subject of an error: the collection's plural, its group, the object's name. */
export interface Subject {
  readonly group: string;
  readonly plural: string;
  readonly name?: string | undefined;
}

/** Creates a failure with a `Status`. Empty members are omitted, as in Go. */
export function failure(
  code: number,
  reason: string,
  message: string,
  details?: StatusDetails,
): StatusError {
  const body: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
  return new StatusError(body);
}

function detailsOf({ group, plural, name = '' }: Subject): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: plural,
  };
}

/** Returns `deployments.apps`, or `pods` for the core group. */
export function qualifiedPlural({ group, plural }: Subject): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** 404: the object does not exist. */
export function notFound(subject: Subject): StatusError {
  const message = `${qualifiedPlural(subject)} ${quoted(subject.name ?? '')} not found`;
  return failure(404, 'NotFound', message, detailsOf(subject));
}

/** 404: nothing is served at this path. */
export function unknownResource(): StatusError {
  return failure(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** 409: an object with this name exists. */
export function alreadyExists(subject: Subject): StatusError {
  const message = `${qualifiedPlural(subject)} ${quoted(subject.name ?? '')} already exists`;
  return failure(409, 'AlreadyExists', message, detailsOf(subject));
}

/** 409: a precondition failed. */
export function conflict(subject: Subject, why: string): StatusError {
  const what = `${qualifiedPlural(subject)} ${quoted(subject.name ?? '')}`;
  const message = `Operation cannot be fulfilled on ${what}: ${why}`;
  return failure(409, 'Conflict', message, detailsOf(subject));
}

/** The reason of a {@link conflict} after a stale `resourceVersion`. */
export const objectWasModified =
  'the object has been modified; please apply your changes to the latest version and try again';

/** 422: the object is invalid. */
export function invalid(
  subject: { readonly group: string; readonly kind: string; readonly name: string },
  causes: readonly StatusCause[],
): StatusError {
  const { group, kind, name } = subject;
  const qualified = group === '' ? kind : `${kind}.${group}`;
  const text = aggregated(causes.map(({ field = '', message = '' }) => `${field}: ${message}`));
  const details: StatusDetails = {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind,
    causes: [...causes],
  };
  return failure(422, 'Invalid', `${qualified} ${quoted(name)} is invalid: ${text}`, details);
}

/** Joins the different messages of several errors, as Go does. */
export function aggregated(messages: readonly string[]): string {
  const different = [...new Set(messages)];
  return different.length < 2 ? different.join() : `[${different.join(', ')}]`;
}

/** 400: the request is malformed. */
export function badRequest(message: string): StatusError {
  return failure(400, 'BadRequest', message);
}

/** 400: the namespaces of the body and of the path differ. */
export function otherNamespace(): StatusError {
  return badRequest(
    'the namespace of the provided object does not match the namespace sent on the request',
  );
}

/** 401: the token is unknown. */
export function unauthorized(): StatusError {
  return failure(401, 'Unauthorized', 'Unauthorized');
}

/** 403: admission or authorization refused the request. */
export function forbidden(
  subject: Subject,
  why: string,
  causes?: readonly StatusCause[],
): StatusError {
  const { name = '' } = subject;
  const what =
    name === '' ? qualifiedPlural(subject) : `${qualifiedPlural(subject)} ${quoted(name)}`;
  const details = detailsOf(subject);
  if (causes !== undefined) details.causes = [...causes];
  return failure(403, 'Forbidden', `${what} is forbidden: ${why}`, details);
}

/** 405: the resource exists but does not support this verb. */
export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return failure(405, 'MethodNotAllowed', message, {});
}

/** 406: the server has no representation that the client accepts. */
export function notAcceptable(types: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${types.join(', ')}`;
  return failure(406, 'NotAcceptable', message);
}

/** 410: the requested version is no longer in the log. */
export function expired(message: string, rest?: string): StatusError {
  const { body } = failure(410, 'Expired', message);
  return new StatusError(rest === undefined ? body : { ...body, metadata: { continue: rest } });
}

/** 413: the body exceeds the limit. */
export function tooLarge(limitBytes: number): StatusError {
  const message = `Request entity too large: limit is ${limitBytes}`;
  return failure(413, 'RequestEntityTooLarge', message);
}

/** 415: the server cannot decode the media type of the body. */
export function unsupportedMediaType(types: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`;
  return failure(415, 'UnsupportedMediaType', message);
}

/** 500: a failure without a reason, as the real server answers unexpected errors. */
export function internalFailure(message: string): StatusError {
  return failure(500, '', message);
}

/** 500 with the reason `InternalError`. */
export function internalError(message: string): StatusError {
  return failure(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ message }],
  });
}
