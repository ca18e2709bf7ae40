import type { CachingClient, CallOptions, Client, WriteOptions, Fence } from '../client/index.js';
import type { KubernetesObject, ObjectKey, TypeReference } from '../object/index.js';
import { keyString, kindText } from '../object/index.js';
import { OperatorError, isOperatorError } from '../system/index.js';

/** The client of a reconcile. */
export interface ReconcileClient extends CachingClient {
  /** Reads from the server instead of the cache. */
  readonly live: Client;
  /** The kinds from the controller's `owns()`; a `Builder` prunes objects of these kinds. */
  readonly owns: readonly TypeReference<KubernetesObject>[];
}

/** A completed write of a reconcile. */
export interface ObservedWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'apply' | 'delete';
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
  /** The server's answer; undefined if the object is gone. */
  readonly answer: KubernetesObject | undefined;
}

/** The limits of a `reconcileClient`, and the functions that observe its writes. */
export interface ReconcileGuard {
  /** The kinds that the controller owns. */
  readonly owns: readonly TypeReference<KubernetesObject>[];
  /**
   * Tracks a write until it settles.
   * @returns the result of `write`
   */
  track<T>(write: Promise<T>, what: WriteTarget): Promise<T>;
  /**
   * Ends every read without its own signal; once it is aborted, no write is sent. Each call reads this
   * property, so that an unused signal is never created.
   */
  readonly signal: AbortSignal;
  /** Ends every write, including pending ones. Aborted no earlier than `signal`. */
  readonly writeSignal: AbortSignal;
  /** True if the handler has ended; calls that it left running can no longer start a write. */
  readonly isOver: boolean;
  /** Checked twice for each write: when it is called, and when it is sent. */
  readonly fences: readonly Fence[];
  /**
   * Called before each write that is not a dry run.
   * @returns a function that receives the completed write
   */
  observe(target: Target): (write: ObservedWrite) => void;
}

/** The verb and the object of a write. Without a key, the write is for objects of the kind. */
export interface WriteTarget {
  readonly verb: ObservedWrite['verb'] | 'deleteCollection';
  readonly type: TypeReference<KubernetesObject>;
  readonly key?: ObjectKey;
}

/** The object of a write. */
export interface Target {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
}

/**
 * Wraps `client` for one reconcile. Its calls end with the reconcile's signal. After that, or after the
 * handler has ended, it refuses to write, so that a handler that continues does no harm. The error has the
 * code of the signal's reason (`Timeout`, `Stopped`, `Fenced`). A write that is pending by then may still be
 * carried out.
 */
export function reconcileClient(client: CachingClient, guard: ReconcileGuard): ReconcileClient {
  return new GuardedCachingClient(client, guard);
}

/** Returns the limits of `guard` with another signal, which ends its calls. */
export function guardUntil(signal: AbortSignal, guard: ReconcileGuard): ReconcileGuard {
  return {
    ...{ signal, writeSignal: signal, owns: guard.owns },
    track: (write, what) => guard.track(write, what),
    observe: (target) => guard.observe(target),
    get isOver() {
      return guard.isOver;
    },
    get fences() {
      return guard.fences;
    },
  };
}

/** A client whose calls are fields, not methods, so that they work when destructured or spread. */
class GuardedClient implements Client {
  readonly #client: Client;
  readonly #guard: ReconcileGuard;
  #fences: readonly Fence[] | undefined;
  #endingOptions: CallOptions | undefined;

  constructor(client: Client, guard: ReconcileGuard) {
    this.#client = client;
    this.#guard = guard;
  }

  readonly get: Client['get'] = (type, key, options) =>
    this.#client.get(type, key, this.#ending(options));

  readonly list: Client['list'] = (type, options) => this.#client.list(type, this.#ending(options));

  readonly pages: Client['pages'] = (type, options) =>
    this.#client.pages(type, this.#ending(options));

  readonly watch: Client['watch'] = (type, options) =>
    this.#client.watch(type, this.#ending(options));

  readonly stream: Client['stream'] = (type, key, options) =>
    this.#client.stream(type, key, this.#ending(options));

  readonly resourceType: Client['resourceType'] = (type) => this.#client.resourceType(type);

