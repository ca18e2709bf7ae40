import type { ObjectResult } from '../../../lib/apply/index.js';
import { Cache, cachedClient } from '../../../lib/cache/index.js';
import type { Client } from '../../../lib/client/index.js';
import { Builder } from '../../../lib/builder/index.js';
import type { BuilderOptions, NoNames } from '../../../lib/builder/index.js';
import type { ObjectEvent } from '../../../lib/events/index.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import {
  ConfigMap,
  Deployment,
  PersistentVolumeClaim,
  Secret,
  Service,
  StatefulSet,
} from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import { isOperatorError } from '../../../lib/system/operator-error.js';
import type { OperatorError } from '../../../lib/system/operator-error.js';
import type { BuilderTarget, Operator } from './target.js';
import { isWrite } from './target.js';

/** The kinds that most specs use. A reconcile sends fewer lists for them than for all kinds of the builder. */
export const usedKinds: readonly ResourceType<KubernetesObject>[] = [
  ConfigMap,
  Secret,
  Service,
  Deployment,
  StatefulSet,
  PersistentVolumeClaim,
];

export const controllerName = 'shop-operator';

/** The smallest valid pod spec. */
export const podSpec = { containers: [{ name: 'web', image: 'registry.example/web:1' }] };

/** The type, reason and action of each event that builders record. */
const knownEvents: ReadonlySet<string> = new Set([
  ...['Created Apply', 'Configured Apply', 'Configured Patch'].map((rest) => `Normal ${rest}`),
  ...['Deleted Delete', 'Unblocked Rollout'].map((rest) => `Normal ${rest}`),
  ...['ApplyFailed Apply', 'DeleteFailed Delete', 'PatchFailed Patch'].map(warning),
  ...['PruneForbidden Prune', 'ResizeRefused Resize', 'RolloutStuck Rollout'].map(warning),
  ...['AlreadyOwned', 'DuplicateObject', 'ImmutableField', 'InvalidObject', 'InvalidOption']
    .concat(
      'InvalidOwner',
      'InvalidValue',
      'NotOurs',
      'RunNotRecorded',
      'TooManyDeletions',
      'UnknownKind',
    )
    .concat('UnknownReference')
    .map((reason) => warning(`${reason} Reconcile`)),
]);

function warning(rest: string): string {
  return `Warning ${rest}`;
}

/** Returns the event. @throws Error: `knownEvents` has no event with its type, reason and action. */
function known(event: ObjectEvent): ObjectEvent {
  const { type, reason, action } = event;
  const text = `${type} ${reason} ${action}`;
  if (!knownEvents.has(text)) throw new Error(`an unknown event: ${text}`);
  return event;
}

/** A namespace with an owner, and an operator that reconciles the owner. */
export class Scene {
  readonly target: BuilderTarget;
  readonly operator: Operator;
  readonly namespace: string;
  owner: KubernetesObject;
  readonly events: ObjectEvent[] = [];

  private constructor(parts: Pick<Scene, 'target' | 'operator' | 'namespace' | 'owner'>) {
    this.target = parts.target;
    this.operator = parts.operator;
    this.namespace = parts.namespace;
    this.owner = parts.owner;
  }

  static async open(target: BuilderTarget): Promise<Scene> {
    const [operator, namespace] = await Promise.all([target.operator(), target.namespace()]);
    const owner = await newOwner(target.admin, namespace, 'shop');
    await operator.requests();
    return new Scene({ target, operator, namespace, owner });
  }

  get admin(): Client {
    return this.target.admin;
  }

  /** Returns a new chain, as a reconciler does each time. It may prune all objects. */
  builder<const Order extends string = string>(
    options: Partial<BuilderOptions<Order>> = {},
  ): Builder<NoNames<Order>> {
    return new Builder<Order>({
      client: this.operator.client,
      owner: this.owner,
      controllerName,
      owns: usedKinds,
      maxDeletions: '100%',
      clock: this.target.clock,
      recorder: { record: (event) => this.events.push(known(event)) },
      ...options,
    });
  }

  /** Reconciles until nothing is pending and no rollout progresses. */
  reconcileUntilDone(chain: () => Builder): Promise<readonly ObjectResult[]> {
    return this.target.eventually(async () => {
      const results = await chain().reconcile();
      const waiting = results.filter(
        ({ operation, rollout }) => operation === 'pending' || rollout?.state === 'progressing',
      );
      if (waiting.length > 0) throw new Error(`still pending: ${summary(waiting).join(', ')}`);
      return results;
    });
  }

  /** Returns the writes of the operator since the last call, without those of events. */
  async writes(): Promise<readonly string[]> {
    const requests = await this.operator.requests();
    return requests
      .filter((request) => isWrite(request) && request.resource !== 'events')
      .map(({ verb, resource, name }) => `${verb} ${resource}/${name}`)
      .sort();
  }

  get<T extends KubernetesObject>(type: ResourceType<T>, name: string): Promise<T> {
    return this.admin.get(type, { namespace: this.namespace, name });
  }

  async find<T extends KubernetesObject>(
    type: ResourceType<T>,
    name: string,
  ): Promise<T | undefined> {
    try {
      return await this.get(type, name);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Writes as another field manager, such as kubectl or another controller. */
  async edit(
    type: ResourceType<KubernetesObject>,
    name: string,
    { body, by = 'kubectl-edit' }: { readonly body: object; readonly by?: string },
  ): Promise<void> {
    const patch = { type: 'merge', body } as const;
    await this.admin.patch(type, { namespace: this.namespace, name }, patch, { fieldManager: by });
  }
}

/** Creates an owner: a ConfigMap, which every server serves. */
export async function newOwner(
  admin: Client,
  namespace: string,
  name: string,
): Promise<KubernetesObject> {
  return admin.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } });
}

/** Formats results as `created ConfigMap/env`, … */
export function summary(results: readonly ObjectResult[]): string[] {
  return results.map(({ operation, ref }) => `${operation} ${ref.kind}/${ref.name}`);
}

/** Returns a client that reads `kinds` from a cache, like a controller's client. */
export async function withCache(
  client: Client,
  kinds: readonly ResourceType<KubernetesObject>[],
  keepManagedFields = true,
): Promise<{ readonly client: Client; readonly stop: () => Promise<void> }> {
  const cache = new Cache({ client });
  for (const kind of kinds) cache.informer(kind, { keepManagedFields });
  cache.start();
  await cache.waitForSync();
  return { client: cachedClient(client, cache), stop: () => cache.stop() };
}

/** Returns the error that the work throws. @throws Error the work does not fail */
export async function refusal(work: () => Promise<unknown>): Promise<OperatorError> {
  try {
    await work();
  } catch (error) {
    if (isOperatorError(error)) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

export const claimSpec = {
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
};
