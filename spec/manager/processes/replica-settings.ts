/** The settings of a replica process, as JSON. */
export interface ReplicaSettings {
  readonly url: string;
  /** PEM, or undefined for plain HTTP. */
  readonly ca: string | undefined;
  readonly token: string;
  readonly namespace: string;
  /** The name of the Lease and of the ConfigMap that the leader writes. */
  readonly lease: string;
  readonly identity: string;
  /** The error of the wall clock, which alternates between fast and slow every second. */
  readonly wallSkewMs: number;
  /** True if the leader sends only two writes, the second of which waits for the connection of the first. */
  readonly queues?: boolean;
}

/**
 * An event that a replica prints, one per line.
 * `overtaken`: the process was stopped between the check of its fence and the system call that
 * sends, which it cannot prevent.
 * `queued`, `sent` and `refused` concern a write that waits for its connection.
 */
export type ReplicaEvent =
  | ('sees' | 'leads' | 'wrote' | 'lost' | 'gave back' | 'overtaken')
  | ('queued' | 'sent' | 'refused');
