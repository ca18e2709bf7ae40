/**
 * Every code that an {@link OperatorError} can carry. A code is never reused for another meaning:
 * retired ones stay out. `docs/errors.md` explains each; a spec compares the two lists.
 */
export const errorCodes = [
  /** An option is missing, out of range, or contradicts another. */
  'InvalidOption',
  /** An object is not what Kubernetes accepts: no kind, an invalid name, a field of a wrong shape. */
  'InvalidObject',
  /** A custom resource can't be defined so; `problems` has the fields and the remedies. */
  'InvalidDefinition',
  /** A label or field selector that can't be read, or with an invalid key, operator or value. */
  'InvalidSelector',
  /** A patch that is malformed or does not fit the object: a path that is not there, a failed test. */
  'InvalidPatch',
  /** A text is no value of its type: a quantity, a time, a percentage, an object key. */
  'InvalidValue',
  /** An apply without `force` would change fields that other managers own. */
  'ApplyConflict',
  /** The API server answered with an error: an `ApiError`, which carries the `Status`. */
  'ApiError',
  /** No answer came: connection refused or reset, DNS, TLS, a server that went away. */
  'ConnectionFailed',
  /** The call did not end in its time. */
  'Timeout',
  /** An object or a document nests too deeply: recursive functions would fail on it. */
  'TooDeep',
  /** The cache can't take in the object, so it can't be read; everything else goes on. */
  'Quarantined',
  /** The caller's `AbortSignal` ended the call. */
  'Aborted',
  /** The API server serves no such kind: a CRD is missing, or the version is wrong. */
  'UnknownKind',
  /** A kubeconfig or the in-cluster credentials could not be read. */
  'InvalidKubeConfig',
  /** The object has a controller already, and it is not this owner. */
  'AlreadyOwned',
  /** An owner reference that Kubernetes does not allow: across namespaces, or to a wider scope. */
  'InvalidOwner',
  /** Two objects of a chain have the same kind, namespace and name. */
  'DuplicateObject',
  /** A name that a chain refers to was never chained. */
  'UnknownReference',
  /** The object exists and belongs to somebody else, or to nobody. */
  'NotOurs',
  /** A change to a field that the API server does not let change. */
  'ImmutableField',
  /** More objects would have been deleted than `maxDeletions` allows. Nothing was deleted. */
  'TooManyDeletions',
  /** Several objects of one reconcile failed; `errors` has each. */
  'ReconcileFailed',
  /** Retrying can't help until the desired state changes. */
  'Terminal',
  /** A dependency of the object failed, so the object was not touched. */
  'DependencyFailed',
  /** Something was used after it was stopped or closed. */
  'Stopped',
  /** A write was refused before it was sent: this process may not write any more, its lease is not fresh. */
  'Fenced',
  /** Something that runs once was started again. */
  'AlreadyStarted',
  /** A server can't listen: its port is in use, or not this process's to take. */
  'ListenFailed',
  /** This process was the leader, and its lease is gone or was taken. */
  'LeadershipLost',
  /** The rules do not let this process read or write the Lease by which replicas elect a leader. */
  'LeaseForbidden',
  /** The account that the operator runs as lacks permissions that were asked for at the start. */
  'MissingPermission',
  /** An operator that was killed at some request did not come to the same end as one that was not. */
  'CrashPointFailed',
  /** An operator did not get over a request that failed once. */
  'FaultSweepFailed',
  /** The owner is gone, and objects that the operator created are not. */
  'LeftOvers',
  /** A fault that a test injects never happened, so that the test shows nothing about it. */
  'FaultNotInjected',
  /** A part of a resource chain can't be made so: a name is missing, a set has no resources. */
  'InvalidConfig',
  /** A chain can't be carried out: it has no resources, or several sets handle one object. */
  'ExecutionFailed',
  /** No set of a router handles the object; another framework may. */
  'NoResourceSet',
  /** A step of a resource threw; `cause` is what it threw. */
  'ResourceFailed',
  /** A step says that trying it again is of no use; `cause` says why. It ends `withRetry`, which throws the cause. */
  'Permanent',
  /** An operator met a configuration that a newer version of it has deployed. */
  'Downgrade',
  /** A declarative controller keeps writing one object: it undoes what another writes, or feeds itself. */
  'HotLoop',
  /** A declarative controller makes ever more objects of its own results. */
  'GrowthLimit',
  /** A document does not fit what a declarative operator does with it; the pipeline goes on. */
  'InvalidData',
  /** A declarative operator can't be loaded; `problems` has the paths and the remedies. */
  'InvalidSpec',
  /** An object is to be patched by a declarative operator, or scaled by an autoscaler, and does not exist. */
  'TargetMissing',
  /** Two declarative controllers of a process write one object. */
  'TargetConflict',
  /** An object that a declarative operator is to write is being deleted. */
  'TargetDeleting',
] as const;

/** The code of an {@link OperatorError}. */
export type ErrorCode = (typeof errorCodes)[number];
