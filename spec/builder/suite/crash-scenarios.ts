import { expect } from 'chai';
import { requeueAfterOf } from '../../../lib/apply/index.js';
import type { ObjectResult } from '../../../lib/apply/index.js';
import { Builder } from '../../../lib/builder/index.js';
import type { BuilderOptions } from '../../../lib/builder/index.js';
import type { Client } from '../../../lib/client/index.js';
import { controllerFor, done, requeueAfter } from '../../../lib/controller/index.js';
import { Manager } from '../../../lib/manager/index.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { ConfigMap, Pod } from '../../../lib/object/kinds.js';
import type { KubernetesObject, ObjectKey } from '../../../lib/object/kubernetes-object.js';
import type { CrashScenario } from '../../../lib/testing/index.js';
import type {
  CrashCluster,
  CrashStage,
  CrashStep,
  OperatorStage,
} from '../../../lib/testing/crash-points/crash-scenario.js';
import { controllerName, usedKinds } from './scene.js';

/** The desired state of a shop: the data of its owner. */
export type Wish = Readonly<Record<string, string>>;

/** A scenario whose operator reconciles a single chain. */
export interface ShopScenario extends Pick<CrashScenario<CrashCluster>, 'kinds' | 'invariant'> {
  readonly name: string;
  /** Returns the chain for a desired state of the shop. */
  readonly chain: (builder: Builder, wish: Wish) => Builder;
  readonly options?: Partial<BuilderOptions>;
  /**
   * Reads from the server instead of a cache, so that every read is a crash point, too.
   * @defaultValue false
   */
  readonly live?: boolean;
  readonly steps: readonly CrashStep<CrashCluster>[];
}

const shop = 'shop';
const podSpec = { containers: [{ name: 'main', image: 'registry.example/main:1' }] };
const doneAnnotation = 'shop.example.com/done';

/** Converts a {@link ShopScenario} into the scenario that `crashPoints` takes. */
export function shopScenario<C extends CrashCluster>(parts: ShopScenario): CrashScenario<C> {
  return {
    ...{ name: parts.name, steps: parts.steps, kinds: parts.kinds ?? [] },
    ...(parts.invariant !== undefined && { invariant: parts.invariant }),
    operator: (stage) => runShop(stage, parts),
  };
}

/** Returns the step that creates or changes the shop. */
export function wish(name: string, data: Wish): CrashStep<CrashCluster> {
  return {
    name,
    change: async (stage) => {
      const metadata = keyIn(stage.cluster, shop);
      const wished: ConfigMap = {
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata },
        data: { ...data, is: name },
      };
      await stage.client.apply(wished, { fieldManager: 'somebody' });
    },
    until: async ({ client, cluster }) => {
      const { metadata } = await client.get(ConfigMap, keyIn(cluster, shop));
      return metadata.annotations?.[doneAnnotation] === name;
    },
  };
}

/** Returns the step that deletes the shop with all its objects. */
export function deletion(): CrashStep<CrashCluster> {
  return {
    name: 'delete',
    change: ({ client, cluster }) => client.delete(ConfigMap, keyIn(cluster, shop)),
    until: async ({ client, cluster }) => {
      const { namespace } = keyIn(cluster, shop);
      const lists = await Promise.all(usedKinds.map((kind) => client.list(kind, { namespace })));
      const left = lists.flatMap(({ items }) => items);
      return left.every(({ metadata }) => metadata.name !== shop && !isOwned(metadata));
    },
  };
}

function isOwned({ ownerReferences = [] }: KubernetesObject['metadata']): boolean {
  return ownerReferences.length > 0;
}

/** Returns the step in which another client changes an object, and the operator repairs it. */
export function meddling(
  name: string,
  change: (client: Client, namespace: string) => Promise<unknown>,
  isMended: (client: Client, namespace: string) => Promise<boolean>,
): CrashStep<CrashCluster> {
  const within = ({ cluster }: CrashStage<CrashCluster>) => keyIn(cluster, shop).namespace;
  return {
    name,
    change: (stage) => change(stage.client, within(stage)),
    until: (stage) => isMended(stage.client, within(stage)),
  };
}

