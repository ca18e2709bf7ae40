import { failureKindOf } from '../../controller/index.js';
import { isApiError, isInvalid, isTooManyRequests } from '../../object/api-error.js';
import { isJsonObject } from '../../object/json.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { redacted } from '../../object/redact.js';
import { errorMessage } from '../../system/as-error.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';

/**
 * Returns the cause of a failure for events and conditions. Redacts the data of `object` if it is a Secret.
 * Adds the remedy for immutable fields.
 */
export function failureText(error: unknown, object?: KubernetesObject): string {
  const message = errorMessage(error);
  const text = object?.kind === 'Secret' ? withoutData(message, object) : message;
  const isFixed = isInvalid(error) && /immutable|may not be changed|are forbidden/.test(text);
  return isFixed ? `${text}; delete the object, and it is made anew` : text;
}

function withoutData(text: string, secret: object): string {
  const members = secret as { readonly data?: unknown; readonly stringData?: unknown };
  const secrets = [members.data, members.stringData].flatMap((values) =>
    isJsonObject(values) ? Object.values(values) : [],
  );
  return secrets
    .flatMap((value) => (typeof value === 'string' ? [value, decoded(value)] : []))
    .filter((value) => value !== '')
    .reduce((rest, value) => rest.replaceAll(value, redacted), text);
}

function decoded(value: string): string {
  return Buffer.from(value, 'base64').toString('utf8');
}

/** Joins several errors into one that names all causes. A single error is returned unchanged. */
export function joined(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  const texts = errors.map((error) => errorMessage(error));
  return new AggregateError(errors, texts.join('; '));
}

/** Returns the errors that {@link joined} has joined. */
export function partsOf(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? (error.errors as unknown[]) : [error];
}

/**
 * Shows the failure of a reconcile in the conditions, and records an event unless one exists. Skips conflicts
 * and similar errors that are retried at once, a stopped operator, and a server that is temporarily
 * unavailable.
 */
export function reportFailure<CR extends LifecycleObject>(pass: Pass<CR>, error: unknown): void {
  const kind = failureKindOf(error);
  if (pass.signal.aborted || kind === 'conflict' || kind === 'waiting') return;
  const parts = partsOf(error);
  if (parts.every(isOfTheMoment)) return;
  const before = pass.complaint;
  const texts = parts.map((part) => textOf(pass, part));
  const message = [...(before === undefined ? [] : [before.message]), ...texts].join('; ');
  const trouble = { ...before, reason: before?.reason ?? pass.failureReason, message };
  if (parts.every((part) => pass.toldOf(part) !== undefined)) pass.explain(trouble);
  else pass.complain(trouble);
}

/** Whether the error is temporary: it does not mean that the system is degraded. */
export function isOfTheMoment(error: unknown): boolean {
  if (isOperatorError(error, 'ConnectionFailed') || isTooManyRequests(error)) return true;
  return isApiError(error) && (error.status === 503 || error.status === 504);
}

function textOf<CR extends LifecycleObject>(pass: Pass<CR>, error: unknown): string {
  const source = pass.sourceOf(error);
  const text = failureText(error);
  return pass.toldOf(error) ?? (source === undefined ? text : `${source}: ${text}`);
}
