import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { DeleteOptions } from './client.js';
import { isStatus } from './response-error.js';

/** Returns the `DeleteOptions` body of a delete. */
export function deleteBody(options: DeleteOptions): object {
  const { propagationPolicy, gracePeriodSeconds, preconditions, dryRun = false } = options;
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...{ propagationPolicy, gracePeriodSeconds, preconditions },
    ...(dryRun && { dryRun: ['All'] }),
  };
}

/**
 * Returns the query of a delete. The server uses the body; the query shows a dry run in request logs, which
 * omit bodies.
 */
export function dryRunQuery({ dryRun = false }: DeleteOptions): { readonly dryRun?: 'All' } {
  return dryRun ? { dryRun: 'All' } : {};
}

/**
 * Returns the object if it still exists after a delete, else undefined. For most kinds the server answers
 * with a `Status` once an object is deleted, but for some (Pods, Services) with its last state.
 */
export function remainingObject<T extends KubernetesObject>(answer: unknown): T | undefined {
  if (isStatus(answer)) return undefined;
  const object = answer as T & { spec?: { finalizers?: readonly string[] } };
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined) return undefined;
  // A Namespace has its finalizers in its spec.
  const held = finalizers.length > 0 || (object.spec?.finalizers ?? []).length > 0;
  return held || (deletionGracePeriodSeconds ?? 0) > 0 ? object : undefined;
}
