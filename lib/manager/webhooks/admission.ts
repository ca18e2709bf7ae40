import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { Logger } from '../../system/logger.js';
import { refuseUnknownOptions } from '../../system/known-options.js';

/** What is done to the object that an admission webhook looks at. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** Who sent the request. */
export interface AdmissionUser {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A request that is to be admitted (admission.k8s.io/v1 AdmissionRequest). */
export interface AdmissionRequest<T extends KubernetesObject = KubernetesObject> {
  readonly uid: string;
  readonly operation: AdmissionOperation;
  /** As it would be stored; undefined for a DELETE. Frozen. */
  readonly object: T | undefined;
  /** As it is stored; undefined for a CREATE. Frozen. */
  readonly oldObject: T | undefined;
  readonly namespace: string | undefined;
  /** Empty when the server has yet to make the name. */
  readonly name: string;
  /** For example `status`; undefined for the object itself. */
  readonly subResource: string | undefined;
  readonly user: AdmissionUser;
  /** Nothing will be stored: the handler must not have effects of its own. */
  readonly dryRun: boolean;
}

/** What an admission handler is given beside the request. */
export interface AdmissionContext {
  /** Aborted when the API server does not wait for the answer any more. */
  readonly signal: AbortSignal;
  /** Adds the webhook, kind, namespace, name and the request's uid to each line. */
  readonly logger: Logger;
}

/** One field that a request was refused for. */
export interface DenialCause {
  /** The path of the field, for example `spec.nodes[0].type`. */
  readonly field: string;
  readonly message: string;
  /** For example `FieldValueInvalid`. @defaultValue 'FieldValueInvalid' */
  readonly reason?: string | undefined;
}

/** Options of {@link denied}. */
export interface DenialOptions {
  /** HTTP status that the user's client sees. @defaultValue 403, or 422 with `causes` */
  readonly code?: number | undefined;
  /** Kubernetes' reason. @defaultValue 'Forbidden', or 'Invalid' with `causes` */
  readonly reason?: string | undefined;
  readonly causes?: readonly DenialCause[] | undefined;
  /** Shown to the user's client as warnings. @defaultValue none */
  readonly warnings?: readonly string[] | undefined;
}

/** The request goes on. */
export interface Allowed {
  readonly type: 'allowed';
  readonly warnings: readonly string[];
}

/** The request is refused. */
export interface Denied {
  readonly type: 'denied';
  readonly message: string;
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly DenialCause[];
  readonly warnings: readonly string[];
}

/** The request goes on with another object. */
export interface Mutated<T extends KubernetesObject = KubernetesObject> {
  readonly type: 'mutated';
  readonly object: T;
  readonly warnings: readonly string[];
}

/** Lets a request pass; `warnings` are shown to the user's client. */
export function allowed(warnings: readonly string[] = []): Allowed {
  return { type: 'allowed', warnings };
}

/** Refuses a request; `message` is shown to the user, behind the webhook's name. */
export function denied(message: string, options: DenialOptions = {}): Denied {
  const { causes = [], warnings = [] } = options;
  const { code = causes.length > 0 ? 422 : 403 } = options;
  const { reason = causes.length > 0 ? 'Invalid' : 'Forbidden' } = options;
  const names = { code, reason, causes, warnings };
  refuseUnknownOptions<DenialOptions>('denied', options, names);
  return { type: 'denied', message, code, reason, causes, warnings };
}

/** Lets a request pass with `object` in place of the one that was sent. */
export function mutated<T extends KubernetesObject>(
  object: T,
  warnings: readonly string[] = [],
): Mutated<T> {
  return { type: 'mutated', object, warnings };
}
