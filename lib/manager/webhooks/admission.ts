import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { Logger } from '../../system/logger.js';
import { refuseUnknownOptions } from '../../system/known-options.js';

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
