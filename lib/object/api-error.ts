import { OperatorError, isOperatorError } from '../system/index.js';

/** The `Status` object of an API server's error response. */
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

/** The subject of a {@link Status}. */
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

/** The failed call of an {@link ApiError}. */
export interface ApiErrorContext {
  /** `get`, `list`, `create`, `apply`, … */
  readonly verb: string;
  /** The kind, or the resource if the kind is unknown. */
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** The HTTP status code of the response. */
  readonly status: number;
  /** The body if it was not a `Status`, cut to 1,000 characters. */
  readonly text?: string | undefined;
  /** `Retry-After` of the response, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * An error response of an API server. Errors about Secrets keep the status, reason and fields. They omit
 * texts that can quote data, because messages end up in conditions and logs.
 */
export class ApiError extends OperatorError {
  /** The HTTP status code. */
  readonly status: number;
  /** The parsed `Status`, or one built from the HTTP response if it has no `Status`. */
  readonly body: Status;
  /** The failed call: its verb, kind and key, with the status and `retryAfterMs` of the response. */
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

  /** The causes in the `Status`, often one for each invalid field; an empty list if the server gave no causes. */
  get causes(): readonly StatusCause[] {
    return this.body.details?.causes ?? [];
  }
}

function apiErrorMessage(body: Status, context: ApiErrorContext): string {
  const { verb, kind, namespace, name, status, text } = context;
  const key = [namespace, name].filter((part) => part !== undefined && part !== '').join('/');
  const subject = key === '' ? kind : `${kind} ${key}`;
  const answer = body.message ?? text ?? 'no message';
  const isRefused = denial.test(answer) || byPlugin.test(answer);
  const remedy = isRefused ? undefined : remedies[status];
  const said = `${verb} ${subject}: ${status} ${body.reason ?? ''}`.trimEnd();
  return `${said}: ${answer}${remedy === undefined ? '' : ` (${remedy})`}`;
}

// The server builds the messages of these reasons from names only.
const namesOnly: readonly string[] = [
  ...['NotFound', 'AlreadyExists', 'Conflict', 'Gone', 'Expired', 'Unauthorized'],
  ...['MethodNotAllowed', 'TooManyRequests', 'Timeout', 'ServerTimeout', 'ServiceUnavailable'],
];
const forbiddenByServer =
  /^secrets( "[^"]*")? is forbidden: (User "[^"]*" cannot |exceeded quota: |unable to create new content in namespace )/;
const denial =
  /(admission webhook "[^"]*"|(ValidatingAdmissionPolicy|policy) ('[^']*'|"[^"]*")( with binding '[^']*')?) (denied (the )?request|does not support dry run)/;

/**
 * Matches the refusals of admission plugins that no further permission would avoid. It does not match refusals about
 * permissions: those of an authorizer, and those about owner references, aggregated roles, or constraints of OpenShift
 * that a pod may use.
 */
const byPlugin =
  / is forbidden: (?!user |cannot set (an ownerRef|blockOwnerDeletion) |must have cluster-admin |unable to validate against any security context constraint)/i;

const unusable = /failed to (create typed patch object|convert new object)/;

/** Whether the response is about a Secret and can quote its data. */
function withholdsText({ reason = '', message = '' }: Status, context: ApiErrorContext): boolean {
  const { kind, status, text, verb } = context;
  // With the verb `serve`, the error is a response of the embedded server, which has the full text. The clients of that
  // server omit the text.
  if (verb === 'serve') return false;
  // An error with a success status is about the response itself: this package wrote its text.
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

/** The remedy in the message of a 403. It names the operator, because most requests come from operators. */
export const forbiddenRemedy = 'check the RBAC rules of this operator';

const remedies: Readonly<Partial<Record<number, string>>> = {
  401: 'check the credentials',
  403: forbiddenRemedy,
  410: 'list again',
  429: 'slow down and retry',
};

/** Whether `error` is an {@link ApiError}, even from another copy of this package. */
export function isApiError(error: unknown): error is ApiError {
  return isOperatorError(error, 'ApiError');
}

// The reason decides. The status counts only for an error without a reason, such as a plain-text 404.
function hasReason(error: unknown, reason: string, status: number): boolean {
  if (!isApiError(error)) return false;
  const known = error.body.reason ?? '';
  return known === '' || known === 'Unknown' ? error.status === status : known === reason;
}

// A webhook may refuse a write with any reason. The reason is then not about the state of the object.
const isAbout = (error: unknown, reason: string, status: number): boolean =>
  hasReason(error, reason, status) && !isDenied(error as ApiError);

/** Whether `error` is a 404: the object or the kind does not exist. */
export const isNotFound = (error: unknown): boolean => isAbout(error, 'NotFound', 404);

/** Whether `error` is a 409 on create: an object with this name exists. */
export const isAlreadyExists = (error: unknown): boolean =>
  isApiError(error) && error.reason === 'AlreadyExists' && !isDenied(error);

/** Whether `error` is a 409: the object changed since it was read, or a precondition failed. */
export const isConflict = (error: unknown): boolean => isAbout(error, 'Conflict', 409);

/** Whether `error` is a 410: the resourceVersion or continue token is too old; list again. */
export const isGone = (error: unknown): boolean =>
  hasReason(error, 'Gone', 410) || (isApiError(error) && error.reason === 'Expired');

/** Whether `error` is a 422: the object is invalid; `causes` name the fields. */
export const isInvalid = (error: unknown): boolean => hasReason(error, 'Invalid', 422);

/** Whether `error` is a 403: forbidden by RBAC, admission or a quota. */
export const isForbidden = (error: unknown): boolean => hasReason(error, 'Forbidden', 403);

/** Whether `error` is a 401: the credentials are missing or not accepted. */
export const isUnauthorized = (error: unknown): boolean => hasReason(error, 'Unauthorized', 401);

/** Whether `error` is a 429: the server throttles the client; `context.retryAfterMs` is the delay. */
export const isTooManyRequests = (error: unknown): boolean =>
  hasReason(error, 'TooManyRequests', 429);

/** Whether the server is unreachable or busy, so that another request would fail too at present. */
export function isUnavailable(error: unknown): boolean {
  if (isOperatorError(error, 'ConnectionFailed') || isTooManyRequests(error)) return true;
  return isApiError(error) && (error.status === 503 || error.status === 504);
}

/** Whether `error` is a 403 with the cause `NamespaceTerminating`: the namespace is being deleted. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isForbidden(error) &&
  (error as ApiError).causes.some((cause) => cause.reason === 'NamespaceTerminating');

// The server's own messages may quote a refusal later in the text, for example from a status.
const startsAsDenial = new RegExp(`^(\\S+( "[^"]*")? is forbidden: )?${denial.source}`);

/** Whether an admission webhook or a policy refuses the request. */
export const isDenied = ({ body: { message = '' } }: ApiError): boolean =>
  startsAsDenial.test(message);

/**
 * Whether the API server itself finds the object invalid. A webhook or a policy that refuses it with 422 may accept it
 * later, without a change of the object.
 */
export const isFoundInvalid = (error: unknown): boolean => isAbout(error, 'Invalid', 422);
