import { Builder, requeueAfterOf } from '../../../lib/builder/index.js';
import type { BuilderOptions, ObjectResult } from '../../../lib/builder/index.js';
import type { Client } from '../../../lib/client/index.js';
import { controllerFor, done, requeueAfter } from '../../../lib/controller/index.js';
import { Manager } from '../../../lib/manager/index.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import type { KubernetesObject, ObjectKey } from '../../../lib/object/kubernetes-object.js';
import type {
  CrashCluster,
  CrashScenario,
  CrashStage,
  CrashStep,
  OperatorStage,
} from '../../../lib/testing/index.js';
import { controllerName, usedKinds } from './scene.js';

/** What a shop wishes for: the data of its owner. */
export type Wish = Readonly<Record<string, string>>;

/** A scenario whose operator does nothing but reconcile one chain. */
export interface ShopScenario extends Pick<CrashScenario<CrashCluster>, 'kinds' | 'invariant'> {
  readonly name: string;
  /** What becomes of a wish. */
  readonly chain: (builder: Builder, wish: Wish) => Builder;
  readonly options?: Partial<BuilderOptions>;
  /** Read from the server, not from a cache: every read is a crash point, too. @defaultValue false */
  readonly live?: boolean;
  readonly steps: readonly CrashStep<CrashCluster>[];
}

const shop = 'shop';
const doneAnnotation = 'shop.example.com/done';

/** A {@link ShopScenario} as `crashPoints` takes it, on whatever cluster. */
export function shopScenario<C extends CrashCluster>(parts: ShopScenario): CrashScenario<C> {
  return {
    ...{ name: parts.name, steps: parts.steps, kinds: parts.kinds ?? [] },
    ...(parts.invariant !== undefined && { invariant: parts.invariant }),
    operator: (stage) => runShop(stage, parts),
  };
}

/** The step in which the shop comes to wish for something: it is made, or changed. */
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

/** The step in which the shop is deleted, and all that it has. */
export function deletion(): CrashStep<CrashCluster> {
  return {
    name: 'delete',
    change: ({ client, cluster }) => client.delete(ConfigMap, keyIn(cluster, shop)),
    until: async ({ client, cluster }) => {
      const { namespace } = keyIn(cluster, shop);
      const left = await client.list(ConfigMap, { namespace });
      return left.items.every(({ metadata }) => metadata.name === 'kube-root-ca.crt');
    },
  };
}

/** The step in which somebody else touches an object, of which nothing is to be left in the end. */
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
