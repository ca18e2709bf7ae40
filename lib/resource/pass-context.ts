import type { Recorder } from '../events/index.js';
import {
  systemClock,
  silentLogger,
  systemRandom,
  refuseUnknownOptions,
  OperatorError,
} from '../system/index.js';
import type { Clock, Logger, Random } from '../system/index.js';
import type {
  ResourceContext,
  ContextKey,
  Cancellation,
  NotReadyOptions,
  StepName,
} from './resource-context.js';
import { ExecutionFailedError } from './errors.js';

/** Options of {@link newResourceContext}. */
export interface ResourceContextOptions {
  readonly client: ResourceContext['client'];
  /** @defaultValue a signal that is never aborted */
  readonly signal?: AbortSignal | undefined;
  /** @defaultValue logs nothing */
  readonly logger?: Logger | undefined;
  /** @defaultValue records nothing */
  readonly recorder?: Recorder | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** The field manager of the objects that ready-made resources apply. @defaultValue each resource's name */
  readonly fieldManager?: string | undefined;
  /** The name of the resource set. @defaultValue '' */
  readonly resourceSet?: string | undefined;
}

const silentRecorder: Recorder = { record: () => undefined };

/**
 * Makes the context of one reconcile of one object, for direct calls of `processUpdate` and `processDelete`
 * and for tests of a resource. Make a new one for each reconcile: it holds the values that resources share.
 * Afterwards it shows their requests: `reconciliationCanceled`, `finalizersKept`, `requeueAfterMs`.
 */
export function newResourceContext(options: ResourceContextOptions): ResourceContext {
  const { client, signal = new AbortController().signal } = options;
  const { logger = silentLogger, recorder = silentRecorder } = options;
  const { clock = systemClock, random = systemRandom, resourceSet = '', fieldManager } = options;
  refuseUnknownOptions<ResourceContextOptions>('newResourceContext', options, {
    ...{ client, signal, logger, recorder, clock, random, resourceSet, fieldManager },
  });
  const pass = new Pass(resourceSet);
  const parts = { client, signal, logger, recorder, clock, random, fieldManager };
  return new PassContext(parts, pass, { place: pass.place, scope: new ResourceScope() });
}

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

  /** Returns a function that undoes the requests made after this call. Values that were set stay. */
  checkpoint(): () => void {
    const { canceled } = this.#scope;
    const undo = this.#pass.checkpoint();
    return () => {
      this.#scope.canceled = canceled;
      undo();
    };
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

/** A place in a chain. */
export type Place = Pick<ResourceContext, 'resourceSet' | 'resource' | 'step'>;

/** The state of one reconcile of one object, which all its contexts share. */
class Pass {
  reconciliationCanceled: Cancellation | undefined;
  requeueAfterMs: number | undefined;
  /** Whether a resource holds the ones after it. */
  isHeld = false;
  /** The resources that were not started because the chain ended early. */
  notStarted: readonly string[] = [];
  isUpdateAllowed = false;
  isUpdateNecessary = false;
  isDeletionAllowed = false;
  /** The current place. Shows where a reconcile hangs. */
  place: Place;
  readonly values = new Map<ContextKey<unknown>, unknown>();
  readonly #kept = new Map<string, Cancellation>();
  readonly #waiting = new Map<string, Cancellation>();

  constructor(resourceSet: string) {
    this.place = { resourceSet, resource: '', step: 'initContext' };
  }

  get finalizersKept(): readonly Cancellation[] {
    return [...this.#kept.values()];
  }

  /** Records that a resource keeps the finalizer. Its first reason stays. */
  keepFinalizers(by: Cancellation): void {
    if (!this.#kept.has(by.resource)) this.#kept.set(by.resource, by);
  }

  get waiting(): readonly Cancellation[] {
    return [...this.#waiting.values()];
  }

  notReady(by: Cancellation, holdsChain: boolean): void {
    this.#waiting.set(`${by.resource} ${by.reason}`, by);
    this.isHeld ||= holdsChain;
  }

  requeueAfter(ms: number): void {
    this.requeueAfterMs = Math.min(ms, this.requeueAfterMs ?? Infinity);
  }

  checkpoint(): () => void {
    const { reconciliationCanceled, requeueAfterMs, isHeld } = this;
    const { isUpdateAllowed, isUpdateNecessary, isDeletionAllowed } = this;
    const ends = { reconciliationCanceled, requeueAfterMs, isHeld };
    const allowed = { isUpdateAllowed, isUpdateNecessary, isDeletionAllowed };
    const before = [this.#kept, this.#waiting].map((map) => ({ map, entries: [...map] }));
    return () => {
      Object.assign(this, ends, allowed);
      for (const { map, entries } of before) {
        map.clear();
        for (const [key, value] of entries) map.set(key, value);
      }
    };
  }
}

/** The state of one resource of a reconcile. */
class ResourceScope {
  canceled: Cancellation | undefined;
}
