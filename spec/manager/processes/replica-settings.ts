/** What a replica is told, as JSON. */
export interface ReplicaSettings {
  readonly url: string;
  /** PEM; undefined: plain HTTP. */
  readonly ca: string | undefined;
  readonly token: string;
  readonly namespace: string;
  /** The name of the Lease, and of the ConfigMap that the leader writes. */
  readonly lease: string;
  readonly identity: string;
  /** How wrong its wall clock is: by so much too fast for a second, then too slow, and so on. */
  readonly wallSkewMs: number;
  /** Once it leads, it does two writes only, the second of which waits for the connection of the first. */
  readonly queues?: boolean;
}

/**
 * What a replica tells, a line each. `overtaken`: it was stopped between the last look at its fence and
 * the system call that sends, which no process can help. `queued`, `sent` and `refused` are about a
 * write that waits for its connection.
 */
export type ReplicaEvent =
  | ('sees' | 'leads' | 'wrote' | 'lost' | 'gave back' | 'overtaken')
  | ('queued' | 'sent' | 'refused');
