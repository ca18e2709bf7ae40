import { expect } from 'chai';
import omit from 'lodash/omit.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { appliedHashAnnotation } from '../../lib/apply/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { withoutBookkeeping } from '../../lib/feed/index.js';
import { lifecycle, lifecycleStatusProperties } from '../../lib/lifecycle/index.js';
import { Manager } from '../../lib/manager/index.js';
import { diffObjects, redactChanges, serverSetFields } from '../../lib/object/index.js';
import type {
  FieldChange,
  KubernetesObject,
  TypeReference,
  UnstructuredObject,
} from '../../lib/object/index.js';
import {
  ConfigMap,
  CronJob,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
} from '../../lib/object/kinds.js';
import { Operator } from '../../lib/operator/index.js';
import { planResource } from '../../lib/plan/index.js';
import type { ResourcePlan } from '../../lib/plan/index.js';
import { objectsResource, resourceChain } from '../../lib/resource/index.js';
import { statusConditions } from '../../lib/status/index.js';
import { silentLogger, systemClock } from '../../lib/system/index.js';
import { eventually } from '../../lib/testing/index.js';
import { sampleOf } from '../sample.js';
import { changes } from './style-changes.js';

const schema = s.object({ spec: s.object({ step: s.integer() }) });
const partSpec = s.object({
  color: s.optional(s.string()),
  size: s.defaulted(s.integer(), 7),
  hinges: s.optional(s.array(s.string())),
});
const Part = defineResource({
  ...{ group: 'sites.example', kind: 'Part' },
  versions: [{ name: 'v1', schema: s.object({ spec: partSpec }) }],
});
const kinds = [
  ...[ConfigMap, CronJob, DaemonSet, Deployment, HorizontalPodAutoscaler, Ingress, Job],
  ...[NetworkPolicy, PersistentVolumeClaim, PodDisruptionBudget, Role, RoleBinding, Secret],
  ...[Service, ServiceAccount, StatefulSet, Part],
] as const;

const siteOf = (kind: string) =>
  defineResource({
    ...{ group: 'sites.example', kind },
    versions: [{ name: 'v1', schema, status: s.status() }],
  });
const BuilderSite = siteOf('BuilderSite');
const ChainSite = siteOf('ChainSite');
const LifecycleSite = defineResource({
  ...{ group: 'sites.example', kind: 'LifecycleSite' },
  versions: [{ name: 'v1', schema, status: s.object(lifecycleStatusProperties) }],
});

/** A site is named after a change, and has the objects before or after this change. */
type Site = KubernetesObject & { readonly spec: { readonly step: number } };

function objectsOf({ metadata: { name = '', namespace = '' }, spec: { step } }: Site) {
  const objects = (step === 0 ? changes[name]?.before : changes[name]?.after) ?? [];
  return objects.map((each) => ({ ...each, metadata: { ...each.metadata, namespace } }));
}

const builds = new Operator('builder-sites');
builds
  .for(BuilderSite)
  .owns(...kinds)
  .builds(({ object, builder }) =>
    objectsOf(object).reduce((chain, each) => chain.object(each), builder),
  );
const chains = new Operator('chain-sites');
chains
  .for(ChainSite)
  .owns(...kinds)
  .uses(
    resourceChain([
      objectsResource({
        name: 'objects',
        types: [...kinds] as readonly TypeReference<KubernetesObject>[],
        getDesiredState: (_context, object: Site) => objectsOf(object),
      }),
    ]),
  );
const lifecycles = new Operator('lifecycle-sites');
lifecycles
  .for(LifecycleSite)
  .owns(...kinds)
  .uses(lifecycle({ version: '1.0.0', resources: objectsOf }));

const styles = {
  builder: { type: BuilderSite, operator: builds },
  chain: { type: ChainSite, operator: chains },
  lifecycle: { type: LifecycleSite, operator: lifecycles },
} as const;

const notes = [appliedHashAnnotation, 'deployment.kubernetes.io/revision'];
const ignore = [
  ...serverSetFields,
  'status',
  ...notes.map((name) => `metadata.annotations[${JSON.stringify(name)}]`),
];

