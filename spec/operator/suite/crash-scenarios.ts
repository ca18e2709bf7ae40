import { requeueAfter } from '../../../lib/controller/index.js';
import { lifecycle } from '../../../lib/lifecycle/index.js';
import type { LifecycleObject } from '../../../lib/lifecycle/index.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { isConditionTrue } from '../../../lib/object/conditions.js';
import {
  ConfigMap,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from '../../../lib/object/kinds.js';
import type { KubernetesObject, ObjectKey } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import { Operator } from '../../../lib/operator/index.js';
import { objectsResource, resourceChain } from '../../../lib/resource/index.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { ensureCrd } from '../../../lib/client/index.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { CrashScenario } from '../../../lib/testing/index.js';
import type {
  CrashCluster,
  CrashStage,
  CrashStep,
} from '../../../lib/testing/crash-points/crash-scenario.js';
import { loadExample } from './readme-suite.js';
import { operatorName, System, Tenant } from './stage.js';

type Stage = CrashStage<CrashCluster>;

/** The fields that these specs read and change, of any kind. */
interface Described extends KubernetesObject {
  readonly spec?: object;
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[] };
}

/** The life of one object, with an operator that is created for each process. */
export interface Life {
  readonly name: string;
  readonly type: ResourceType<KubernetesObject> & { readonly crd: KubernetesObject };
  readonly operator: () => Operator;
  /** The specs of the object, one after the other. */
  readonly specs: readonly object[];
  readonly isReady: (object: Described, stage: Stage) => boolean | Promise<boolean>;
  readonly invariant?: (stage: Stage) => Promise<unknown>;
  /** The kinds that are deleted with the object. */
  readonly owned: readonly ResourceType<KubernetesObject>[];
}

function keyIn({ cluster: { namespace = 'default' } }: Stage, name = 'acme'): ObjectKey {
  return { namespace, name };
}

/** Returns the scenario of a life for `crashPoints` and `faultSweep`: creation, every spec, deletion. */
export function lifeScenario<C extends CrashCluster>(life: Life): CrashScenario<C> {
  const { type, specs, isReady } = life;
  const [first, ...others] = specs;
  const until = async (stage: Stage): Promise<boolean> => {
    const live = (await stage.client.get(type, keyIn(stage))) as Described;
    return isReady(live, stage);
  };
  const created: CrashStep<C> = {
    name: 'create',
    change: (stage) =>
      stage.client.create({
        ...{ apiVersion: `${type.group}/${type.version}`, kind: type.kind },
        ...{ metadata: keyIn(stage), spec: first },
      } as KubernetesObject),
    until,
  };
  const changed = others.map((spec, n): CrashStep<C> => ({
    name: `change ${n + 1}`,
    change: (stage) => stage.client.patch(type, keyIn(stage), { type: 'merge', body: { spec } }),
    until,
  }));
  const deleted: CrashStep<C> = {
    name: 'delete',
    change: (stage) => stage.client.delete(type, keyIn(stage)),
    until: (stage) => isGone(stage, life),
  };
  return {
    ...{ name: life.name, steps: [created, ...changed, deleted] },
    ...(life.invariant !== undefined && { invariant: life.invariant }),
    setup: ({ client, cluster: { clock } }) =>
      ensureCrd(client, type.crd as never, clock instanceof VirtualClock ? {} : { clock }),
    operator: ({ client, clock, random, signal, cluster: { namespace } }) =>
      life.operator().run({
        ...{ client, clock, random, signal, logger: silentLogger, rbacPreflight: 'off' },
        ...(namespace !== undefined && { cacheOptions: { namespaces: [namespace] } }),
      }),
  };
}

async function isGone(stage: Stage, { type, owned }: Life): Promise<boolean> {
  const { namespace } = keyIn(stage);
  if (await isThere(stage, type)) return false;
  const lists = await Promise.all(owned.map((kind) => stage.client.list(kind, { namespace })));
  const made = ['env', 'part', 'server'];
  return lists.every(({ items }) => {
    return items.every(({ metadata }) => !made.includes(metadata.name ?? ''));
  });
}