/** Rolls two workloads one after the other when the objects that they refer to change. */
export const rollout: ShopScenario = {
  name: 'a rollout in order',
  invariant: podsHaveTheirConfiguration,
  chain: (builder, { size = '', web = '', env = 'env' }) => {
    const data = builder
      .configMap({ name: env, data: { size } })
      .secret({ name: 'token', stringData: { token: 'x' } })
      .service({ name: 'data', spec: { ports: [{ port: 80 }] } })
      .statefulSet({
        ...{ name: 'data', serviceName: 'data', podSpec },
        ...{ envFromConfigMap: [env], envFromSecret: ['token'] },
      });
    if (web === '') return data;
    return data.deployment({ name: 'web', podSpec, envFromConfigMap: [env] });
  },
  steps: [
    wish('create', { size: '1', web: 'yes' }),
    wish('roll', { size: '2', web: 'yes' }),
    wish('another ConfigMap', { size: '2', web: 'yes', env: 'env-2' }),
    wish('prune', { size: '2', env: 'env-2' }),
    deletion(),
  ],
};

/** Checks that each pod could start again, which needs its ConfigMap. */
async function podsHaveTheirConfiguration(stage: CrashStage<CrashCluster>): Promise<void> {
  const { client, cluster } = stage;
  const { namespace } = keyIn(cluster, shop);
  const [pods, maps] = await Promise.all([
    client.list(Pod, { namespace }),
    client.list(ConfigMap, { namespace }),
  ]);
  const names = maps.items.map(({ metadata }) => metadata.name);
  for (const { metadata, spec } of pods.items) {
    // A pod that is being deleted does not start again.
    if (metadata.deletionTimestamp !== undefined) continue;
    for (const { configMapRef } of spec?.containers[0]?.envFrom ?? []) {
      if (configMapRef !== undefined) expect(names).to.include(configMapRef.name);
    }
  }
}

function keyIn({ namespace = 'default' }: CrashCluster, name: string) {
  return { namespace, name };
}

async function runShop(stage: OperatorStage<CrashCluster>, parts: ShopScenario): Promise<void> {
  const { namespace } = keyIn(stage.cluster, shop);
  const predicate = ({ object }: { readonly object: KubernetesObject }): boolean =>
    object.metadata.name === shop;
  const definition = (parts.live === true ? [] : usedKinds)
    .reduce((builder, kind) => builder.owns(kind), controllerFor(ConfigMap, { predicate }))
    .complete(async ({ key, client, signal }) => {
      const reader = parts.live === true ? stage.client : client;
      const afterMs = await reconcileShop(key, { ...stage, client: reader, signal }, parts);
      return afterMs === undefined ? done() : requeueAfter(afterMs);
    });
  const cacheOptions = { namespaces: [namespace] };
  const manager = new Manager({
    ...{ client: stage.client, clock: stage.clock, random: stage.random },
    ...{ cacheOptions, rbacPreflight: 'off' },
  });
  manager.add(definition);
  await manager.run(stage.signal);
}

async function reconcileShop(
  key: ObjectKey,
  { client, clock, signal }: OperatorStage<CrashCluster>,
  { chain, options, live = false }: ShopScenario,
): Promise<number | undefined> {
  const owner = await find(client, key);
  if (owner?.data === undefined || owner.metadata.deletionTimestamp !== undefined) return undefined;
  const builder = new Builder({
    ...{ client, owner, controllerName, owns: usedKinds, clock, signal, ...options },
  });
  const results = await chain(builder, owner.data).reconcile();
  const { is = '' } = owner.data;
  if (!results.some(isWaiting) && owner.metadata.annotations?.[doneAnnotation] !== is) {
    const { name, namespace = '' } = key;
    const metadata = { name, namespace, annotations: { [doneAnnotation]: is } };
    const said: KubernetesObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    await client.apply(said, { fieldManager: 'shop-status', force: true });
  }
  return live && results.some(isWaiting) ? 1_000 : requeueAfterOf(results);
}

function isWaiting({ operation, rollout }: ObjectResult): boolean {
  return operation === 'pending' || rollout?.state === 'progressing';
}

async function find(client: Client, key: ObjectKey): Promise<ConfigMap | undefined> {
  try {
    return await client.get(ConfigMap, key);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