/** Describes a change of an object. The values of node ports are left out, because the server allocates them. */
function line(action: string, id: string, fields: readonly FieldChange[]): string {
  if (action === 'create' || action === 'prune') return `${action} ${id}`;
  const told = fields.map(({ path, from, to }) => {
    return path.endsWith('nodePort') ? path : `${path} ${JSON.stringify([from, to])}`;
  });
  return [`${action} ${id}`, ...told.toSorted()].join('\n  ');
}

/** Effects of a change, planned or real. */
interface Effect {
  readonly objects: readonly string[];
  /** The workloads whose pods are replaced. */
  readonly restarts: readonly string[];
  /** The conditions of the site. */
  readonly conditions: readonly string[];
}

/** Returns the conditions, with one message for a paused Deployment, whether its controller has observed it or not. */
function conditionsOf(owner: UnstructuredObject | undefined): readonly string[] {
  const unseen = /its controller has not seen the newest spec|0 of 1 new Pods exist/;
  return (owner === undefined ? [] : statusConditions(owner)).map((condition) =>
    JSON.stringify(
      omit(condition, ['lastTransitionTime', 'lastHeartbeatTime', 'observedGeneration']),
    ).replace(unseen, 'is paused'),
  );
}

function plannedEffect({ objects, rollouts, manifests, owner }: ResourcePlan): Effect {
  return {
    objects: objects
      .flatMap(({ action, ref, changes: all }) => {
        const fields = all.filter(({ path }) => !path.startsWith('status'));
        const isStatus = fields.length === 0 && all.length > 0;
        if (action === 'unchanged' || isStatus) return [];
        return line(action, `${ref.kind} ${ref.name}`, fields);
      })
      .toSorted(),
    restarts: rollouts.map(({ ref }) => `${ref.kind} ${ref.name}`).toSorted(),
    conditions: conditionsOf(manifests.find(({ after }) => after?.kind === owner.kind)?.after),
  };
}

type State = ReadonlyMap<string, UnstructuredObject>;

/** The objects of a namespace, and the uids of the pods of each workload. */
interface Snapshot {
  readonly objects: State;
  readonly pods: ReadonlyMap<string, readonly string[]>;
}

interface Outcome {
  readonly planned: ResourcePlan;
  /** The objects before the change. */
  readonly before: Snapshot;
}

function realEffect(before: Snapshot, after: Snapshot, owner: string): Effect {
  const ids = new Set([...before.objects.keys(), ...after.objects.keys()]);
  const isReplaced = ([id, uids]: readonly [string, readonly string[]]): boolean =>
    after.objects.has(id) && !uids.some((uid) => after.pods.get(id)?.includes(uid));
  return {
    objects: [...ids].flatMap((id) => realChange(id, before, after)).toSorted(),
    restarts: [...before.pods]
      .filter(isReplaced)
      .map(([id]) => id)
      .toSorted(),
    conditions: conditionsOf(after.objects.get(owner)),
  };
}

function realChange(id: string, before: Snapshot, after: Snapshot): readonly string[] {
  const [from, to] = [before.objects.get(id), after.objects.get(id)];
  if (from === undefined || to === undefined) {
    return [line(from === undefined ? 'create' : 'prune', id, [])];
  }
  const fields = redactChanges(
    from.kind,
    diffObjects(withoutBookkeeping(from), withoutBookkeeping(to), { ignore }),
  );
  if (from.metadata.uid !== to.metadata.uid) return [line('recreate', id, fields)];
  return fields.length === 0 ? [] : [line('configure', id, fields)];
}

