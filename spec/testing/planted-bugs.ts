import omit from 'lodash/omit.js';
import type { Client } from '../../lib/client/index.js';
import { isAlreadyExists, isNotFound } from '../../lib/object/api-error.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { ownerReferenceTo } from '../../lib/object/owner-reference.js';
import { sleep } from '../../lib/system/clock.js';
import type { CrashScenario } from '../../lib/testing/index.js';
import type { CrashStage, OperatorStage } from '../../lib/testing/crash-points/crash-scenario.js';
import { by, configMap, find, namespace, shopKey, watchShop } from './shop-scenario.js';

/** Bugs that a {@link bugScenario} can have. */
export type Bug =
  | 'a swallowed error'
  | 'a forgotten owner reference'
  | 'a reference to an object that is not there yet'
  | 'a create that does not expect its object to exist'
  | 'a status that is written before the work'
  | 'an append that is repeated'
  | 'a delete before the create'
  | 'a finalizer that is removed before the clean-up'
  | 'a PUT without a resourceVersion'
  | 'a create by generateName'
  | 'state that is lost with the process';

const finalizers = ['example.com/registry'];
const keyOf = (name: string): { readonly namespace: string; readonly name: string } => ({
  ...{ namespace, name },
});

/** Reconciles a shop: registers it, creates its objects, and records its work. */
class ShopReconciler {
  readonly #stage: OperatorStage;
  readonly #bug: Bug | undefined;
  #lastSize: string | undefined;

  constructor(stage: OperatorStage, bug: Bug | undefined) {
    this.#stage = stage;
    this.#bug = bug;
  }

