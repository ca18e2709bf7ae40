import { FieldErrors } from '../../crd/validation/field-errors.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { groupOf } from '../../object/resource-type.js';
import { denied } from './admission.js';
import type { DenialCause, Denied } from './admission.js';

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
