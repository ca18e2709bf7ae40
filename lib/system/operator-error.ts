// `Symbol.for`, so that two copies of this package in one process recognize each other's errors.
const brand = Symbol.for('operator-builder.OperatorError');

/** Options of {@link OperatorError}. */
export interface OperatorErrorOptions {
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * The base class of all errors of this package. Its `code` is a literal to switch on; its message names the
 * object, the verb and the remedy. See `docs/errors.md` for every code.
 */
export class OperatorError extends Error {
  readonly code: ErrorCode;
  readonly [brand] = true;

  constructor(code: ErrorCode, message: string, options: OperatorErrorOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Whether `error` is an {@link OperatorError}, with `code` if given. */
export function isOperatorError(error: unknown, code?: ErrorCode): error is OperatorError {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false;
  return code === undefined || (error as OperatorError).code === code;
}

/**
 * The codes of {@link OperatorError}. A retired code is never reused for another meaning. `docs/errors.md`
 * explains each; a spec compares the two lists.
 */
export const errorCodes = [
  /** An option is missing, out of range, or contradicts another. */
  'InvalidOption',
  /** Kubernetes would not accept the object: no kind, an invalid name, a field of a wrong shape. */
  'InvalidObject',
  /** The definition of a custom resource is invalid; `problems` lists the fields and the remedies. */
  'InvalidDefinition',
  /** A label or field selector has a syntax error, or an invalid key, operator or value. */
  'InvalidSelector',
  /** A patch is malformed or does not fit the object: a missing path, a failed test. */
  'InvalidPatch',
  /** A text is not a valid quantity, time, percentage, object key or other value. */
  'InvalidValue',
  /** An apply without `force` would change fields that other managers own. */
  'ApplyConflict',
  /** The API server answered with an error: an `ApiError`, which carries the `Status`. */
  'ApiError',
  /** No response arrived: connection refused or reset, DNS, TLS, or a server that went away. */
  'ConnectionFailed',
  /** The call exceeded its time limit. */
  'Timeout',
  /** An object or a document nests too deeply for recursive functions. */
  'TooDeep',
  /** The cache cannot accept this object, so it cannot be read; other objects are unaffected. */
  'Quarantined',
  /** The caller's `AbortSignal` ended the call. */
  'Aborted',
  /** The API server does not serve the kind: a CRD is missing, or the version is wrong. */
  'UnknownKind',
  /** A kubeconfig or the in-cluster credentials could not be read. */
  'InvalidKubeConfig',
  /** The object already has another controller. */
  'AlreadyOwned',
  /** Kubernetes does not allow the owner reference: across namespaces, or to a wider scope. */
  'InvalidOwner',
  /** Two objects of a chain have the same kind, namespace and name. */
  'DuplicateObject',
  /** A chain refers to a name that was never chained. */
  'UnknownReference',
  /** The object exists, and has no owner. With another owner, the code is `AlreadyOwned`. */
  'NotOurs',
  /** A change to a field that the API server treats as immutable. */
  'ImmutableField',
  /** Pruning would have deleted more objects than `maxDeletions` allows. Nothing was deleted. */
  'TooManyDeletions',
  /** Several objects of one reconcile failed; `errors` has each error. */
  'ReconcileFailed',
  /** A retry cannot succeed until the desired state changes. */
  'Terminal',
  /** A dependency of the object failed, so the object was not touched. */
  'DependencyFailed',
  /** An object was used after it was stopped or closed. */
  'Stopped',
  /** A write was refused before it was sent: the lease of this process is not fresh. */
  'Fenced',
  /** During a plan, a handler made a request that could change something outside of the cluster. It was not sent. */
  'OutsideWrite',
  /** An object that runs once was started again. */
  'AlreadyStarted',
  /** A server cannot listen: its port is in use, or the process lacks permission. */
  'ListenFailed',
  /** This process was the leader, and its lease was deleted or taken over. */
  'LeadershipLost',
  /** RBAC does not allow this process to read or write the leader election Lease. */
  'LeaseForbidden',
  /** The operator's account lacks permissions that were checked at the start. */
  'MissingPermission',
  /**
   * An operator that was killed at some request ended in another state than an operator that was not killed.
   */
  'CrashPointFailed',
  /** An operator did not recover from a request that failed once. */
  'FaultSweepFailed',
  /** The owner is deleted, but objects that the operator created remain. */
  'LeftOvers',
  /** An object has changed after its conversion to another version and back. */
  'ConversionLoss',
  /** A fault that a test injects never happened, so the test proves nothing about it. */
  'FaultNotInjected',
  /** A part of a resource chain, a file of a project or an input of a command is invalid. */
  'InvalidConfig',
  /** A chain cannot run: it has no resources, or several sets handle one object. */
  'ExecutionFailed',
  /** No set of a router handles the object; another framework may. */
  'NoResourceSet',
  /** A step of a resource threw; `cause` is the thrown error. */
  'ResourceFailed',
  /**
   * A step reports that a retry is useless; `cause` is the reason. Ends `withRetry`, which throws the cause.
   */
  'Permanent',
  /** A newer version of the operator deployed the configuration. */
  'Downgrade',
  /** A declarative controller keeps writing one object: it reverts another writer, or triggers itself. */
  'HotLoop',
  /** A declarative controller keeps creating objects from its own results. */
  'GrowthLimit',
  /** A document does not fit an operation of a declarative operator; the pipeline continues. */
  'InvalidData',
  /** A declarative operator cannot be loaded; `problems` lists the paths and the remedies. */
  'InvalidSpec',
  /** An object to patch by a declarative operator, or to scale by an autoscaler, does not exist. */
  'TargetMissing',
  /** Two declarative controllers of a process write one object. */
  'TargetConflict',
  /** A declarative operator cannot write an object that is being deleted. */
  'TargetDeleting',
] as const;

/** The code of an {@link OperatorError}. */
export type ErrorCode = (typeof errorCodes)[number];

/** Options of {@link ConnectionError}. */
export interface ConnectionErrorOptions extends OperatorErrorOptions {
  /** Whether any byte of the request may have reached the server. */
  readonly requestSent: boolean;
}

/** `ConnectionFailed`: no response arrived, or it broke off. */
export class ConnectionError extends OperatorError {
  /**
   * False: no connection was made, so the server did nothing. True: the server may have carried out a write,
   * so only a repeatable request may be sent again.
   */
  readonly requestSent: boolean;

  constructor(message: string, options: ConnectionErrorOptions) {
    super('ConnectionFailed', message, options);
    this.requestSent = options.requestSent;
  }
}
