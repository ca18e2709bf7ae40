import type { Client } from '../client/client.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import { OperatorError, isOperatorError } from '../system/operator-error.js';

/** The client of a reconcile. */
export interface ReconcileClient extends Client {
  /** Reads from the server, not from the cache. */
  readonly live: Client;
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
  /** Takes note of a write that has begun, until it settles. @returns it */
  readonly track: <T>(write: Promise<T>) => Promise<T>;
  /**
   * Ends every write, and every read that was given no signal of its own; once aborted, no write
   * begins.
   */
  readonly signal: AbortSignal;
  /** Whether its handler has ended: what it left running begins no write any more. */
  readonly isOver: () => boolean;
  /** Told before each write that is stored. @returns what is told of its answer */
  readonly observe: (target: Target) => (write: ObservedWrite) => void;
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
export function reconcileClient(
  client: Client & { readonly live?: Client },
  guard: ReconcileGuard,
): ReconcileClient {
  let live: Client | undefined;
  return {
    ...guarded(client, guard),
    // Few ask for it, and each reconcile has its own.
    get live() {
      live ??= guarded(client.live ?? client, guard);
      return live;
    },
  };
}

function guarded(client: Client, guard: ReconcileGuard): Client {
  const { signal } = guard;
  return {
    ...guardedWrites(client, guard),
    get: (type, key, options) => client.get(type, key, ending(options, signal)),
    list: (type, options) => client.list(type, ending(options, signal)),
    pages: (type, options) => client.pages(type, ending(options, signal)),
    watch: (type, options) => client.watch(type, ending(options, signal)),
    stream: (type, key, options) => client.stream(type, key, ending(options, signal)),
    resourceType: (type) => client.resourceType(type),
  };
}

type Writes = Pick<Client, 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deleteCollection'>;

function guardedWrites(client: Client, guard: ReconcileGuard): Writes {
  const { signal, track } = guard;
  return {
    create: async (object, options) => {
      const wrote = begin(guard, { verb: 'create', ...targetOf(object, options) }, options);
      const answer = await track(client.create(object, endingWrite(options, signal)));
      wrote(answer);
      return answer;
    },
    update: async (object, options) => {
      const wrote = begin(guard, { verb: 'update', ...targetOf(object, options) }, options);
      const answer = await track(client.update(object, endingWrite(options, signal)));
      wrote(answer);
      return answer;
    },
    patch: async (type, key, patch, options) => {
      const wrote = begin(guard, { verb: 'patch', type, key }, options);
      const answer = await track(client.patch(type, key, patch, endingWrite(options, signal)));
      wrote(answer);
      return answer;
    },
    apply: async (object, options) => {
      const wrote = begin(guard, { verb: 'apply', ...targetOf(object, options) }, options);
      const applied = await track(client.apply(object, endingWrite(options, signal)));
      wrote(applied.object);
      return applied;
    },
    delete: async (type, key, options) => {
      const wrote = begin(guard, { verb: 'delete', type, key }, options);
      const remaining = await track(client.delete(type, key, endingWrite(options, signal)));
      wrote(remaining);
      return remaining;
    },
    deleteCollection: async (type, options) => {
      refuseAfter(guard, `deleteCollection ${type.kind}`);
      await track(client.deleteCollection(type, endingWrite(options, signal)));
    },
  };
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
function refuseAfter({ signal, isOver }: ReconcileGuard, what: string): void {
  if (!signal.aborted && !isOver()) return;
  const cause: unknown = signal.aborted ? signal.reason : undefined;
  const late = signal.aborted ? 'Aborted' : 'Stopped';
  const code = isOperatorError(cause) ? cause.code : late;
  throw new OperatorError(code, `${what}: refused, the reconcile is over`, { cause });
}

function ending<Options extends { readonly signal?: AbortSignal | undefined }>(
  options: Options | undefined,
  signal: AbortSignal,
): Options {
  return { ...(options as Options), signal: options?.signal ?? signal };
}

/** A write must not go on when its reconcile may not, whatever else ends it. */
function endingWrite<Options extends { readonly signal?: AbortSignal | undefined }>(
  options: Options | undefined,
  signal: AbortSignal,
): Options {
  const own = options?.signal;
  const both = own === undefined ? signal : AbortSignal.any([own, signal]);
  return { ...(options as Options), signal: both };
}

function targetOf(
  object: KubernetesObject,
  { parent }: { readonly parent?: Target['type'] | undefined } = {},
): Target {
  const { namespace, name = '' } = object.metadata;
  return { type: parent ?? object, key: { namespace, name } };
}
