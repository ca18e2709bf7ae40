import { expect } from 'chai';
import fc from 'fast-check';
import { tenantOperator } from '../../samples/parseable/operator.js';
import { ParseableTenant } from '../../samples/parseable/tenant.js';
import type { TenantSpec } from '../../samples/parseable/tenant.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { appliedHashAnnotation } from '../../lib/apply/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { lastAppliedAnnotation } from '../../lib/feed/index.js';
import { findCondition } from '../../lib/object/conditions.js';
import type { Condition } from '../../lib/object/conditions.js';
import { diffObjects, serverSetFields } from '../../lib/object/diff-by-path.js';
import { Pod } from '../../lib/object/kinds.js';
import type { KubernetesObject, UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { applyResource } from '../../lib/plan/applied-resource.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { tries } from '../sample.js';
import { sampleNames, sampleTenant, tenantKinds } from '../samples/parseable/suite/stage.js';
import { DeployedOperator, post } from './deployed-operator.js';
import { editOf } from './tenant-edits.js';
import type { EditNumbers } from './tenant-edits.js';

/** Changes of a plan, or of the objects in the cluster. */
interface Effect {
  /** Sorted: `configure Deployment web`, each with its changed fields. */
  readonly objects: readonly string[];
  /** Names of the workloads whose pods are replaced. */
  readonly restarts: readonly string[];
}

interface PlanJson {
  readonly settled: boolean;
  readonly error?: string;
  readonly objects: readonly {
    readonly action: string;
    readonly ref: { readonly kind: string; readonly name: string };
    readonly changes: readonly { readonly path: string; from?: unknown; to?: unknown }[];
  }[];
  readonly rollouts: readonly { readonly ref: { readonly kind: string; readonly name: string } }[];
}

const notes = [appliedHashAnnotation, lastAppliedAnnotation, 'deployment.kubernetes.io/revision'];
const ignore = [
  ...serverSetFields,
  ...notes.map((name) => `metadata.annotations[${JSON.stringify(name)}]`),
];

/** Number of edits. PLAN_EDITS=1000 measures the rate, and prints it. */
const { PLAN_EDITS } = process.env;
const isMeasured = PLAN_EDITS !== undefined;
const editCount = isMeasured ? Number(PLAN_EDITS) : tries(100);

describe('Plans of a deployed Parseable operator', () => {
  const clock = new VirtualClock();
  const namespace = 'tenants';
  let cluster: EmbeddedCluster;
  let admin: ConnectedClient;
  let deployed: DeployedOperator;

  before(async () => {
    const users = { token: 'system:admin' };
    // With one Node, some pods would find no place, and their rollouts not end.
    const options = { crds: [ParseableTenant], simulateWorkloads: true, nodes: 8, users, clock };
    cluster = await EmbeddedCluster.start(options);
    admin = cluster.client();
    await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const client = cluster.client({ user: 'operator' });
    deployed = await DeployedOperator.start(tenantOperator(), client, {
      clock,
      webhooks: undefined,
    });
  });

  after(async () => {
    const stopping = { isOver: false };
    const stopped = deployed.stop().finally(() => (stopping.isOver = true));
    while (!stopping.isOver) await clock.advance(1_000);
    await stopped;
    await cluster.stop();
  });

  const tenant = (name: string, spec: TenantSpec): UnstructuredObject => {
    const { apiVersion, kind } = ParseableTenant;
    return { apiVersion, kind, metadata: { namespace, name }, spec };
  };

  /** Applies a tenant like kubectl, and returns when the operator has no work left. */
  async function apply(name: string, spec: TenantSpec): Promise<void> {
    const { signal } = new AbortController();
    await applyResource(tenant(name, spec), admin, { namespace, signal });
    let before = '';
    for (let round = 0; round < 50; round++) {
      await cluster.settled();
      await clock.advance(1_000);
      const { metadata, status } = await admin.get(ParseableTenant, { namespace, name });
      const ready = findCondition(status?.conditions as readonly Condition[] | undefined, 'Ready');
      const now = JSON.stringify([...(await objects()).values()]);
      const isSeen = ready?.observedGeneration === metadata.generation;
      if (isSeen && ready?.status === 'True' && now === before) {
        // Waits, because the builder waits for a Service that changed in the last 5 s. A plan would end at this wait.
        await clock.advance(5_000);
        return;
      }
      before = now;
    }
    const { status } = await admin.get(ParseableTenant, { namespace, name });
    throw new Error(`${name} is not at rest: ${JSON.stringify(status)}`);
  }

  async function plan(name: string, spec: TenantSpec): Promise<PlanJson> {
    const headers = { authorization: 'Bearer token' };
    const body = JSON.stringify(tenant(name, spec));
    const mark = cluster.requests.mark();
    const { status, text } = await post(`${deployed.url}/plan?output=json`, body, headers);
    const { entries } = cluster.requests.since(mark);
    const isStored = ({ verb, dryRun, group }: (typeof entries)[number]): boolean =>
      !['get', 'list', 'watch'].includes(verb) && dryRun !== true && !/^auth/.test(group);
    expect(entries.filter(isStored)).to.deep.equal([]);
    expect(status, text).to.equal(200);
    return JSON.parse(text) as PlanJson;
  }

  async function objects(): Promise<ReadonlyMap<string, UnstructuredObject>> {
    const lists = await Promise.all(
      [ParseableTenant, ...tenantKinds].map(async (type) => {
        const { items } = await admin.list<KubernetesObject>(type, { namespace });
        return (items as unknown as readonly UnstructuredObject[]).map((object) => {
          // The cluster's controllers write the status of the other objects.
          const shown = type === ParseableTenant ? object : { ...object, status: undefined };
          return [`${type.kind} ${object.metadata.name ?? ''}`, shown] as const;
        });
      }),
    );
    return new Map(lists.flat().filter(([id]) => id !== 'ConfigMap kube-root-ca.crt'));
  }

  /** Returns the UIDs of the pods by workload; a pod is named after its workload. */
  async function pods(): Promise<ReadonlyMap<string, readonly string[]>> {
    const { items } = await admin.list(Pod, { namespace });
    const names = [...(await objects()).keys()].filter((id) =>
      /^(Deployment|StatefulSet) /.test(id),
    );
    return new Map(
      names.map((id) => {
        const [kind, name = ''] = id.split(' ');
        const pattern = kind === 'Deployment' ? /-[^-]+-[^-]+$/ : /-\d+$/;
        const own = items.filter(({ metadata }) => metadata.name?.replace(pattern, '') === name);
        return [id, own.map(({ metadata }) => metadata.uid ?? '').toSorted()] as const;
      }),
    );
  }

  /** Plans a change, applies it, and returns both effects. */
  async function compare(name: string, spec: TenantSpec): Promise<readonly [Effect, Effect]> {
    const planned = await plan(name, spec);
    expect(planned.error).to.equal(undefined);
    const [before, podsBefore] = [await objects(), await pods()];
    await apply(name, spec);
    const [after, podsAfter] = [await objects(), await pods()];
    const isObservable = (id: string): boolean => {
      return (podsBefore.get(id) ?? []).length > 0 && (podsAfter.get(id) ?? []).length > 0;
    };
    const isReplaced = (id: string): boolean =>
      !(podsBefore.get(id) ?? []).some((uid) => podsAfter.get(id)?.includes(uid));
    const restarts = planned.rollouts.map(({ ref }) => `${ref.kind} ${ref.name}`);
    return [
      {
        objects: planned.objects
          .flatMap(({ action, ref, changes }) =>
            action === 'unchanged' ? [] : line(action, `${ref.kind} ${ref.name}`, changes),
          )
          .toSorted(),
        restarts: [...new Set(restarts)].filter(isObservable).toSorted(),
      },
      {
        objects: effectOf(before, after).toSorted(),
        restarts: [...podsBefore.keys()].filter(isObservable).filter(isReplaced).toSorted(),
      },
    ];
  }

  it(`predict the objects, fields, restarts and prunes of ${editCount} random edits`, async function () {
    this.timeout(60_000 + editCount * 10_000);
    const numbers = fc.tuple(fc.nat(), fc.nat(), fc.nat());
    const drawn = fc.sample<EditNumbers>(numbers, editCount);
    const differing: string[] = [];
    let [name, spec]: [string, TenantSpec] = ['', (await sampleTenant('ordered')).spec];
    const samples = await sampleNames();
    for (const [index, edit] of drawn.entries()) {
      // Each sample gets the same share of the edits, one after the other.
      const sample = samples[Math.floor((index * samples.length) / drawn.length)] ?? '';
      if (sample !== name) {
        if (name !== '') await remove(name);
        name = sample;
        ({ spec } = await sampleTenant(sample));
        await apply(name, spec);
      }
      const { name: what, spec: next } = editOf(spec, edit);
      const [planned, real] = await compare(name, next);
      if (JSON.stringify(planned) !== JSON.stringify(real)) {
        differing.push(JSON.stringify({ sample, index, what, edit, planned, real }, undefined, 2));
      }
      spec = next;
    }
    const rate = (drawn.length - differing.length) / drawn.length;
    const shown = `${(rate * 100).toFixed(1)} % of ${drawn.length} edits predicted exactly`;
    const report = [shown, ...differing.slice(0, 3)].join('\n');
    if (isMeasured) process.stdout.write(`      ${report}\n`);
    expect(rate, report).to.be.at.least(0.99);
  });

  async function remove(name: string): Promise<void> {
    await admin.delete(ParseableTenant, { namespace, name });
    for (let round = 0; round < 20; round++) {
      await cluster.settled();
      if ((await objects()).size === 0) return;
    }
    throw new Error(`left: ${[...(await objects()).keys()].join(', ')}`);
  }
});

function effectOf(
  before: ReadonlyMap<string, UnstructuredObject>,
  after: ReadonlyMap<string, UnstructuredObject>,
): readonly string[] {
  const ids = [...new Set([...before.keys(), ...after.keys()])];
  return ids.flatMap((id) => {
    const [from, to] = [before.get(id), after.get(id)];
    if (to === undefined) return line('prune', id);
    if (from === undefined) return line('create', id);
    if (from.metadata.uid !== to.metadata.uid)
      return line('recreate', id, diffObjects(from, to, { ignore }));
    const changes = diffObjects(from, to, { ignore });
    return changes.length === 0 ? [] : line('configure', id, changes);
  });
}

/** Returns a comparable line, without times and the default fields of created objects. */
function line(
  action: string,
  id: string,
  changes: readonly { readonly path: string; from?: unknown; to?: unknown }[] = [],
): readonly string[] {
  if (action === 'create' || action === 'prune') return [`${action} ${id}`];
  // A plan names ports by all keys of their list, because it has the schema.
  const counted = changes
    .filter(({ path }) => !path.endsWith('lastTransitionTime'))
    .map(({ path, from, to }) => ({ path: path.replace(/,protocol=\w+\]/, ']'), from, to }));
  return [`${action} ${id} ${JSON.stringify(counted)}`];
}
