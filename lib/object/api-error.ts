import { OperatorError, isOperatorError } from '../system/operator-error.js';

/** The `Status` object that an API server answers an error with. */
export interface Status {
  apiVersion?: string;
  kind?: string;
  metadata?: unknown;
  status?: string;
  /** The HTTP status code. */
  code?: number;
  /** Machine-readable, CamelCase, for example `NotFound`. */
  reason?: string;
  message?: string;
  details?: StatusDetails;
}

/** What a {@link Status} is about. */
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** One of several reasons for a {@link Status}, often one per invalid field. */
export interface StatusCause {
  reason?: string;
  message?: string;
  /** The JSON path of the field, for example `spec.replicas`. */
  field?: string;
}

/** What an {@link ApiError} is about: the call that failed. */
export interface ApiErrorContext {
  /** `get`, `list`, `create`, `apply`, … */
  readonly verb: string;
  /** The kind, or the resource where no kind is known. */
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** The HTTP status code of the answer. */
  readonly status: number;
  /** The body where it was no `Status`, cut to 1,000 characters. */
  readonly text?: string | undefined;
  /** `Retry-After` of the answer, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * An API server answered with an error. Errors about Secrets keep status, reason and fields of a
 * refusal; texts that can quote data are withheld, since messages end up in conditions and logs.
 */
export class ApiError extends OperatorError {
  /** The HTTP status code. */
  readonly status: number;
  /** The parsed `Status`, or one made of the HTTP answer where it held none. */
  readonly body: Status;
  readonly context: ApiErrorContext;

  constructor(body: Status, context: ApiErrorContext) {
    const shown = withholdsText(body, context)
      ? { body: withoutText(body), context: { ...context, text: undefined } }
      : { body, context };
    super('ApiError', apiErrorMessage(shown.body, shown.context));
    this.body = shown.body;
    this.status = context.status;
    this.context = shown.context;
  }

  /** The `Status`' reason, or an empty string. */
  get reason(): string {
    return this.body.reason ?? '';
  }

  get causes(): readonly StatusCause[] {
    return this.body.details?.causes ?? [];
  }
}

function apiErrorMessage(body: Status, context: ApiErrorContext): string {
  const { verb, kind, namespace, name, status, text } = context;
  const key = [namespace, name].filter((part) => part !== undefined && part !== '').join('/');
  const subject = key === '' ? kind : `${kind} ${key}`;
  const answer = body.message ?? text ?? 'no message';
  const remedy = remedies[status];
  const said = `${verb} ${subject}: ${status} ${body.reason ?? ''}`.trimEnd();
  return `${said}: ${answer}${remedy === undefined ? '' : ` (${remedy})`}`;
}

// The server writes the messages of these itself, from names.
const namesOnly: readonly string[] = [
  ...['NotFound', 'AlreadyExists', 'Conflict', 'Gone', 'Expired', 'Unauthorized'],
  ...['MethodNotAllowed', 'TooManyRequests', 'Timeout', 'ServerTimeout', 'ServiceUnavailable'],
];
const forbiddenByServer =
  /^secrets( "[^"]*")? is forbidden: (User "[^"]*" cannot |exceeded quota: |unable to create new content in namespace )/;
const denial =
  /(admission webhook "[^"]*"|ValidatingAdmissionPolicy '[^']*'( with binding '[^']*')?) (denied (the )?request|does not support dry run)/;

const unusable = /failed to (create typed patch object|convert new object)/;

/** Whether the answer is about a Secret and can quote its data. */
function withholdsText({ reason = '', message = '' }: Status, context: ApiErrorContext): boolean {
  const { kind, status, text, verb } = context;
  // The embedded server sends its own answers whole; its clients withhold their texts.
  if (verb === 'serve') return false;
  // An error with a good status is about the answer: its text is ours.
  if ((kind !== 'Secret' && kind !== 'secrets') || status < 300) return false;
  if (denial.test(message) || text !== undefined) return true;
  return !namesOnly.includes(reason) && !forbiddenByServer.test(message);
}

function withoutText(body: Status): Status {
  const causes = body.details?.causes?.map(({ reason, field, message = '' }) => ({
    ...(reason !== undefined && { reason }),
    ...(field !== undefined && { field }),
    ...(/field is immutable/.test(message) && { message: 'field is immutable' }),
  }));
  const by = (denial.exec(body.message ?? '') ?? unusable.exec(body.message ?? ''))?.[0];
  const fields = causes?.map(({ field = '', message }) =>
    message === undefined ? field : `${field}: ${message}`,
  );
  const known = [by, ...(fields ?? [])].filter((part) => part !== undefined && part !== '');
  const why = 'the text of the answer is not shown, it can quote data of the Secret';
  const message = [...known, why].join('; ');
  const details = body.details && { ...body.details, ...(causes !== undefined && { causes }) };
  return { ...body, message, ...(details !== undefined && { details }) };
}

const remedies: Readonly<Partial<Record<number, string>>> = {
  401: 'check the credentials',
  403: 'check the RBAC rules of this operator',
  410: 'list again',
  429: 'slow down and retry',
};

/** Whether `error` is an {@link ApiError}, from whichever copy of this package. */
export function isApiError(error: unknown): error is ApiError {
  return isOperatorError(error, 'ApiError');
}

// The reason decides; the status only where there is none (a plain-text 404, a bare 500).
function hasReason(error: unknown, reason: string, status: number): boolean {
  if (!isApiError(error)) return false;
  const known = error.body.reason ?? '';
  return known === '' || known === 'Unknown' ? error.status === status : known === reason;
}

/** 404: no such object, or no such kind. */
export const isNotFound = (error: unknown): boolean => hasReason(error, 'NotFound', 404);

/** 409 on create: an object of the name exists. */
export const isAlreadyExists = (error: unknown): boolean =>
  isApiError(error) && error.reason === 'AlreadyExists';

/** 409: the object changed since it was read, or a precondition did not hold. */
export const isConflict = (error: unknown): boolean => hasReason(error, 'Conflict', 409);

/** 410: the resourceVersion or continue token is too old; list again. */
export const isGone = (error: unknown): boolean =>
  hasReason(error, 'Gone', 410) || (isApiError(error) && error.reason === 'Expired');

/** 422: the object is invalid; `causes` name the fields. */
export const isInvalid = (error: unknown): boolean => hasReason(error, 'Invalid', 422);

/** 403: not allowed, by RBAC, by admission or by a quota. */
export const isForbidden = (error: unknown): boolean => hasReason(error, 'Forbidden', 403);

/** 401: the credentials are missing or not accepted. */
export const isUnauthorized = (error: unknown): boolean => hasReason(error, 'Unauthorized', 401);

/** 429: the server asks to slow down; `context.retryAfterMs` says for how long. */
export const isTooManyRequests = (error: unknown): boolean =>
  hasReason(error, 'TooManyRequests', 429);

/** 403 with the cause `NamespaceTerminating`: the namespace is being deleted. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isForbidden(error) &&
  (error as ApiError).causes.some((cause) => cause.reason === 'NamespaceTerminating');
