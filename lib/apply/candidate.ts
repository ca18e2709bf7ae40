import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import type { ResourceType } from '../object/resource-type.js';

/** An object that the owner has, looked at by pruning. */
export interface Candidate {
  readonly type: ResourceType<KubernetesObject>;
  /** Its metadata; the rest is not read. */
  readonly object: UnstructuredObject;
}

/** A candidate that is no longer desired and still needed. */
export interface KeptCandidate {
  readonly candidate: Candidate;
  readonly reason: string;
  /** Look again after so many milliseconds: no watch tells when it is no longer needed. */
  readonly requeueAfterMs?: number;
}

/** What pruning found. */
export interface PruneCandidates {
  /** To be deleted. */
  readonly orphans: readonly Candidate[];
  /** No longer desired, but needed until a workload that still uses it is updated. */
  readonly inUse: readonly KeptCandidate[];
  /** How many objects the owner has, desired ones included. */
  readonly owned: number;
  /** How many of them are desired. */
  readonly desired: number;
}
