import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { DeleteOptions } from './client.js';
import { isStatus } from './response-error.js';

/** The `DeleteOptions` object that a delete carries. */
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
 * The query of a delete. The server goes by the body; this is for who reads a log of requests, where
 * bodies are not.
 */
export function dryRunQuery({ dryRun = false }: DeleteOptions): { readonly dryRun?: 'All' } {
  return dryRun ? { dryRun: 'All' } : {};
}

/**
 * The object that a delete left in place, or undefined. For most kinds the server answers with a
 * `Status` once an object is gone, but for some (Pods, Services) with the object as it last was.
 */
export function remainingObject<T extends KubernetesObject>(answer: unknown): T | undefined {
  if (isStatus(answer)) return undefined;
  const object = answer as T & { spec?: { finalizers?: readonly string[] } };
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined) return undefined;
  // A Namespace's finalizers stand in its spec.
  const held = finalizers.length > 0 || (object.spec?.finalizers ?? []).length > 0;
  return held || (deletionGracePeriodSeconds ?? 0) > 0 ? object : undefined;
}