async function isThere(
  stage: Stage,
  type: ResourceType<KubernetesObject>,
  name?: string,
): Promise<boolean> {
  try {
    await stage.client.get(type, keyIn(stage, name));
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

function isReadyNow({ metadata, status }: Described): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready') as
    { observedGeneration?: number } | undefined;
  return (
    isConditionTrue(status?.conditions, 'Ready') &&
    ready?.observedGeneration === metadata.generation
  );
}

/** The operator of the README, unchanged. */
export async function readmeLife(): Promise<Life> {
  const example = await loadExample();
  return {
    name: 'the example of the README',
    type: example.Tenant,
    operator: () => example.operator,
    owned: [ConfigMap, PodDisruptionBudget, Service, StatefulSet],
    specs: [
      { replicas: 1, env: { A: '1' } },
      { replicas: 2, env: { A: '2' } },
    ],
    isReady: isReadyNow,
  };
}

/** An operator that cleans up in two steps and records the second in the cluster. */
export const cleanedLife: Life = {
  name: 'an object that is cleaned up',
  type: Tenant,
  owned: [Secret],
  specs: [{ env: { A: '1' } }, { env: { A: '2' } }],
  isReady: isReadyNow,
  operator: () => {
    const operator = new Operator(operatorName);
    operator
      .for(Tenant)
      .owns(Secret)
      .builds(({ object, builder }) => builder.secret({ name: 'env', stringData: object.spec.env }))
      .finalizes(async ({ object, client, signal }) => {
        const { namespace = '' } = object.metadata;
        const note = (name: string) =>
          client.apply<ConfigMap>(
            { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } },
            { fieldManager: operatorName, force: true, signal },
          );
        const { items } = await client.live.list(ConfigMap, { namespace, signal });
        if (!items.some(({ metadata }) => metadata.name === 'begun')) {
          await note('begun');
          return requeueAfter(500, 'waits for the backups');
        }
        await note('cleaned');
        return undefined;
      });
    return operator;
  },
  invariant: async (stage) => {
    const { items } = await stage.client.list(ConfigMap, { namespace: keyIn(stage).namespace });
    const names = items.map(({ metadata }) => metadata.name);
    if (!names.includes('begun') || names.includes('cleaned')) return;
    if (!(await isThere(stage, Tenant))) throw new Error('it went without being cleaned up');
  },
};

/** An operator with a resource chain. */
export const chainLife: Life = {
  name: 'a chain of resources',
  type: Tenant,
  owned: [ConfigMap],
  specs: [{ env: { A: '1' } }, { env: { A: '2' } }],
  isReady: isReadyNow,
  operator: () => {
    const operator = new Operator(operatorName);
    const env = objectsResource({
      name: 'env',
      types: [ConfigMap],
      getDesiredState: (_context, { metadata, spec }: Tenant) => [
        {
          ...({ apiVersion: 'v1', kind: 'ConfigMap' } as const),
          metadata: { namespace: metadata.namespace ?? '', name: 'env' },
          data: spec.env,
        },
      ],
    });
    operator
      .for(Tenant)
      .owns(ConfigMap)
      .uses(resourceChain([env]));
    return operator;
  },
};

/** An operator with a lifecycle whose second release creates another kind. */
export const lifecycleLife: Life = {
  name: 'a lifecycle',
  type: System,
  owned: [ConfigMap, Secret],
  specs: [{ mode: 'ConfigMap' }, { mode: 'Secret' }],
  isReady: async ({ status, spec }, stage) => {
    const { phase } = (status ?? {}) as { readonly phase?: string };
    const { mode } = spec as { readonly mode: string };
    const [gone, there] = mode === 'Secret' ? [ConfigMap, Secret] : [Secret, ConfigMap];
    const isMade = await isThere(stage, there, 'part');
    return phase === 'Deployed' && isMade && !(await isThere(stage, gone, 'part'));
  },
  operator: () => {
    const operator = new Operator(operatorName);
    type Whole = LifecycleObject & { spec: { mode: string } };
    operator
      .for(System as unknown as ResourceType<Whole>)
      .owns(ConfigMap, Secret)
      .uses(
        lifecycle<Whole>({
          version: '1.0.0',
          resources: ({ metadata, spec }) => [
            {
              ...({ apiVersion: 'v1', kind: spec.mode } as const),
              metadata: { namespace: metadata.namespace ?? '', name: 'part' },
            },
          ],
        }),
      );
    return operator;
  },
};
