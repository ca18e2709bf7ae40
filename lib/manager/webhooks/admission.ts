import { FieldErrors } from '../../crd/validation/field-errors.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { groupOf } from '../../object/resource-type.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { Logger } from '../../system/logger.js';

/** Operation on the object of an admission request. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** The user that sent the request. */
export interface AdmissionUser {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A request for admission (admission.k8s.io/v1 AdmissionRequest). */
export interface AdmissionRequest<T extends KubernetesObject = KubernetesObject> {
  readonly uid: string;
  readonly operation: AdmissionOperation;
  /** The object to be stored; undefined for a DELETE. Frozen. */
  readonly object: T | undefined;
  /** The stored object; undefined for a CREATE. Frozen. */
  readonly oldObject: T | undefined;
  readonly namespace: string | undefined;
  /** Empty if the server has not generated the name yet. */
  readonly name: string;
  /** Such as `status`; undefined for the object itself. */
  readonly subResource: string | undefined;
  readonly user: AdmissionUser;
  /** If true, nothing is stored, and the handler must have no side effects. */
  readonly dryRun: boolean;
}

/** Second argument of an admission handler. */
export interface AdmissionContext {
  /** Aborted when the API server no longer waits for the response. */
  readonly signal: AbortSignal;
  /** Adds the webhook, kind, namespace, name and the request's uid to each line. */
  readonly logger: Logger;
}

/** A field that is a reason for a denial. */
export interface DenialCause {
  /** Path of the field, such as `spec.nodes[0].type`. */
  readonly field: string;
  readonly message: string;
  /** Such as `FieldValueInvalid`. @defaultValue 'FieldValueInvalid' */
  readonly reason?: string | undefined;
}

/** Options of {@link denied}. */
export interface DenialOptions {
  /** HTTP status for the user's client. @defaultValue 403, or 422 with `causes` */
  readonly code?: number | undefined;
  /** Kubernetes' reason. @defaultValue 'Forbidden', or 'Invalid' with `causes` */
  readonly reason?: string | undefined;
  readonly causes?: readonly DenialCause[] | undefined;
  /** Warnings for the user's client. @defaultValue none */
  readonly warnings?: readonly string[] | undefined;
}

/** Result that allows a request. */
export interface Allowed {
  readonly type: 'allowed';
  readonly warnings: readonly string[];
}

/** Result that denies a request. */
export interface Denied {
  readonly type: 'denied';
  readonly message: string;
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly DenialCause[];
  readonly warnings: readonly string[];
}

/** Result that allows a request with a changed object. */
export interface Mutated<T extends KubernetesObject = KubernetesObject> {
  readonly type: 'mutated';
  readonly object: T;
  readonly warnings: readonly string[];
}

/** Allows a request; `warnings` are shown to the user's client. */
export function allowed(warnings: readonly string[] = []): Allowed {
  return { type: 'allowed', warnings };
}

/** Denies a request; `message` is shown to the user after the webhook's name. */
export function denied(message: string, options: DenialOptions = {}): Denied {
  const { causes = [], warnings = [] } = options;
  const { code = causes.length > 0 ? 422 : 403 } = options;
  const { reason = causes.length > 0 ? 'Invalid' : 'Forbidden' } = options;
  const names = { code, reason, causes, warnings };
  refuseUnknownOptions<DenialOptions>('denied', options, names);
  return { type: 'denied', message, code, reason, causes, warnings };
}

/** Allows a request with `object` instead of the object that was sent. */
export function mutated<T extends KubernetesObject>(
  object: T,
  warnings: readonly string[] = [],
): Mutated<T> {
  return { type: 'mutated', object, warnings };
}

/**
 * Creates the causes of a denial for {@link invalid}, with the reasons and messages of Kubernetes' own
 * validation. The first argument is the path of the field, such as `spec.nodes[0].type`.
 */
export const field = {
  /** The field is missing or empty. */
  required: (path: string, detail?: string): DenialCause =>
    causeOf((errors) => errors.required(path, detail)),
  /** The value breaks the rule in `detail`, such as `must be a cron schedule`. */
  invalid: (path: string, value: unknown, detail: string): DenialCause =>
    causeOf((errors) => errors.invalid(path, value, detail)),
  /** The value is not one of the supported ones. */
  notSupported: (path: string, value: unknown, supported: readonly string[]): DenialCause =>
    causeOf((errors) => errors.notSupported(path, value, supported)),
  /** The field may not be set or changed, for the reason in `detail`. */
  forbidden: (path: string, detail: string): DenialCause =>
    causeOf((errors) => errors.forbidden(path, detail)),
  /** The value occurs twice where values must be unique. */
  duplicate: (path: string, value: unknown): DenialCause =>
    causeOf((errors) => errors.duplicate(path, value)),
  /** The value names an object that does not exist. */
  notFound: (path: string, value: unknown, detail?: string): DenialCause =>
    causeOf((errors) => errors.notFound(path, value, detail)),
  /** The text has more bytes than `limit`. */
  tooLong: (path: string, limit: number): DenialCause =>
    causeOf((errors) => errors.tooLong(path, limit)),
  /** The list has more items than `limit`. */
  tooMany: (path: string, count: number, limit: number): DenialCause =>
    causeOf((errors) => errors.tooMany(path, count, limit)),
} as const;

/**
 * Denies `object` like a schema violation: 422 `Invalid`, with a message that names the object and each
 * field.
 *
 * @example
 * ```ts
 * validatingWebhook(CronJob, ({ object }) => {
 *   if (object === undefined || isCron(object.spec.schedule)) return allowed();
 *   const { schedule } = object.spec;
 *   return invalid(object, [field.invalid('spec.schedule', schedule, 'must be a cron schedule')]);
 * });
 * ```
 */
export function invalid(
  { apiVersion, kind, metadata }: KubernetesObject,
  causes: readonly DenialCause[],
): Denied {
  const group = groupOf(apiVersion);
  const texts = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const text = texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
  const subject = `${group === '' ? kind : `${kind}.${group}`} "${metadata.name ?? ''}"`;
  return denied(`${subject} is invalid: ${text}`, { code: 422, reason: 'Invalid', causes });
}

function causeOf(report: (errors: FieldErrors) => void): DenialCause {
  const errors = new FieldErrors();
  report(errors);
  const [{ field: path = '', message = '', reason } = {}] = errors.causes;
  return { field: path, message, reason };
}
