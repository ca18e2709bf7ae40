import type { ApplyOptions, Client, DeleteOptions, WriteOptions } from '../client/index.js';
import { dryRun, forwarding } from '../client/index.js';
import { ApiError, keyOf, groupOfType } from '../object/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  UnstructuredObject,
  TypeReference,
} from '../object/index.js';
import { systemRandom } from '../system/index.js';
import type { Random } from '../system/index.js';
import type { PlannedObjects } from './planned-objects.js';
import { PlannedWrites } from './planned-writes.js';

/** Parts of a {@link planningClient}. */
export interface PlanningParts {
  readonly planned: PlannedObjects;
  /** Source of uids for planned objects. @defaultValue the system's random source */
  readonly random?: Random | undefined;
}

/**
 * API groups of reviews and Events, which are not part of a plan. Their writes are sent as dry runs, and later reads do
 * not contain them.
 */
const passing = ['authentication.k8s.io', 'authorization.k8s.io', 'events.k8s.io'];

/**
 * Returns a client whose writes are dry runs. It lays their results over its reads, so that a caller that writes and
 * then reads gets the planned state. The server stores nothing. Dry runs do not build upon each other; this client
 * combines several writes to one object.
 *
 * ## Caveats
 * - A watch shows the server's state.
 * - Effects of other controllers and garbage collection are missing, except those laid over by
 *   `PlannedObjects.simulate`.
 * - Subresources other than `status` are sent as dry runs and not laid over anything.
 */
export function planningClient(
  client: Client,
  { planned, random = systemRandom }: PlanningParts,
): Client {
  const dry = dryRun(client);
  const writes = new PlannedWrites({ dry, reads: client, planned, random });
  const writer = writesOf(dry, writes);
  return {
    ...forwarding(dry),
    ...writer,
    get: async <T extends KubernetesObject>(
      ...[type, key, options = {}]: Parameters<Client['get']>
    ) => {
      const state = isWhole(options.subresource) ? planned.get(type, key) : undefined;
      if (state === undefined) {
        const live = await client.get(type, key, options);
        if (isWhole(options.subresource) && options.metadataOnly !== true) {
          planned.see(type, live as unknown as UnstructuredObject);
        }
        return live as unknown as T;
      }
      if (state.after === undefined) throw notFound(type, key);
      return structuredClone(state.after) as unknown as T;
    },
    list: async (type, options = {}) => {
      const list = await client.list(type, options);
      return { ...list, items: planned.laidOver(list.items, type, options) };
    },
    pages: async function* (type, options = {}) {
      const list = await client.list(type, options);
      yield { ...list, items: planned.laidOver(list.items, type, options) };
    },
    deleteCollection: async (type, options = {}) => {
      const { namespace, labelSelector, fieldSelector, signal } = options;
      const selection = { namespace, labelSelector, fieldSelector, signal };
      const { items } = await client.list(type, selection);
      const all = planned.laidOver(items, type, selection);
      await dry.deleteCollection(type, options);
      if (options.dryRun === true) return;
      const { propagationPolicy } = options;
      for (const object of all) await writes.delete(type, keyOf(object), { propagationPolicy });
    },
  };
}

type Writes = Pick<Client, 'create' | 'update' | 'patch' | 'apply' | 'delete'>;

function writesOf(dry: Client, writes: PlannedWrites): Writes {
  const isPlanned = (
    type: TypeReference<KubernetesObject>,
    { dryRun: isDry, subresource, parent }: WriteOptions,
  ): boolean => isDry !== true && isWhole(subresource) && parent === undefined && !isPassing(type);
  return {
    create: async <T extends KubernetesObject>(object: T, options: WriteOptions = {}) => {
      if (!isPlanned(object, options)) return dry.create(object, options);
      return (await writes.create(object, options)) as unknown as T;
    },
    update: async <T extends KubernetesObject>(object: T, options: WriteOptions = {}) => {
      if (!isPlanned(object, options)) return dry.update(object, options);
      return (await writes.update(object, options)) as unknown as T;
    },
    patch: async <T extends KubernetesObject>(
      type: TypeReference<T>,
      key: ObjectKey,
      ...[patch, options = {}]: [Parameters<Client['patch']>[2], WriteOptions?]
    ) => {
      if (!isPlanned(type, options)) return dry.patch(type, key, patch, options);
      return (await writes.patch({ type, key }, patch, options)) as unknown as T;
    },
    apply: async <T extends KubernetesObject>(object: T, options: ApplyOptions = {}) => {
      if (!isPlanned(object, options)) return writes.tryApply(object, options);
      const { object: answer, created } = await writes.apply(object, options);
      return { object: answer as unknown as T, created };
    },
    delete: async <T extends KubernetesObject>(
      type: TypeReference<T>,
      key: ObjectKey,
      options: DeleteOptions = {},
    ) => {
      if (!isPlanned(type, { dryRun: options.dryRun })) return dry.delete(type, key, options);
      return (await writes.delete(type, key, options)) as unknown as T | undefined;
    },
  };
}

/** Whether the request is for the object or its status, which is part of the object. */
function isWhole(subresource: string | undefined): boolean {
  return subresource === undefined || subresource === 'status';
}

function isPassing(type: TypeReference<KubernetesObject>): boolean {
  const group = groupOfType(type);
  return passing.includes(group) || (group === '' && type.kind === 'Event');
}

/** Returns the server's error for a missing object. */
function notFound(
  { kind }: TypeReference<KubernetesObject>,
  { namespace, name }: ObjectKey,
): ApiError {
  const message = `${kind} "${name}" not found, as planned`;
  const body = { kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', message };
  return new ApiError(body, { verb: 'get', kind, namespace, name, status: 404 });
}