  get #client(): Client {
    return this.#stage.client;
  }

  async reconcile(shop: ConfigMap): Promise<void> {
    if (shop.metadata.deletionTimestamp !== undefined) return this.#cleanUp();
    const { size = '', done } = shop.data ?? {};
    if (done === size) return;
    if (this.#bug === 'a status that is written before the work') await this.#note(size);
    await this.#patch('shop', { metadata: { finalizers } });
    await this.#patch('registry', { data: { shop: 'open' } });
    await this.#makeToken(shop);
    await this.#makeEnv(shop, size);
    await this.#append(size);
    if (this.#bug !== 'a status that is written before the work') await this.#note(size);
  }

  async #cleanUp(): Promise<void> {
    const leave = (): Promise<unknown> => this.#patch('registry', { data: { shop: null } });
    const isWrong = this.#bug === 'a finalizer that is removed before the clean-up';
    if (!isWrong) await leave();
    await this.#patch('shop', { metadata: { finalizers: null } });
    if (isWrong) await leave();
  }

  /** Creates the token once. */
  async #makeToken(shop: ConfigMap): Promise<void> {
    if (shop.data?.['done'] !== undefined) return;
    const token = this.#owned('token', shop);
    if (this.#bug === 'a create by generateName') {
      const metadata = omit(token.metadata, ['name']);
      await this.#client.create({ ...token, metadata: { ...metadata, generateName: 'token-' } });
      return;
    }
    try {
      await this.#client.create(token);
    } catch (error) {
      if (this.#bug === 'a swallowed error') return;
      const isWrong = this.#bug === 'a create that does not expect its object to exist';
      if (isWrong || !isAlreadyExists(error)) throw error;
    }
  }

  /**
   * Creates the environment of this size, updates the pointer, and deletes the previous
   * environment.
   */
  async #makeEnv(shop: ConfigMap, size: string): Promise<void> {
    const env = (): Promise<unknown> =>
      this.#client.apply(this.#owned(`env-${size}`, shop, { size }), by);
    const pointer = (): Promise<unknown> =>
      this.#client.apply(this.#owned('pointer', shop, { size }), by);
    if (this.#bug === 'a delete before the create') await this.#deleteOthers(size);
    if (this.#bug === 'a reference to an object that is not there yet') await pointer();
    await env();
    if (this.#bug !== 'a reference to an object that is not there yet') await pointer();
    if (this.#bug !== 'a delete before the create') await this.#deleteOthers(size);
    this.#lastSize = size;
  }

  async #deleteOthers(size: string): Promise<void> {
    const others =
      this.#bug === 'state that is lost with the process'
        ? [this.#lastSize].filter((last) => last !== undefined).map((last) => `env-${last}`)
        : (await this.#client.list(ConfigMap, { namespace, labelSelector: 'app=shop' })).items
            .map(({ metadata }) => metadata.name ?? '')
            .filter((name) => name.startsWith('env-'));
    for (const name of others.filter((each) => each !== `env-${size}`)) {
      await this.#client.delete(ConfigMap, keyOf(name)).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
  }

  /** Appends the size to the journal; sends the same stale object again if the update fails. */
  async #append(size: string): Promise<void> {
    const journal = await this.#client.get(ConfigMap, keyOf('journal'));
    const { log = '', ...data } = journal.data ?? {};
    const isIn = log.split(' ').includes(size);
    if (isIn && this.#bug !== 'an append that is repeated') return;
    const blind = omit(journal.metadata, ['resourceVersion']);
    const isBlind = this.#bug === 'a PUT without a resourceVersion';
    const next: ConfigMap = {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { ...data, log: `${log} ${size}`.trim() } },
      metadata: isBlind ? blind : journal.metadata,
    };
    try {
      await this.#client.update(next);
    } catch {
      await sleep(this.#stage.clock, 1_000, this.#stage.signal);
      await this.#client.update(next);
    }
  }

  #note(size: string): Promise<unknown> {
    return this.#patch('shop', { data: { done: size } });
  }

  #patch(name: string, body: Record<string, unknown>): Promise<unknown> {
    return this.#client.patch(ConfigMap, keyOf(name), { type: 'merge', body });
  }

  #owned(name: string, shop: ConfigMap, data: Record<string, string> = {}): ConfigMap {
    const isForgotten = this.#bug === 'a forgotten owner reference' && name.startsWith('env-');
    const ownerReferences = isForgotten ? [] : [ownerReferenceTo(shop)];
    const metadata = { namespace, name, labels: { app: 'shop' }, ownerReferences };
    return { ...configMap(name, data), metadata };
  }
}

/** The life of a shop under an operator with or without the bug. */
export function bugScenario(bug?: Bug): CrashScenario {
  return {
    name: bug ?? 'a correct operator',
    kinds: [ConfigMap],
    timeoutMs: 120_000,
    setup: async ({ client }) => {
      await client.create(configMap('registry'));
      await client.create(configMap('journal'));
    },
    operator: (stage) => {
      const reconciler = new ShopReconciler(stage, bug);
      return watchShop(stage, (_, shop) => reconciler.reconcile(shop));
    },
    steps: [
      {
        name: 'create',
        change: async ({ client, cluster }) => {
          await client.create(configMap('shop', { size: '1' }));
          // Another client writes while the operator waits to retry.
          const visit = { type: 'merge', body: { data: { visitor: 'yes' } } } as const;
          const later = sleep(cluster.clock, 100);
          void later.then(() => client.patch(ConfigMap, keyOf('journal'), visit));
        },
        until: async (stage) => (await isDone(stage, '1')) && (await isVisited(stage)),
      },
      {
        name: 'change',
        change: ({ client }) =>
          client.patch(ConfigMap, shopKey, { type: 'merge', body: { data: { size: '2' } } }),
        until: (stage) => isDone(stage, '2'),
      },
      {
        name: 'delete',
        change: ({ client }) => client.delete(ConfigMap, shopKey),
        until: async ({ client }) => (await find(client, 'shop')) === undefined,
      },
    ],
    invariant: pointerNamesAnObject,
  };
}

async function isDone({ client }: CrashStage, size: string): Promise<boolean> {
  return (await find(client, 'shop'))?.data?.['done'] === size;
}

async function isVisited({ client }: CrashStage): Promise<boolean> {
  return (await find(client, 'journal'))?.data?.['visitor'] === 'yes';
}

async function pointerNamesAnObject({ client }: CrashStage): Promise<void> {
  const shop = await find(client, 'shop');
  const pointer = await find(client, 'pointer');
  if (shop === undefined || pointer === undefined) return;
  const name = `env-${pointer.data?.['size'] ?? ''}`;
  if ((await find(client, name)) === undefined) throw new Error(`${name} is not there`);
}