describe('A plan shows the changes that the operator then makes', () => {
  let cluster: EmbeddedCluster;
  let client: ConnectedClient;

  before(async () => {
    const crds = [BuilderSite, ChainSite, LifecycleSite, Part];
    cluster = await EmbeddedCluster.start({ crds, simulateWorkloads: true });
    client = cluster.client();
    await client.create({
      ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'growing' } },
      ...{ provisioner: 'sites.example/disks', allowVolumeExpansion: true },
    });
  });

  after(() => cluster.stop());

  async function snapshot(
    type: (typeof styles)[keyof typeof styles]['type'],
    namespace: string,
  ): Promise<Snapshot> {
    const lists = await Promise.all(
      [type, ...kinds].map(async (kind) => {
        const { items } = await client.list<KubernetesObject>(kind, { namespace });
        return (items as UnstructuredObject[]).map((each) => {
          return [`${kind.kind} ${each.metadata.name ?? ''}`, each] as const;
        });
      }),
    );
    const isOwn = (id: string): boolean => !/kube-root-ca|ServiceAccount default/.test(id);
    const { items } = await client.list(Pod, { namespace });
    const workloadOf = ({ metadata }: Pod): string => {
      const { kind, name } = metadata.ownerReferences?.[0] ?? { kind: '', name: '' };
      if (kind !== 'ReplicaSet') return `${kind} ${name}`;
      return `Deployment ${name.replace(/-[^-]+$/, '')}`;
    };
    const pods = new Map<string, readonly string[]>();
    for (const pod of items) {
      const id = workloadOf(pod);
      pods.set(id, [...(pods.get(id) ?? []), pod.metadata.uid ?? '']);
    }
    return { objects: new Map(lists.flat().filter(([id]) => isOwn(id))), pods };
  }

  for (const [style, { type, operator }] of Object.entries(styles)) {
    describe(`of a controller in the style ${style}`, () => {
      const names = sampleOf(Object.keys(changes), 14);
      const outcomes = new Map<string, Outcome>();

      const namespaceOf = (name: string): string => `${style}-${name}`;
      const site = (name: string, step: number) => ({
        ...{ apiVersion: type.apiVersion, kind: type.kind, spec: { step } },
        metadata: { name, namespace: namespaceOf(name) },
      });

      const plan = (name: string, step: number): Promise<ResourcePlan> =>
        planResource(site(name, step), {
          ...{ operator, client, namespace: namespaceOf(name), logger: silentLogger },
          ...{ clock: systemClock, signal: new AbortController().signal },
        });

      /** Applies all sites, and runs the operator until plans show no changes, or the time is over. */
      async function run(step: number): Promise<void> {
        for (const name of names) {
          await client.apply(site(name, step), { fieldManager: 'user', force: true });
        }
        const stop = new AbortController();
        const manager = new Manager({ client, rbacPreflight: 'off' });
        operator.setup(manager);
        const running = manager.run(stop.signal);
        const isDone = async (name: string): Promise<void> => {
          const { error, changed } = await plan(name, step);
          expect({ changed, failure: error?.message }).to.deep.equal({
            ...{ changed: false, failure: outcomes.get(name)?.planned.error?.message },
          });
        };
        try {
          await cluster.settled();
          // A site that is not done fails below, with the difference.
          for (const name of names) {
            await eventually(() => isDone(name), { timeoutMs: 10_000 }).catch(() => undefined);
          }
        } finally {
          stop.abort();
          await running;
        }
      }

      before(async function (this: Mocha.Context) {
        this.timeout(240_000);
        for (const name of names) {
          const metadata = { name: namespaceOf(name) };
          await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata });
        }
        await run(0);
        for (const name of names) await edit(namespaceOf(name), changes[name]?.edits ?? {});
        await cluster.settled();
        for (const name of names) {
          const planned = await plan(name, 1);
          outcomes.set(name, { planned, before: await snapshot(type, namespaceOf(name)) });
        }
        await run(1);
      });

      for (const name of names) {
        it(name.replaceAll('-', ' '), async () => {
          const { planned, before: earlier } = outcomes.get(name)!;
          const real = realEffect(
            ...([earlier, await snapshot(type, namespaceOf(name))] as const),
            `${type.kind} ${name}`,
          );
          expect(plannedEffect(planned)).to.deep.equal(real);
        });
      }
    });
  }

  async function edit(namespace: string, edits: Readonly<Record<string, object>>): Promise<void> {
    for (const [id, body] of Object.entries(edits)) {
      const [kind, name = ''] = id.split(' ');
      const edited: TypeReference<KubernetesObject> | undefined = kinds.find(
        (each) => each.kind === kind,
      );
      if (edited === undefined) throw new Error(`no site has a ${id}`);
      const patch = { type: 'merge', body } as const;
      await client.patch(edited, { namespace, name }, patch, { fieldManager: 'kubectl-edit' });
    }
  }
});
