import {
  Builder,
  ConfigMap,
  Deployment,
  Job,
  StatefulSet,
  controllerFor,
  done,
  getIfExists,
  rolloutStatus,
} from 'operator-builder';
import type { Controller, OperatorDefinition, ReconcileContext, Result } from 'operator-builder';
import { defineResource, s } from 'operator-builder/crd';
import type { ObjectOf } from 'operator-builder/crd';

/** A workload with dependencies: its database is rolled out before its web servers. */
export const Farm = defineResource({
  group: 'farms.example',
  kind: 'Farm',
  versions: [
    {
      name: 'v1',
      schema: s.object({
        spec: s.object({
          image: s.defaulted(s.string(), 'farm:1'),
          config: s.defaulted(s.string(), 'one'),
          /** Whether the farm has workers, which can be removed. */
          workers: s.defaulted(s.boolean(), true),
          migration: s.optional(s.string()),
          barn: s.optional(s.string()),
          restless: s.defaulted(s.boolean(), false),
        }),
      }),
      status: s.object({
        phase: s.optional(s.string()),
        count: s.optional(s.integer()),
      }),
    },
  ],
});
export type Farm = ObjectOf<typeof Farm>;

/** A kind that farms own and another controller of the operator reconciles. */
export const Barn = defineResource({
  group: 'farms.example',
  kind: 'Barn',
  versions: [
    {
      name: 'v1',
      schema: s.object({ spec: s.object({ color: s.string() }) }),
      status: s.object({ painted: s.optional(s.string()) }),
    },
  ],
});
export type Barn = ObjectOf<typeof Barn>;

export const operator: OperatorDefinition = {
  name: 'farms',
  resources: [Farm, Barn],
  setup: (manager) => {
    manager.add(farmController());
    manager.add(barnController());
  },
};

function farmController(): Controller {
  return controllerFor(Farm)
    .owns(Deployment)
    .owns(StatefulSet)
    .owns(ConfigMap)
    .owns(Job)
    .owns(Barn)
    .complete(reconcileFarm);
}

async function reconcileFarm({ key, client }: ReconcileContext): Promise<Result> {
  const farm = await getIfExists(client, Farm, key);
  if (farm === undefined) return done();
  const { migration, barn, restless } = farm.spec;
  const results = await chainOf(farm, client).reconcile();
  const isRolledOut = results.every(
    ({ rollout, operation }) =>
      operation !== 'pending' && (rollout === undefined || rollout.state === 'complete'),
  );
  const job = migration === undefined ? undefined : await client.get(Job, jobKey(farm));
  const isMigrated = job === undefined || rolloutStatus(job).complete;
  const painted =
    barn === undefined
      ? undefined
      : (await getIfExists(client, Barn, key))?.status?.painted === barn;
  const isReady = isRolledOut && isMigrated && painted !== false;
  const count = restless ? { count: (farm.status?.count ?? 0) + 1 } : {};
  const status = { phase: isReady ? 'Ready' : 'Waiting', ...count };
  if (farm.status?.phase !== status.phase || restless) {
    await client.patch(Farm, key, { type: 'merge', body: { status } }, { subresource: 'status' });
  }
  return done();
}

function jobKey({ metadata, spec }: Farm): { name: string; namespace: string | undefined } {
  return { namespace: metadata.namespace, name: `migrate-${spec.migration ?? ''}` };
}

function chainOf(farm: Farm, client: ReconcileContext['client']): Builder {
  const { image, config, workers, migration, barn } = farm.spec;
  const base: Builder = new Builder({
    ...{ client, owner: farm, controllerName: 'farm-operator', rolloutOrder: ['db', 'web'] },
    owns: [ConfigMap, Deployment, StatefulSet, Job],
  });
  const from = (name: string) => ({ configMapRef: { name: `settings-${name}` } });
  const pod = (name: string) => () => ({
    containers: [
      {
        ...{ name, image },
        // The web servers refer to the settings of workers while there are workers.
        envFrom: [from(name), ...(name === 'web' && workers ? [from('worker')] : [])],
      },
    ],
  });
  let chain: Builder = base
    .configMap({ name: 'settings-db', data: { config } })
    .configMap({ name: 'settings-web', data: { config } })
    .statefulSet({ name: 'db', nodeType: 'db', replicas: 1, podSpec: pod('db') })
    .deployment({ name: 'web', nodeType: 'web', replicas: 2, podSpec: pod('web') });
  if (workers) {
    chain = chain
      .configMap({ name: 'settings-worker', data: { config } })
      .deployment({ name: 'worker', replicas: 1, podSpec: pod('worker') });
  }
  if (migration !== undefined) {
    const { name } = jobKey(farm);
    chain = chain.job({
      name,
      podSpec: () => ({ restartPolicy: 'Never', containers: [{ name: 'migrate', image }] }),
    });
  }
  if (barn === undefined) return chain;
  const { name = '', namespace } = farm.metadata;
  const metadata = { name, ...(namespace !== undefined && { namespace }) };
  const wanted = { apiVersion: Barn.apiVersion, kind: 'Barn', metadata, spec: { color: barn } };
  return chain.object(wanted);
}

function barnController(): Controller {
  return controllerFor(Barn).complete(async ({ key, client }) => {
    const barn = await getIfExists(client, Barn, key);
    const color = barn?.spec.color;
    if (color === undefined || barn?.status?.painted === color) return done();
    const body = { status: { painted: color } };
    await client.patch(Barn, key, { type: 'merge', body }, { subresource: 'status' });
    return done();
  });
}