  readonly create: Client['create'] = async (object, options) => {
    const write = { verb: 'create', ...targetOf(object, options) } as const;
    const wrote = begin(this.#guard, write, options);
    const writing = this.#client.create(object, this.#endingWrite(options));
    const answer = await this.#guard.track(writing, write);
    wrote(answer);
    return answer;
  };

  readonly update: Client['update'] = async (object, options) => {
    const write = { verb: 'update', ...targetOf(object, options) } as const;
    const wrote = begin(this.#guard, write, options);
    const writing = this.#client.update(object, this.#endingWrite(options));
    const answer = await this.#guard.track(writing, write);
    wrote(answer);
    return answer;
  };

  readonly patch: Client['patch'] = async (type, key, patch, options) => {
    const write = { verb: 'patch', type, key } as const;
    const wrote = begin(this.#guard, write, options);
    const writing = this.#client.patch(type, key, patch, this.#endingWrite(options));
    const answer = await this.#guard.track(writing, write);
    wrote(answer);
    return answer;
  };

  readonly apply: Client['apply'] = async (object, options) => {
    const write = { verb: 'apply', ...targetOf(object, options) } as const;
    const wrote = begin(this.#guard, write, options);
    const writing = this.#client.apply(object, this.#endingWrite(options));
    const applied = await this.#guard.track(writing, write);
    wrote(applied.object);
    return applied;
  };

  readonly delete: Client['delete'] = async (type, key, options) => {
    const write = { verb: 'delete', type, key } as const;
    const wrote = begin(this.#guard, write, options);
    const writing = this.#client.delete(type, key, this.#endingWrite(options));
    const remaining = await this.#guard.track(writing, write);
    wrote(remaining);
    return remaining;
  };

  readonly deleteCollection: Client['deleteCollection'] = async (type, options) => {
    refuseAfter(this.#guard, describeWrite({ verb: 'deleteCollection', type }));
    const deleting = this.#client.deleteCollection(type, this.#endingWrite(options));
    await this.#guard.track(deleting, { verb: 'deleteCollection', type });
  };

  #ending<Options extends CallOptions>(options: Options | undefined): Options {
    if (options?.signal !== undefined) return options;
    if (options !== undefined) return new EndingOptions(this.#guard, options) as unknown as Options;
    return (this.#endingOptions ??= new EndingOptions(this.#guard)) as Options;
  }

  /** Adds fences, so that a write that waited to be sent is refused if its reconcile must no longer write. */
  #endingWrite<Options extends Pick<WriteOptions, 'signal' | 'fences'>>(
    options: Options | undefined,
  ): Options {
    const { signal, writeSignal } = this.#guard;
    const own = options?.signal;
    const isOwn = own !== undefined && own !== signal;
    const both = isOwn ? AbortSignal.any([own, writeSignal]) : writeSignal;
    const fences = [...(options?.fences ?? []), ...(this.#fences ??= fencesOf(this.#guard))];
    return { ...(options as Options), signal: both, fences };
  }
}

/** A {@link GuardedClient} with the further members of a {@link ReconcileClient}. */
class GuardedCachingClient extends GuardedClient implements ReconcileClient {
  readonly looks: CachingClient['looks'];
  readonly owns: ReconcileGuard['owns'];
  declare readonly live: Client;
  readonly #newLive: () => Client;
  #live: Client | undefined;

  constructor(client: CachingClient, guard: ReconcileGuard) {
    super(client, guard);
    this.looks = client.looks;
    this.owns = guard.owns;
    this.#newLive = () => new GuardedClient(client.live ?? client, guard);
    Object.defineProperty(this, 'live', GuardedCachingClient.#liveProperty);
  }

  // All clients share this property, so that they have the same hidden class.
  static readonly #liveProperty: PropertyDescriptor = {
    enumerable: true,
    get(this: GuardedCachingClient) {
      return (this.#live ??= this.#newLive());
    },
  };
}

/**
 * Options of a read that ends with the guard's signal. A read that the cache answers needs no signal, so it
 * is created on first access.
 */
class EndingOptions implements CallOptions {
  declare readonly signal: AbortSignal;
  readonly #guard: ReconcileGuard;

  constructor(guard: ReconcileGuard, options?: CallOptions) {
    this.#guard = guard;
    if (options !== undefined) Object.assign(this, options);
    Object.defineProperty(this, 'signal', EndingOptions.#signalProperty);
  }

  static readonly #signalProperty: PropertyDescriptor = {
    configurable: true,
    enumerable: true,
    get(this: EndingOptions) {
      return this.#guard.signal;
    },
  };
}

/** Returns the fences of a guard, and a further one that refuses writes after its signal was aborted. */
function fencesOf(guard: ReconcileGuard): readonly Fence[] {
  const ending: Fence = {
    check: (what) => {
      if (guard.signal.aborted) refuse(what, guard.signal.reason);
    },
  };
  return [...guard.fences, ending];
}

/** Checks a write, and calls `observe` before it is sent. Returns a function to call with the answer of the server. */
function begin(
  guard: ReconcileGuard,
  write: Omit<ObservedWrite, 'answer'>,
  options: { readonly dryRun?: boolean | undefined } = {},
): (answer: KubernetesObject | undefined) => void {
  const { type, key } = write;
  refuseAfter(guard, describeWrite(write));
  if (options.dryRun === true) return () => undefined;
  const wrote = guard.observe({ type, key });
  return (answer) => wrote({ ...write, answer });
}

/**
 * Refuses a call of a reconcile that was aborted or has ended, or that a fence forbids.
 * @throws OperatorError with the code of the signal's reason, `Stopped` after the handler has returned, or the error
 *   of the fence.
 */
function refuseAfter(guard: ReconcileGuard, what: string): void {
  if (guard.signal.aborted) refuse(what, guard.signal.reason);
  if (guard.isOver) {
    const why =
      'its handler has returned: await the call, and each function that makes it, in the handler';
    refuse(what, new OperatorError('Stopped', why));
  }
  // Check the fences here too: a client that sends no requests of its own (a fake, a recorder) may ignore them.
  for (const fence of guard.fences) fence.check(what);
}

function refuse(what: string, cause: unknown): never {
  const code = isOperatorError(cause) ? cause.code : 'Aborted';
  const why = cause instanceof Error && code === 'Stopped' ? `, ${cause.message}` : '';
  throw new OperatorError(code, `${what}: refused, the reconcile is over${why}`, { cause });
}

/** Returns verb, kind and key. */
export function describeWrite({ verb, type, key }: WriteTarget): string {
  const what = `${verb} ${kindText(type)}`;
  return key === undefined ? what : `${what} ${keyString(key)}`;
}

function targetOf(
  object: KubernetesObject,
  { parent }: { readonly parent?: Target['type'] | undefined } = {},
): Target {
  const { namespace, name = '' } = object.metadata;
  return { type: parent ?? object, key: { namespace, name } };
}
