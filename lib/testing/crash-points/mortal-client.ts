import type { CallOptions, Client, WriteOptions } from '../../client/client.js';
import type { KubernetesObject, ObjectKey, ObjectList } from '../../object/kubernetes-object.js';
import type { OperatorLife } from './operator-life.js';
import type { TracedCall } from './request-trace.js';

/** Creates a client that dies with `life`. It traces every request except watches and discovery. */
export function mortalClient(client: Client, life: OperatorLife): Client {
  return {
    resourceType: async (type) => {
      life.check();
      return client.resourceType(type);
    },
    get: (type, key, options) =>
      life.call(
        { verb: 'get', type, ...keyOf(key), ...subresourceOf(options) },
        { send: (last) => client.get(type, key, sent(options, last)) },
      ),
    list: (type, options) =>
      life.call(
        { verb: 'list', type, namespace: options?.namespace },
        { send: (last) => client.list(type, sent(options, last)) },
      ),
    pages: (type, options) => {
      const pages = client.pages(type, options)[Symbol.asyncIterator]();
      const call = { verb: 'list', type, namespace: options?.namespace } as const;
      return pagesUntilLast(() => life.call(call, { send: () => pages.next() }));
    },
    watch: async function* (type, options) {
      life.check();
      for await (const event of client.watch(type, endingWith(life, options ?? {}))) {
        life.check();
        yield event;
      }
    },
    stream: async function* (type, key, options) {
      life.check();
      for await (const bytes of client.stream(type, key, endingWith(life, options))) {
        life.check();
        yield bytes;
      }
    },
    ...mortalWrites(client, life),
  };
}

function endingWith<O extends CallOptions>(life: OperatorLife, options: O): O {
  const { signal } = options;
  if (signal === undefined) return { ...options, signal: life.signal };
  return { ...options, signal: AbortSignal.any([signal, life.signal]) };
}

type Writes = Pick<Client, 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deleteCollection'>;

function mortalWrites(client: Client, life: OperatorLife): Writes {
  return {
    create: (object, options) =>
      life.call(callFor('create', object, options), {
        send: (last) => client.create(object, sent(options, last)),
        wasCreated: () => options?.subresource === undefined,
      }),
    update: (object, options) =>
      life.call(callFor('update', object, options), {
        send: (last) => client.update(object, sent(options, last)),
      }),
    patch: (type, key, patch, options) =>
      life.call(
        { verb: 'patch', type, ...keyOf(key), ...writeOf(options) },
        { send: (last) => client.patch(type, key, patch, sent(options, last)) },
      ),
    apply: (object, options) =>
      life.call(callFor('apply', object, options), {
        send: (last) => client.apply(object, sent(options, last)),
        wasCreated: ({ created }) => created,
      }),
    delete: (type, key, options) =>
      life.call(
        { verb: 'delete', type, ...keyOf(key), ...writeOf(options) },
        { send: (last) => client.delete(type, key, sent(options, last)) },
      ),
    deleteCollection: (type, options) =>
      life.call(
        { verb: 'deletecollection', type, namespace: options?.namespace, ...writeOf(options) },
        { send: (last) => client.deleteCollection(type, sent(options, last)) },
      ),
  };
}

/** Skips the last `next` of an iterator, which would send no request. */
async function* pagesUntilLast<T extends KubernetesObject>(
  next: () => Promise<IteratorResult<ObjectList<T>, unknown>>,
): AsyncGenerator<ObjectList<T>> {
  for (;;) {
    const page = await next();
    if (page.done === true) return;
    yield page.value;
    if ((page.value.metadata.continue ?? '') === '') return;
  }
}

/** Removes the signal of the last call: that request arrives in any case, so no signal may abort it. */
function sent<O extends CallOptions>(options: O | undefined, last: boolean): O | undefined {
  return last && options !== undefined ? { ...options, signal: undefined } : options;
}

function callFor(
  verb: 'create' | 'update' | 'apply',
  object: KubernetesObject,
  options: WriteOptions | undefined,
): TracedCall {
  const { apiVersion, kind, metadata } = object;
  const { namespace, generateName } = metadata;
  const name = metadata.name ?? (generateName === undefined ? undefined : `${generateName}*`);
  return { verb, type: { apiVersion, kind }, namespace, name, ...writeOf(options) };
}

function writeOf(
  options: Pick<WriteOptions, 'subresource' | 'dryRun'> | undefined,
): Pick<TracedCall, 'subresource' | 'dryRun'> {
  return { ...subresourceOf(options), dryRun: options?.dryRun };
}

function subresourceOf(options: Pick<WriteOptions, 'subresource'> | undefined): {
  readonly subresource?: string;
} {
  return options?.subresource === undefined ? {} : { subresource: options.subresource };
}

function keyOf({ namespace, name }: ObjectKey): ObjectKey {
  return { namespace, name };
}
