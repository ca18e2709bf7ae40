import type { Client } from '../../../lib/client/index.js';
import type { ObjectMeta } from '../../../lib/object/kubernetes-object.js';
import type { Clock } from '../../../lib/system/clock.js';

/** A request that the server got. */
export interface ServedRequest {
  readonly verb: string;
  readonly resource: string;
  /** Empty for one of the whole cluster. */
  readonly namespace: string;
  readonly name: string;
  /** HTTP status. */
  readonly code: number;
}

/** Someone who writes to a cluster, with a request log of its own. */
export interface Operator {
  readonly client: Client;
  /** What the server was asked for by this operator since the last call, writes and reads. */
  requests(): Promise<readonly ServedRequest[]>;
}

/** A cluster that the builder's suite runs against. */
export interface BuilderTarget {
  readonly name: string;
  /** Whether it is a real control plane; some behaviours can only be made on one of the two. */
  readonly real: boolean;
  readonly clock: Clock;
  /** May do everything; not counted. */
  readonly admin: Client;
  operator(): Promise<Operator>;
  /** A new, empty namespace. */
  namespace(): Promise<string>;
  /** Calls `check` until it throws no more, letting the cluster's controllers work in between. */
  eventually<T>(check: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Where the suite gets its cluster from: made once, before its first spec. */
export type NewTarget = () => Promise<BuilderTarget>;

/** The verbs that change something, as the request logs call them. */
const writeVerbs: ReadonlySet<string> = new Set([
  ...['create', 'update', 'patch', 'delete', 'deletecollection'],
]);

/**
 * Whether a request is a write. One that met a conflict is not: it changed nothing, and how often the
 * cluster's controllers write in between is not the operator's to say.
 */
export function isWrite({ verb, code }: ServedRequest): boolean {
  return writeVerbs.has(verb) && code !== 409;
}

/** Changes with what is wanted; the status, which the cluster's controllers write at any time, aside. */
export function versionOf({ generation, resourceVersion = '' }: ObjectMeta): string | number {
  return generation ?? resourceVersion;
}
