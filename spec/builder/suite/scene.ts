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
import type { BuilderTarget, Operator } from './target.js';
import { isWrite } from './target.js';

/** Kinds that most specs use; fewer lists than all of the builder's. */
export const usedKinds: readonly ResourceType<KubernetesObject>[] = [
  ConfigMap,
  Secret,
  Service,
  Deployment,
  StatefulSet,
  PersistentVolumeClaim,
];

export const controllerName = 'shop-operator';

/** Containers that need nothing. */
export const podSpec = { containers: [{ name: 'web', image: 'registry.example/web:1' }] };

/** A namespace with an owner in it, and an operator who reconciles the owner. */
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

  /** A new chain, as a reconciler makes one each time; it may prune all that there is. */
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
      recorder: { record: (event) => this.events.push(event) },
      ...options,
    });
  }

  /** Reconciles as someone to whom every pending thing matters, until nothing is pending. */
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

  /** The writes that the server got from the operator since the last look, without those of events. */
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

  /** Writes as somebody else: a person with kubectl, another controller. */
  async edit(
    type: ResourceType<KubernetesObject>,
    name: string,
    { body, by = 'kubectl-edit' }: { readonly body: object; readonly by?: string },
  ): Promise<void> {
    const patch = { type: 'merge', body } as const;
    await this.admin.patch(type, { namespace: this.namespace, name }, patch, { fieldManager: by });
  }
}

/** The object that owns everything: a ConfigMap, for every server has the kind. */
export async function newOwner(
  admin: Client,
  namespace: string,
  name: string,
): Promise<KubernetesObject> {
  return admin.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } });
}

/** `created ConfigMap/env`, … */
export function summary(results: readonly ObjectResult[]): string[] {
  return results.map(({ operation, ref }) => `${operation} ${ref.kind}/${ref.name}`);
}

/** A client that reads `kinds` from a cache, as a controller's does. */
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
