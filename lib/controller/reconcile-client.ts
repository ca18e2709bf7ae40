import type { CachingClient, CallOptions, Client, WriteOptions } from '../client/client.js';
import type { Fence } from '../client/fence.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import { OperatorError, isOperatorError } from '../system/operator-error.js';

/** The client of a reconcile. */
export interface ReconcileClient extends CachingClient {
  /** Reads from the server, not from the cache. */
  readonly live: Client;
  /** The kinds that the controller owns, as its `owns()` said; a `Builder` prunes by them. */
  readonly owns: readonly TypeReference<KubernetesObject>[];
}

/** One write of a reconcile, that was carried out. */
export interface ObservedWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'apply' | 'delete';
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
  /** The server's answer; undefined: the object is gone. */
  readonly answer: KubernetesObject | undefined;
}

/** What a {@link reconcileClient} heeds. */
export interface ReconcileGuard {
  /** The kinds that the controller owns. */
  readonly owns: readonly TypeReference<KubernetesObject>[];
  /** Takes note of a write that has begun, until it settles. @returns it */
  track<T>(write: Promise<T>): Promise<T>;
  /**
   * Ends every read that was given no signal of its own; once aborted, no write is sent. Asked for by
   * each call: one that nobody asks for need not be made.
   */
  readonly signal: AbortSignal;
  /** Ends every write, also one that is on its way. Aborted no earlier than `signal`. */
  readonly writeSignal: AbortSignal;
  /** Whether its handler has ended: what it left running begins no write any more. */
  isOver(): boolean;
  /** Told before each write that is stored. @returns what is told of its answer */
  observe(target: Target): (write: ObservedWrite) => void;
}

interface Target {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
}

/**
 * `client` for one reconcile: its calls end with the reconcile's signal, and after that it refuses
 * to write, with the code of the signal's reason (`Timeout`, `Stopped`, `Fenced`): a handler that
 * goes on does no harm, nor does what it left running when it ended. A write that was on its way by
 * then may still be carried out.
 */
export function reconcileClient(client: CachingClient, guard: ReconcileGuard): ReconcileClient {
  const live = new GuardedClient(client.live ?? client, guard);
  return Object.assign(new GuardedClient(client, guard), {
    ...{ live, looks: client.looks, owns: guard.owns },
  });
}

/** Its calls are fields, not methods: who takes one from it, or spreads it, has a whole call. */
class GuardedClient implements Client {
  readonly #client: Client;
  readonly #guard: ReconcileGuard;
  readonly #fence: Fence;

  constructor(client: Client, guard: ReconcileGuard) {
    this.#client = client;
    this.#guard = guard;
    this.#fence = {
      check: (what) => {
        if (guard.signal.aborted) refuse(what, guard.signal.reason);
      },
    };
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
    const wrote = begin(this.#guard, { verb: 'create', ...targetOf(object, options) }, options);
    const writing = this.#client.create(object, this.#endingWrite(options));
    const answer = await this.#guard.track(writing);
    wrote(answer);
    return answer;
  };

  readonly update: Client['update'] = async (object, options) => {
    const wrote = begin(this.#guard, { verb: 'update', ...targetOf(object, options) }, options);
    const writing = this.#client.update(object, this.#endingWrite(options));
    const answer = await this.#guard.track(writing);
    wrote(answer);
    return answer;
  };

  readonly patch: Client['patch'] = async (type, key, patch, options) => {
    const wrote = begin(this.#guard, { verb: 'patch', type, key }, options);
    const writing = this.#client.patch(type, key, patch, this.#endingWrite(options));
    const answer = await this.#guard.track(writing);
    wrote(answer);
    return answer;
  };

  readonly apply: Client['apply'] = async (object, options) => {
    const wrote = begin(this.#guard, { verb: 'apply', ...targetOf(object, options) }, options);
    const writing = this.#client.apply(object, this.#endingWrite(options));
    const applied = await this.#guard.track(writing);
    wrote(applied.object);
    return applied;
  };

  readonly delete: Client['delete'] = async (type, key, options) => {
    const wrote = begin(this.#guard, { verb: 'delete', type, key }, options);
    const writing = this.#client.delete(type, key, this.#endingWrite(options));
    const remaining = await this.#guard.track(writing);
    wrote(remaining);
    return remaining;
  };

  readonly deleteCollection: Client['deleteCollection'] = async (type, options) => {
    refuseAfter(this.#guard, `deleteCollection ${type.kind}`);
    await this.#guard.track(this.#client.deleteCollection(type, this.#endingWrite(options)));
  };

  #ending<Options extends CallOptions>(options: Options | undefined): Options {
    return { ...(options as Options), signal: options?.signal ?? this.#guard.signal };
  }

  /** A write must not be sent when its reconcile may not write, however long it has waited. */
  #endingWrite<Options extends Pick<WriteOptions, 'signal' | 'fences'>>(
    options: Options | undefined,
  ): Options {
    const { signal, writeSignal } = this.#guard;
    const own = options?.signal;
    const isOwn = own !== undefined && own !== signal;
    const both = isOwn ? AbortSignal.any([own, writeSignal]) : writeSignal;
    const fences = [...(options?.fences ?? []), this.#fence];
    return { ...(options as Options), signal: both, fences };
  }
}

/** @returns what to call with the answer */
function begin(
  guard: ReconcileGuard,
  write: Omit<ObservedWrite, 'answer'>,
  options: { readonly dryRun?: boolean | undefined } = {},
): (answer: KubernetesObject | undefined) => void {
  const { verb, type, key } = write;
  refuseAfter(guard, `${verb} ${type.kind} ${key.name}`);
  if (options.dryRun === true) return () => undefined;
  const wrote = guard.observe({ type, key });
  return (answer) => wrote({ ...write, answer });
}

/** @throws OperatorError of the reason's code once `signal` is aborted, `Stopped` after the handler. */
function refuseAfter(guard: ReconcileGuard, what: string): void {
  if (guard.signal.aborted) refuse(what, guard.signal.reason);
  if (guard.isOver()) refuse(what, new OperatorError('Stopped', 'its handler has ended'));
}

function refuse(what: string, cause: unknown): never {
  const code = isOperatorError(cause) ? cause.code : 'Aborted';
  throw new OperatorError(code, `${what}: refused, the reconcile is over`, { cause });
}

function targetOf(
  object: KubernetesObject,
  { parent }: { readonly parent?: Target['type'] | undefined } = {},
): Target {
  const { namespace, name = '' } = object.metadata;
  return { type: parent ?? object, key: { namespace, name } };
}
