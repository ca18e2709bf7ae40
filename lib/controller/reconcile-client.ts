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
  /** Ends every call that was given no signal of its own; once aborted, no write begins. */
  readonly signal: AbortSignal;
  /** Told before each write that is stored. @returns what is told of its answer */
  readonly observe: (target: Target) => (write: ObservedWrite) => void;
}

interface Target {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
}

/**
 * `client` for one reconcile: its calls end with the reconcile's signal, and after that it refuses
 * to write, with the code of the signal's reason (`Timeout`, `Stopped`): a handler that goes on
 * does no harm. A write that was on its way by then may still be carried out.
 */
export function reconcileClient(
  client: Client & { readonly live?: Client },
  guard: ReconcileGuard,
): ReconcileClient {
  const { live = client } = client;
  return { ...guarded(client, guard), live: guarded(live, guard) };
}

function guarded(client: Client, guard: ReconcileGuard): Client {
  const { signal } = guard;
  return {
    ...guardedWrites(client, guard),
    get: (type, key, options) => client.get(type, key, ending(options, signal)),
    list: (type, options) => client.list(type, ending(options, signal)),
    pages: (type, options) => client.pages(type, ending(options, signal)),
    watch: (type, options) => client.watch(type, ending(options, signal)),
    resourceType: (type) => client.resourceType(type),
  };
}

type Writes = Pick<Client, 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deleteCollection'>;

function guardedWrites(client: Client, guard: ReconcileGuard): Writes {
  const { signal } = guard;
  return {
    create: async (object, options) => {
      const wrote = begin(guard, { verb: 'create', ...targetOf(object, options) }, options);
      const answer = await client.create(object, ending(options, signal));
      wrote(answer);
      return answer;
    },
    update: async (object, options) => {
      const wrote = begin(guard, { verb: 'update', ...targetOf(object, options) }, options);
      const answer = await client.update(object, ending(options, signal));
      wrote(answer);
      return answer;
    },
    patch: async (type, key, patch, options) => {
      const wrote = begin(guard, { verb: 'patch', type, key }, options);
      const answer = await client.patch(type, key, patch, ending(options, signal));
      wrote(answer);
      return answer;
    },
    apply: async (object, options) => {
      const wrote = begin(guard, { verb: 'apply', ...targetOf(object, options) }, options);
      const applied = await client.apply(object, ending(options, signal));
      wrote(applied.object);
      return applied;
    },
    delete: async (type, key, options) => {
      const wrote = begin(guard, { verb: 'delete', type, key }, options);
      const remaining = await client.delete(type, key, ending(options, signal));
      wrote(remaining);
      return remaining;
    },
    deleteCollection: async (type, options) => {
      refuseAfter(signal, `deleteCollection ${type.kind}`);
      await client.deleteCollection(type, ending(options, signal));
    },
  };
}

/** @returns what to call with the answer */
function begin(
  { signal, observe }: ReconcileGuard,
  write: Omit<ObservedWrite, 'answer'>,
  options: { readonly dryRun?: boolean | undefined } = {},
): (answer: KubernetesObject | undefined) => void {
  const { verb, type, key } = write;
  refuseAfter(signal, `${verb} ${type.kind} ${key.name}`);
  if (options.dryRun === true) return () => undefined;
  const wrote = observe({ type, key });
  return (answer) => wrote({ ...write, answer });
}

/** @throws OperatorError of the reason's code, once `signal` is aborted. */
function refuseAfter(signal: AbortSignal, what: string): void {
  if (!signal.aborted) return;
  const cause: unknown = signal.reason;
  const code = isOperatorError(cause) ? cause.code : 'Aborted';
  throw new OperatorError(code, `${what}: refused, the reconcile is over`, { cause });
}

function ending<Options extends { readonly signal?: AbortSignal | undefined }>(
  options: Options | undefined,
  signal: AbortSignal,
): Options {
  return { ...(options as Options), signal: options?.signal ?? signal };
}

function targetOf(
  object: KubernetesObject,
  { parent }: { readonly parent?: Target['type'] | undefined } = {},
): Target {
  const { namespace, name = '' } = object.metadata;
  return { type: parent ?? object, key: { namespace, name } };
}
