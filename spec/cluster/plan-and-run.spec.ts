import { expect } from 'chai';
import { copyFile, writeFile } from 'node:fs/promises';
import { appliedHashAnnotation } from '../../lib/apply/index.js';
import { lastAppliedAnnotation } from '../../lib/feed/object-news.js';
import { applyResource } from '../../lib/plan/applied-resource.js';
import { dryRun } from '../../lib/client/client-wrappers.js';
import { clientFromKubeConfig, ensureCrd } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { Manager } from '../../lib/manager/index.js';
import { diffObjects, serverSetFields } from '../../lib/object/diff-by-path.js';
import { ConfigMap, Deployment, Namespace, Pod } from '../../lib/object/kinds.js';
import type { TypeMeta, UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { systemRandom } from '../../lib/system/random.js';
import { eventually } from '../../lib/testing/index.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import type { CliResult } from '../cli/cli.js';
import { farmProject } from '../cli/project/shop-project.js';
import { Barn, Farm, operator } from '../cli/project/farm/src/operator.js';
import { writeVerbs } from './control-plane/audit-entry.js';
import type { AuditEntry } from './control-plane/audit-entry.js';
import type { AuditMark } from './control-plane/audit-log.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';

interface PlannedObject {
  readonly action: string;
  readonly ref: { readonly kind: string; readonly name: string };
  readonly changes: readonly { path: string; from?: unknown; to?: unknown }[];
}

interface FarmPlan {
  readonly settled: boolean;
  readonly objects: readonly PlannedObject[];
  readonly rollouts: readonly { ref: { name: string }; causes: readonly { name: string }[] }[];
  readonly steps: readonly {
    readonly after: readonly { name: string }[];
    readonly objects: readonly PlannedObject[];
  }[];
}

/** Ignores the annotations of a Deployment's controller, which no plan contains. */
const notes = [
  ...[appliedHashAnnotation, lastAppliedAnnotation],
  'deployment.kubernetes.io/revision',
];
const ignore = [
  ...serverSetFields,
  ...notes.map((name) => `metadata.annotations[${JSON.stringify(name)}]`),
];

const resources: Readonly<Record<string, string>> = {
  Farm: 'farms',
  ConfigMap: 'configmaps',
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
};

describe("a plan and the operator's later writes on a real API server", () => {
  const file = scratchDirectory();
  const namespace = `farm-${systemRandom.uuid().slice(0, 8)}`;
  const key = { namespace, name: 'f' };
  let plane: ControlPlane;
  let client: ConnectedClient;
  let farmer: ConnectedClient;
  let planner: string;
  let kubectl: Kubectl;

  before(async () => {
    plane = await sharedControlPlane();
    planner = (await plane.user('planner', ['system:masters'])).kubeConfigPath;
    const { kubeConfigPath } = await plane.user('farmer', ['system:masters']);
    farmer = await clientFromKubeConfig({ path: kubeConfigPath });
    client = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    kubectl = await Kubectl.create((path) => copyFile(plane.kubeConfigPath, path));
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    for (const { crd } of [Farm, Barn]) await ensureCrd(client, crd);
  });

  after(async () => {
    await client.delete(Namespace, { name: namespace });
    await Promise.all([client.close(), farmer.close(), kubectl.close()]);
  });

  async function write(spec: object): Promise<string> {
    const farm = { apiVersion: Farm.apiVersion, kind: 'Farm', metadata: key, spec };
    await writeFile(file('farm.json'), JSON.stringify(farm));
    return file('farm.json');
  }

  async function plan(spec: object, ...args: readonly string[]): Promise<CliResult> {
    const cr = await write(spec);
    const since = await plane.auditLog.mark();
    const result = await cli([
      ...['plan', '-f', cr, '--project', farmProject, '--kubeconfig', planner, ...args],
    ]);
    const writes = await plane.auditLog.read({ since, user: 'planner', verbs: writeVerbs });
    const stored = writes.filter(({ uri }) => !/[?&]dryRun=All/.test(uri));
    expect(stored.map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([]);
    return result;
  }

  /** Applies the file as users do, and waits until the operator is idle. */
  async function run(spec: object): Promise<void> {
    const cr = await write(spec);
    await kubectl.print(['apply', '-f', cr]);
    const { generation } = (await client.get(Farm, key)).metadata;
    const stop = new AbortController();
    const manager = new Manager({ client: farmer, rbacPreflight: 'off' });
    await operator.setup(manager);
    const running = manager.run(stop.signal);
    try {
      await eventually(() => expectRest(generation, spec), { timeoutMs: 90_000 });
    } finally {
      stop.abort();
      await running;
    }
  }

  async function expectRest(generation: number | undefined, spec: object): Promise<void> {
    const { status, metadata } = await client.get(Farm, key);
    expect(metadata.generation).to.equal(generation);
    const web = await client.get(Deployment, { namespace, name: 'web' });
    const { data } = await client.get(ConfigMap, { namespace, name: 'settings-web' });
    expect(data).to.deep.equal({ config: (spec as { config: string }).config });
    expect(web.status?.updatedReplicas).to.equal(2);
    expect(web.status?.observedGeneration).to.equal(web.metadata.generation);
    expect(status?.phase).to.equal('Ready');
    const fieldSelector = 'metadata.name=settings-worker';
    const { items } = await client.list(ConfigMap, { namespace, fieldSelector });
    expect(items.length).to.equal('workers' in spec ? 0 : 1);
  }

  async function everything(): Promise<ReadonlyMap<string, UnstructuredObject>> {
    const types: readonly TypeMeta[] = [
      { apiVersion: Farm.apiVersion, kind: 'Farm' },
      { apiVersion: 'v1', kind: 'ConfigMap' },
      { apiVersion: 'apps/v1', kind: 'Deployment' },
      { apiVersion: 'apps/v1', kind: 'StatefulSet' },
    ];
    const lists = await Promise.all(
      types.map(async (type) => {
        const { items } = await client.list<UnstructuredObject>(type, { namespace });
        return items.map((object): [string, UnstructuredObject] => [
          `${type.kind} ${object.metadata.name ?? ''}`,
          // The status of a workload is written by its controller.
          type.kind === 'Farm' ? object : { ...object, status: undefined },
        ]);
      }),
    );
    return new Map(lists.flat().filter(([id]) => id !== 'ConfigMap kube-root-ca.crt'));
  }

  async function podsOf(workload: string): Promise<readonly string[]> {
    const { items } = await client.list(Pod, { namespace });
    const staying = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const own = staying.filter(({ metadata }) => metadata.name?.startsWith(`${workload}-`));
    return own.map(({ metadata }) => metadata.uid ?? '');
  }

  async function writesSince(since: AuditMark): Promise<readonly AuditEntry[]> {
    const all = await plane.auditLog.read({ since, user: 'farmer', verbs: writeVerbs });
    return all.filter(({ group, resource, code }) => {
      return group !== 'events.k8s.io' && resource !== 'events' && code < 300;
    });
  }

  const first = { config: 'one' };
  const wanted = { config: 'two', workers: false };

  it('change the same objects and fields, restart the same workloads, and prune the same objects, in the same order', async () => {
    await run(first);
    const { code, stdout, stderr } = await plan(wanted, '--output', 'json');
    expect({ code, stderr }, stdout).to.deep.equal({ code: 2, stderr: '' });
    const [planned] = (JSON.parse(stdout) as { plans: readonly FarmPlan[] }).plans;
    if (planned === undefined) throw new Error(stdout);
    expect(planned.settled).to.equal(true);

    const since = await plane.auditLog.mark();
    const [before, pods] = [await everything(), await podsOfAll()];
    await run(wanted);
    const [after, podsAfter] = [await everything(), await podsOfAll()];

    expect(changesOf(before, after)).to.have.deep.members(
      planned.objects
        .filter(({ action }) => action !== 'unchanged')
        .map(({ action, ref, changes }) => ({
          ...{ action, object: `${ref.kind} ${ref.name}` },
          changes: action === 'configure' ? changes : [],
        })),
    );
    const writes = await writesSince(since);
    expect(new Set(writes.map(writeOf))).to.deep.equal(new Set(plannedWrites(planned)));
    expect(planned.rollouts.map(({ ref }) => ref.name)).to.deep.equal(['db', 'web']);
    expect(planned.rollouts.map(({ causes }) => causes.map(({ name }) => name))).to.deep.equal([
      ['settings-db'],
      // The template of `web` also has one field less.
      [],
    ]);
    for (const name of ['db', 'web']) {
      const kept = pods[name]?.filter((uid) => podsAfter[name]?.includes(uid) === true);
      expect(kept, name).to.deep.equal([]);
    }
    // Garbage collection takes time.
    while ((await podsOf('worker')).length > 0) await client.get(Farm, key);
    // The steps are in the order of dependencies.
    const order = ['StatefulSet db', 'Deployment web', 'ConfigMap settings-worker'];
    const stepOf = (object: string): number =>
      planned.steps.findIndex(({ objects }) =>
        objects.some(({ ref, action }) => {
          return `${ref.kind} ${ref.name}` === object && action !== 'unchanged';
        }),
      );
    expect(order.map(stepOf)).to.deep.equal([0, 1, 2]);
    const at = (object: string): number =>
      writes.findIndex((entry) => writeOf(entry).endsWith(` ${object}`));
    expect(order.map(at)).to.deep.equal(order.map(at).toSorted((a, b) => a - b));
  });

  it('are empty when no object has to change', async () => {
    const { code, stdout, stderr } = await plan(wanted);
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
  });

  it('begin with the changes that kubectl apply makes to removed fields and to fields of other managers', async () => {
    const body = { spec: { barn: 'theirs' }, metadata: { labels: { their: 'label' } } };
    await client.patch(Farm, key, { type: 'merge', body });
    const given = { config: 'three', image: 'farm:9' };
    const cr = await write(given);
    const said = await kubectl.print(['apply', '--dry-run=server', '-o', 'json', '-f', cr]);
    const byKubectl = JSON.parse(said) as UnstructuredObject;
    const farm = { apiVersion: Farm.apiVersion, kind: 'Farm', metadata: key, spec: given };
    const { signal } = new AbortController();
    const planned = await applyResource(farm, dryRun(client), { namespace, signal });
    const shown = ({ metadata, spec }: UnstructuredObject): unknown => {
      return { spec, labels: metadata.labels, annotations: metadata.annotations };
    };
    expect(shown(planned)).to.deep.equal(shown(byKubectl));
    expect(planned['spec']).to.include({ workers: true, barn: 'theirs' });
  });

  it('fail with exit code 1 for an object that the server rejects', async () => {
    const { code, stdout, stderr } = await plan({ ...wanted, workers: 'some' });
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.include('spec.workers');
  });

  async function podsOfAll(): Promise<Readonly<Record<string, readonly string[]>>> {
    const names = ['db', 'web', 'worker'];
    return Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await podsOf(name)] as const)),
    );
  }

  function plannedWrites({ steps }: FarmPlan): readonly string[] {
    return steps.flatMap(({ objects }) =>
      objects
        .filter(({ action }) => action !== 'unchanged')
        .flatMap(({ action, ref, changes }) => {
          const target = `${ref.kind} ${ref.name}`;
          if (action === 'prune') return [`delete ${target}`];
          // The operator does not own users' fields.
          if (ref.kind !== 'Farm') return [`patch ${target}`];
          const isStatus = changes.some(({ path }) => path.startsWith('status'));
          return isStatus ? [`patch ${target}/status`] : [];
        }),
    );
  }
});

function writeOf({ verb, resource, name, subresource }: AuditEntry): string {
  const kind = Object.keys(resources).find((each) => resources[each] === resource) ?? resource;
  return `${verb} ${kind} ${name}${subresource === '' ? '' : `/${subresource}`}`;
}

function changesOf(
  before: ReadonlyMap<string, UnstructuredObject>,
  after: ReadonlyMap<string, UnstructuredObject>,
): readonly { action: string; object: string; changes: readonly unknown[] }[] {
  const ids = [...new Set([...before.keys(), ...after.keys()])];
  return ids.flatMap((object) => {
    const [from, to] = [before.get(object), after.get(object)];
    if (to === undefined) return [{ action: 'prune', object, changes: [] }];
    if (from === undefined) return [{ action: 'create', object, changes: [] }];
    const changes = diffObjects(from, to, { ignore });
    // Like in the JSON of a plan, absent fields are omitted.
    const told = JSON.parse(JSON.stringify(changes)) as unknown[];
    return told.length === 0 ? [] : [{ action: 'configure', object, changes: told }];
  });
}
