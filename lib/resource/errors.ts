import { readableError } from '../controller/index.js';
import { describeObject } from '../object/index.js';
import type { KubernetesObject } from '../object/index.js';
import { OperatorError, isOperatorError } from '../system/index.js';
import type { Place } from './pass-context.js';
import type { ResourceContext } from './resource-context.js';
import type { OperatorErrorOptions } from '../system/index.js';

/** A step of a resource threw, which ended the chain. `cause` is the thrown value. */
export class ResourceFailedError extends OperatorError {
  /** The name of the resource set; `''` if the resource ran outside a set. */
  readonly resourceSet: string;
  readonly resource: string;
  readonly step: ResourceContext['step'];

  constructor(
    place: Pick<ResourceContext, 'resourceSet' | 'resource' | 'step'>,
    object: KubernetesObject,
    cause: unknown,
  ) {
    const where = `${describeObject(object)}: ${describePlace(place)}`;
    super('ResourceFailed', `${where}: ${messageOf(cause)}`, { cause });
    this.resourceSet = place.resourceSet;
    this.resource = place.resource;
    this.step = place.step;
  }
}

/**
 * Wraps the value thrown in `place` in a {@link ResourceFailedError}; an existing one is returned unchanged,
 * because its place is more precise.
 */
export function resourceFailed(
  place: Place,
  object: KubernetesObject,
  thrown: unknown,
): ResourceFailedError {
  const error = readableError(thrown);
  if (isResourceFailed(error)) return error;
  return new ResourceFailedError(place, object, isPermanent(error) ? error.cause : error);
}

/** Whether `error` is a {@link ResourceFailedError}. */
export function isResourceFailed(error: unknown): error is ResourceFailedError {
  return isOperatorError(error, 'ResourceFailed');
}

/** A chain cannot run: it has no resources, several sets handle one object, or a value was never set. */
export class ExecutionFailedError extends OperatorError {
  constructor(message: string, options: OperatorErrorOptions = {}) {
    super('ExecutionFailed', message, options);
  }
}

/** Whether `error` is an {@link ExecutionFailedError}. */
export function isExecutionFailed(error: unknown): error is ExecutionFailedError {
  return isOperatorError(error, 'ExecutionFailed');
}

/** A part of a resource chain is invalid: a name is missing or used twice, or a set has no resources. */
export class InvalidConfigError extends OperatorError {
  constructor(message: string, options: OperatorErrorOptions = {}) {
    super('InvalidConfig', message, options);
  }
}

/** Whether `error` is an {@link InvalidConfigError}. */
export function isInvalidConfig(error: unknown): error is InvalidConfigError {
  return isOperatorError(error, 'InvalidConfig');
}

/** No set of a router handles the object. This is not a fault: another framework may handle it. */
export class NoResourceSetError extends OperatorError {
  constructor(message: string, options: OperatorErrorOptions = {}) {
    super('NoResourceSet', message, options);
  }
}

/** Whether `error` is a {@link NoResourceSetError}. */
export function isNoResourceSet(error: unknown): error is NoResourceSetError {
  return isOperatorError(error, 'NoResourceSet');
}

/**
 * Thrown by a step to report that retries are useless. Ends `withRetry`, which throws its `cause` instead.
 * The object is still requeued: throw a `TerminalError` to prevent that too.
 */
export class PermanentError extends OperatorError {
  constructor(cause: unknown) {
    super('Permanent', messageOf(cause), { cause });
  }
}

/** Whether `error` is a {@link PermanentError}. */
export function isPermanent(error: unknown): error is PermanentError {
  return isOperatorError(error, 'Permanent');
}

/**
 * Describes a thrown value: its message, else the messages of its parts, else its name or type. Never throws,
 * whatever the value.
 */
export function messageOf(thrown: unknown): string {
  const readable = readableError(thrown);
  if (typeof readable !== 'object' || readable === null) return shownValue(readable);
  const { message, name } = readable as Readonly<Record<string, unknown>>;
  const said = typeof message === 'string' || readable instanceof Error ? String(message) : '';
  if (said !== '') return said;
  if (!(readable instanceof Error)) return shownValue(readable);
  return partsOf(readable) || String(name);
}

function partsOf(error: Error): string {
  if (!('errors' in error) || !Array.isArray(error.errors)) return '';
  const parts = (error.errors as unknown[]).filter((part) => part !== error);
  // One level only: an error may contain itself.
  return parts.map((part) => (part instanceof Error ? part.message : shownValue(part))).join('; ');
}

function shownValue(value: unknown): string {
  return typeof value === 'function' || (typeof value === 'object' && value !== null)
    ? `a value of type ${typeof value} was thrown`
    : String(value);
}

/** Formats a place, as in `set v1, resource env, applyCreateChange`. Unknown parts are left out. */
export function describePlace({ resourceSet, resource, step }: Place): string {
  const set = resourceSet === '' ? [] : [`set ${resourceSet}`];
  const named = resource === '' ? [] : [`resource ${resource}`];
  return [...set, ...named, step].join(', ');
}
