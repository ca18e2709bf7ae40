import type { Client } from '../../lib/client/index.js';
import { controllerFor, done } from '../../lib/controller/index.js';
import { Manager } from '../../lib/manager/index.js';
import { isNotFound } from '../../lib/object/api-error.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import type { CrashScenario } from '../../lib/testing/index.js';
import type { OperatorStage } from '../../lib/testing/crash-points/crash-scenario.js';

export const namespace = 'default';
export const shopKey = { namespace, name: 'shop' };
export const by = { fieldManager: 'shop-operator', force: true };

export type Reconcile = (client: Client, shop: ConfigMap) => Promise<unknown>;

/** Runs `reconcile` whenever the shop changes, with reads from the server. */
export async function watchShop(stage: OperatorStage, reconcile: Reconcile): Promise<void> {
  const predicate = ({ object }: { readonly object: ConfigMap }): boolean =>
    object.metadata.name === 'shop';
  const controller = controllerFor(ConfigMap, { predicate }).complete(async ({ key }) => {
    const shop = await find(stage.client, key.name);
    if (shop !== undefined) await reconcile(stage.client, shop);
    return done();
  });
  const { client, clock, random, signal } = stage;
  const manager = new Manager({ client, clock, random, rbacPreflight: 'off' });
  manager.add(controller);
  await manager.run(signal);
}

export async function find(client: Client, name: string): Promise<ConfigMap | undefined> {
  try {
    return await client.get(ConfigMap, { namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data };
}

/**
 * A single step: the shop is created; the step is done once the operator records it in the shop.
 */
export function shopScenario(
  reconcile: Reconcile,
  more: Partial<CrashScenario> = {},
): CrashScenario {
  return {
    name: 'a shop',
    operator: (stage) => watchShop(stage, reconcile),
    steps: [
      {
        name: 'create',
        change: ({ client }) => client.create(configMap('shop')),
        until: async ({ client }) =>
          (await client.get(ConfigMap, shopKey)).data?.['done'] === 'yes',
      },
    ],
    ...more,
  };
}

export const note = (client: Client): Promise<unknown> =>
  client.apply(configMap('shop', { done: 'yes' }), by);

/** A reconcile that is correct after a crash at any point. */
export const right: Reconcile = async (client, shop) => {
  if (shop.data?.['done'] === 'yes') return;
  await client.apply(configMap('env', { a: '1' }), by);
  await note(client);
};
