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
  /** Ends the reconcile when it is aborted. @defaultValue a signal that is never aborted */
  readonly signal?: AbortSignal | undefined;
  /** The logger of the resources. @defaultValue logs nothing */
  readonly logger?: Logger | undefined;
  /** Records the Events of the resources. @defaultValue records nothing */
  readonly recorder?: Recorder | undefined;
  /** The clock of the resources. @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** The random source of the resources. @defaultValue the system's random source */
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
  return new PassContext(parts, pass, { place: pass.place, scope: Symbol(), attempts: [] });
}

/** The parts that all contexts of a reconcile share. */
export type PassParts = Pick<
  ResourceContext,
  'client' | 'signal' | 'logger' | 'recorder' | 'clock' | 'random' | 'fieldManager'
>;

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
  readonly #scope: symbol;
  readonly #attempts: readonly symbol[];
  #logger: Logger | undefined;

  constructor(parts: PassParts, pass: Pass, at: Position) {
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
    this.#attempts = at.attempts;
    Object.freeze(this);
  }

  get pass(): Pass {
    return this.#pass;
  }

  /** Returns a context for another resource; a cancellation of the present resource does not apply to it. */
  inResource(resource: string, step: StepName): PassContext {
    return this.#at({ place: { resourceSet: this.resourceSet, resource, step }, scope: Symbol() });
  }

  /** Returns the context for another step of the same resource. */
  inStep(step: StepName): PassContext {
    return this.#at({ place: { resourceSet: this.resourceSet, resource: this.resource, step } });
  }

  /**
   * Returns the context for an attempt of the same step, and a function that undoes the requests that the attempt made,
   * such as `requeueAfter`.
   */
  inAttempt(): { readonly context: PassContext; readonly undoRequests: () => void } {
    const attempt = Symbol();
    const context = this.#at({ attempts: [...this.#attempts, attempt] });
    return { context, undoRequests: () => this.#pass.undo(attempt) };
  }

  #at(changed: Partial<Position>): PassContext {
    const { resourceSet, resource, step } = this;
    const place = { resourceSet, resource, step };
    const own = { place, scope: this.#scope, attempts: this.#attempts };
    return new PassContext(this.#parts, this.#pass, { ...own, ...changed });
  }

  /**
   * Makes the place of this context the current place of the reconcile.
   * @throws the signal's reason if it is aborted.
   */
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
    this.#request({ type: 'cancelReconciliation', by: this.#here(reason) });
  }

  get reconciliationCanceled(): Cancellation | undefined {
    return this.#pass.reconciliationCanceled;
  }

  cancelResource(reason?: string): void {
    this.#request({ type: 'cancelResource', by: this.#here(reason), scope: this.#scope });
  }

  get resourceCanceled(): Cancellation | undefined {
    return this.#pass.resourceCanceled(this.#scope);
  }

  keepFinalizers(reason?: string): void {
    this.#request({ type: 'keepFinalizers', by: this.#here(reason) });
  }

  get finalizersKept(): readonly Cancellation[] {
    return this.#pass.finalizersKept;
  }

  notReady(reason: string, { holdsChain = false }: NotReadyOptions = {}): void {
    this.#request({ type: 'notReady', by: this.#here(reason), holdsChain });
  }

  get notReadyFor(): readonly Cancellation[] {
    return this.#pass.waiting;
  }

  requeueAfter(ms: number): void {
    const got: unknown = ms;
    if (!(typeof got === 'number' && got > 0 && got < Infinity)) {
      const shown = typeof got === 'number' ? got : `a value of type ${typeof got}`;
      throw new OperatorError(
        'InvalidOption',
        `requeueAfter: want a finite delay of more than 0 ms, got ${shown}`,
      );
    }
    this.#request({ type: 'requeueAfter', ms: got });
  }

  get requeueAfterMs(): number | undefined {
    return this.#pass.requeueAfterMs;
  }

  setUpdateAllowed(): void {
    this.#request({ type: 'allowUpdate' });
  }

  get isUpdateAllowed(): boolean {
    return this.#pass.has('allowUpdate');
  }

  setUpdateNecessary(): void {
    this.#request({ type: 'needUpdate' });
  }

  get isUpdateNecessary(): boolean {
    return this.#pass.has('needUpdate');
  }

  setDeletionAllowed(): void {
    this.#request({ type: 'allowDeletion' });
  }

  get isDeletionAllowed(): boolean {
    return this.#pass.has('allowDeletion');
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

  #request(request: Request): void {
    this.#pass.add(request, this.#attempts);
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
  const remedy = 'pass on the context of the call, or create one with newResourceContext()';
  throw new ExecutionFailedError(`the context is not a ResourceContext: ${remedy}`);
}

function fieldsOf({ resourceSet, resource, step }: Place): Record<string, string> {
  const set = resourceSet === '' ? {} : { resourceSet };
  return resource === '' ? { ...set } : { ...set, resource, step };
}

export type Place = Pick<ResourceContext, 'resourceSet' | 'resource' | 'step'>;

/** The position of a context in its reconcile. */
interface Position {
  readonly place: Place;
  /** Identifies the run of one resource, which `cancelResource` cancels. */
  readonly scope: symbol;
  /** The attempts of retried steps that the context belongs to. */
  readonly attempts: readonly symbol[];
}

/** A request that a step made of its context. */
type Request =
  | { readonly type: 'cancelReconciliation'; readonly by: Cancellation }
  | { readonly type: 'keepFinalizers'; readonly by: Cancellation }
  | { readonly type: 'cancelResource'; readonly by: Cancellation; readonly scope: symbol }
  | { readonly type: 'notReady'; readonly by: Cancellation; readonly holdsChain: boolean }
  | { readonly type: 'requeueAfter'; readonly ms: number }
  | { readonly type: 'allowUpdate' | 'needUpdate' | 'allowDeletion' };

/** The state of one reconcile of one object, which all its contexts share. */
class Pass {
  /** The resources that were not started because the chain ended early. */
  notStarted: readonly string[] = [];
  /** The current place. Shows where a reconcile hangs. */
  place: Place;
  readonly values = new Map<ContextKey<unknown>, unknown>();
  /** The requests in their order, each with the attempts of `withRetry` in which it was made. */
  #requests: { readonly request: Request; readonly attempts: readonly symbol[] }[] = [];

  constructor(resourceSet: string) {
    this.place = { resourceSet, resource: '', step: 'initContext' };
  }

  add(request: Request, attempts: readonly symbol[]): void {
    this.#requests.push({ request, attempts });
  }

  /** Removes the requests of an attempt. Values that it has set stay. */
  undo(attempt: symbol): void {
    this.#requests = this.#requests.filter(({ attempts }) => !attempts.includes(attempt));
  }

  has(type: Request['type']): boolean {
    return this.#requests.some(({ request }) => request.type === type);
  }

  get reconciliationCanceled(): Cancellation | undefined {
    return this.#ofType('cancelReconciliation')[0]?.by;
  }

  /** Returns the first cancellation of a resource. */
  resourceCanceled(scope: symbol): Cancellation | undefined {
    return this.#ofType('cancelResource').find((request) => request.scope === scope)?.by;
  }

  /** The resources that keep the finalizer, each with its first reason. */
  get finalizersKept(): readonly Cancellation[] {
    const kept = new Map<string, Cancellation>();
    for (const { by } of this.#ofType('keepFinalizers')) {
      if (!kept.has(by.resource)) kept.set(by.resource, by);
    }
    return [...kept.values()];
  }

  get waiting(): readonly Cancellation[] {
    const all = this.#ofType('notReady').map(
      ({ by }) => [`${by.resource} ${by.reason}`, by] as const,
    );
    return [...new Map(all).values()];
  }

  /** Whether a resource holds the ones after it. */
  get isHeld(): boolean {
    return this.#ofType('notReady').some(({ holdsChain }) => holdsChain);
  }

  get requeueAfterMs(): number | undefined {
    const delays = this.#ofType('requeueAfter').map(({ ms }) => ms);
    return delays.length === 0 ? undefined : Math.min(...delays);
  }

  #ofType<Type extends Request['type']>(type: Type): Extract<Request, { type: Type }>[] {
    const requests = this.#requests.map(({ request }) => request);
    return requests.filter((request) => request.type === type) as Extract<
      Request,
      { type: Type }
    >[];
  }
}
