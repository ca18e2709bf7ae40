import type { Client } from '../../../lib/client/index.js';
import type { ObjectMeta } from '../../../lib/object/kubernetes-object.js';
import type { Clock } from '../../../lib/system/clock.js';

/** A request that the server received. */
export interface ServedRequest {
  readonly verb: string;
  readonly resource: string;
  /** Empty for a cluster-scoped request. */
  readonly namespace: string;
  readonly name: string;
  /** HTTP status. */
  readonly code: number;
}

/** A client of a cluster, with a request log of its own. */
export interface Operator {
  readonly client: Client;
  /** Returns the requests of this operator since the last call, writes and reads. */
  requests(): Promise<readonly ServedRequest[]>;
}

/** A cluster that the builder's suite runs against. */
export interface BuilderTarget {
  readonly name: string;
  /** True for a real control plane: some behaviours can be provoked on only one of the two. */
  readonly real: boolean;
  readonly clock: Clock;
  /** A client with all permissions. `requests` of an operator does not return its requests. */
  readonly admin: Client;
  operator(): Promise<Operator>;
  /** Creates an empty namespace and returns its name. */
  namespace(): Promise<string>;
  /** Calls `check` until it no longer throws, and lets the cluster's controllers work in between. */
  eventually<T>(check: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Starts the cluster of a suite, once before its first spec. */
export type NewTarget = () => Promise<BuilderTarget>;

/** The verbs of writes in request logs. */
const writeVerbs: ReadonlySet<string> = new Set([
  ...['create', 'update', 'patch', 'delete', 'deletecollection'],
]);

/**
 * Returns true for a write. A conflict does not count: it changes nothing, and the cluster's
 * controllers decide how many there are.
 */
export function isWrite({ verb, code }: ServedRequest): boolean {
  return writeVerbs.has(verb) && code !== 409;
}

/** Returns a value that changes with the desired state, but not with the status. */
export function versionOf({ generation, resourceVersion = '' }: ObjectMeta): string | number {
  return generation ?? resourceVersion;
}
