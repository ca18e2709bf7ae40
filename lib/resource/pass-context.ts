import type { Recorder } from '../events/recorder.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import { OperatorError } from '../system/operator-error.js';
import type { Random } from '../system/random.js';
import type { ContextKey } from './context-key.js';
import { ExecutionFailedError } from './execution-failed-error.js';
import { ResourceScope } from './pass.js';
import type { Pass, Place } from './pass.js';
import type {
  Cancellation,
  NotReadyOptions,
  ResourceContext,
  StepName,
} from './resource-context.js';

/** The parts that all contexts of a reconcile share. */
export interface PassParts {
  readonly client: ResourceContext['client'];
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly fieldManager: string | undefined;
}

/** The only implementation of {@link ResourceContext}: a place in a chain, and the state of the reconcile. */
export class PassContext implements ResourceContext {
  readonly client: ResourceContext['client'];
  readonly signal: AbortSignal;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly fieldManager: string | undefined;
  readonly resourceSet: string;
  readonly resource: string;
  readonly step: StepName | 'initContext';
  readonly #parts: PassParts;
  readonly #pass: Pass;
  readonly #scope: ResourceScope;
  #logger: Logger | undefined;

  constructor(parts: PassParts, pass: Pass, at: { place: Place; scope: ResourceScope }) {
    ({
      client: this.client,
      signal: this.signal,
      recorder: this.recorder,
      clock: this.clock,
      random: this.random,
      fieldManager: this.fieldManager,
    } = parts);
    ({ resourceSet: this.resourceSet, resource: this.resource, step: this.step } = at.place);
    this.#parts = parts;
    this.#pass = pass;
    this.#scope = at.scope;
    Object.freeze(this);
  }

  get pass(): Pass {
    return this.#pass;
  }

  /** Returns the context for another resource, which is not canceled. */
  inResource(resource: string, step: StepName): PassContext {
    const place = { resourceSet: this.resourceSet, resource, step };
    return new PassContext(this.#parts, this.#pass, { place, scope: new ResourceScope() });
  }

  /** Returns the context for another step of the same resource. */
  inStep(step: StepName): PassContext {
    const place = { resourceSet: this.resourceSet, resource: this.resource, step };
    return new PassContext(this.#parts, this.#pass, { place, scope: this.#scope });
  }

  /** Makes this the current place of the reconcile. @throws the signal's reason if it is aborted. */
  enter(): void {
    this.signal.throwIfAborted();
    const { resourceSet, resource, step } = this;
    this.#pass.place = { resourceSet, resource, step };
  }

  get logger(): Logger {
    // Lazy: few steps log, and a child logger costs time.
    this.#logger ??= this.#parts.logger.child(fieldsOf(this));
    return this.#logger;
  }

  cancelReconciliation(reason?: string): void {
    this.#pass.reconciliationCanceled ??= this.#here(reason);
  }

  get reconciliationCanceled(): Cancellation | undefined {
    return this.#pass.reconciliationCanceled;
  }

  cancelResource(reason?: string): void {
    this.#scope.canceled ??= this.#here(reason);
  }

  get resourceCanceled(): Cancellation | undefined {
    return this.#scope.canceled;
  }

  keepFinalizers(reason?: string): void {
    this.#pass.keepFinalizers(this.#here(reason));
  }

  get finalizersKept(): readonly Cancellation[] {
    return this.#pass.finalizersKept;
  }

  notReady(reason: string, { holdsChain = false }: NotReadyOptions = {}): void {
    this.#pass.notReady(this.#here(reason), holdsChain);
  }

  get notReadyFor(): readonly Cancellation[] {
    return this.#pass.waiting;
  }

  requeueAfter(ms: number): void {
    const got: unknown = ms;
    if (!(typeof got === 'number' && got > 0)) {
      const shown = typeof got === 'number' ? got : `a value of type ${typeof got}`;
      throw new OperatorError('InvalidOption', `requeueAfter: want more than 0 ms, got ${shown}`);
    }
    this.#pass.requeueAfter(got);
  }

  get requeueAfterMs(): number | undefined {
    return this.#pass.requeueAfterMs;
  }

  setUpdateAllowed(): void {
    this.#pass.isUpdateAllowed = true;
  }

  get isUpdateAllowed(): boolean {
    return this.#pass.isUpdateAllowed;
  }

  setUpdateNecessary(): void {
    this.#pass.isUpdateNecessary = true;
  }

  get isUpdateNecessary(): boolean {
    return this.#pass.isUpdateNecessary;
  }

  setDeletionAllowed(): void {
    this.#pass.isDeletionAllowed = true;
  }

  get isDeletionAllowed(): boolean {
    return this.#pass.isDeletionAllowed;
  }

  set<V>(key: ContextKey<V>, value: V): void {
    this.#pass.values.set(key as ContextKey<unknown>, value);
  }

  get<V>(key: ContextKey<V>): V | undefined {
    return this.#pass.values.get(key as ContextKey<unknown>) as V | undefined;
  }

  need<V>(key: ContextKey<V>): V {
    if (this.#pass.values.has(key as ContextKey<unknown>)) return this.get(key) as V;
    const remedy = 'set it in initContext, or in a resource before this one';
    throw new ExecutionFailedError(`context: no value of ${key.name} was set; ${remedy}`);
  }

  #here(reason = ''): Cancellation {
    const { resource, step } = this;
    return Object.freeze({ resource, step, reason });
  }
}

/**
 * Returns the implementation of a context.
 * @throws ExecutionFailedError it was not made by this package, or is a copy.
 */
export function passContextOf(context: ResourceContext): PassContext {
  if (context instanceof PassContext) return context;
  const remedy = 'hand down the one that you were given, or make one with newResourceContext()';
  throw new ExecutionFailedError(`the context is not a ResourceContext: ${remedy}`);
}

function fieldsOf({ resourceSet, resource, step }: Place): Record<string, string> {
  const set = resourceSet === '' ? {} : { resourceSet };
  return resource === '' ? { ...set } : { ...set, resource, step };
}
