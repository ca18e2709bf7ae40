import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { parse, parseAllDocuments } from 'yaml';
import { getIfExists } from '../../../../lib/client/index.js';
import { Deployment, Lease, Namespace, PodDisruptionBudget } from '../../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../../lib/object/kubernetes-object.js';
import { SampleConfig } from '../../../../samples/lifecycle/sample-config.js';
import { eventually } from '../../../cluster/control-plane/eventually.js';
import { findFreePorts } from '../../../cluster/control-plane/free-ports.js';
import { kubeConfigOf } from '../../deployed/deployed-target.js';
import type { DeployedTarget } from '../../deployed/deployed-target.js';
import { unusedRights } from '../../deployed/unused-rights.js';
import { Script } from '../../parseable/suite/script.js';
import { isDeployed } from './deployed.js';

const name = 'sample-operator';
const key = { name: 'sample' };
const samples = new URL('../../../../samples/lifecycle/', import.meta.url);

/** Declares the deployed operator: processes with exactly the permissions of `deploy/rbac.yaml`. */
export function deployedSuite(newTarget: () => Promise<DeployedTarget>): void {
  let target: DeployedTarget;
  let folder: string;
  let namespace: string;
  let running: Script[] = [];
  let installed: readonly UnstructuredObject[] = [];

  before(async function () {
    this.timeout(120_000);
    target = await newTarget();
    folder = await mkdtemp(join(tmpdir(), 'lifecycle-'));
    const made = await target.admin.create<Namespace>({
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: 'sample-system-' } },
    });
    namespace = made.metadata.name ?? '';
    installed = await install();
  });
  after(async () => {
    for (const script of running) await script.ends('SIGTERM');
    for (const { apiVersion, kind, metadata } of installed) {
      if (metadata.namespace !== undefined) continue;
      await target.admin.delete({ apiVersion, kind }, { name: metadata.name ?? '' });
    }
    await target.admin.delete(Namespace, { name: namespace });
    await target.close();
    await rm(folder, { recursive: true });
  });

  it('the operator deploys, upgrades and removes with leader election, probes and metrics, without denied requests or unused permissions', async function () {
    this.timeout(120_000);
    const first = await start('1.0.0');
    await eventually(async () => {
      expect(await answerOf(first.health, '/readyz')).to.equal(200);
      expect(await holder()).not.to.equal('');
    });
    const text = await readFile(new URL('sample-config.yaml', samples), 'utf8');
    await target.admin.create(parse(text) as SampleConfig);
    await deployed('1.0.0');
    const metrics = await (await request(`${first.metrics}/metrics`)).body.text();
    expect(metrics).to.match(/controller_runtime_reconcile_total\{[^}]*="sampleconfig"/);
    expect(metrics).to.match(/leader_election_master_status\{[^}]*\} 1/);
    // Like a rolling update: the new process starts before the old one ends.
    const second = await start('2.0.0');
    expect(await first.script.ends('SIGTERM'), first.script.output).to.equal(0);
    await deployed('2.0.0');
    await healed();
    await target.admin.delete(SampleConfig, key);
    await eventually(async () => {
      expect(await getIfExists(target.admin, SampleConfig, key)).to.equal(undefined);
    }, 60_000);
    expect(await second.script.ends('SIGTERM'), second.script.output).to.equal(0);
    running = [];
    const requests = await target.requestsOf(`system:serviceaccount:${namespace}:${name}`);
    const refused = requests.filter(({ code }) => code === 401 || code === 403);
    expect(refused, 'denied').to.deep.equal([]);
    const unused = await unusedRights(target.admin, { name, namespace }, requests);
    expect(
      unused.filter((right) => !isSpare(right)),
      'never used',
    ).to.deep.equal([]);
  });

  /** Applies `deploy/rbac.yaml` in this spec's namespace. */
  async function install(): Promise<readonly UnstructuredObject[]> {
    const text = await readFile(new URL('deploy/rbac.yaml', samples), 'utf8');
    const local = text.replaceAll('sample-system', namespace);
    const objects = parseAllDocuments(local).map((each) => each.toJS() as UnstructuredObject);
    for (const object of objects) {
      await target.admin.apply(object, { fieldManager: 'spec', force: true });
    }
    return objects;
  }

  async function start(release: string) {
    const [health = 0, metrics = 0] = await findFreePorts(2);
    const kubeConfig = join(folder, `kubeconfig-${health}`);
    const text = await kubeConfigOf(target, { name, namespace });
    await writeFile(kubeConfig, text, { mode: 0o600 });
    const script = new Script(
      'lifecycle/main.ts',
      [
        ...['--kubeconfig', kubeConfig, '--leader-elect'],
        ...[`--health-port=${health}`, `--metrics-port=${metrics}`],
      ],
      { RELEASE: release, POD_NAMESPACE: namespace },
    );
    running = [...running, script];
    const at = (port: number): string => `http://127.0.0.1:${port}`;
    await eventually(async () => {
      expect(await answerOf(at(health), '/readyz')).to.equal(200);
    });
    return { script, health: at(health), metrics: at(metrics) };
  }

  async function deployed(version: string): Promise<void> {
    await eventually(async () => {
      const { status } = await target.admin.get(SampleConfig, key);
      if (!isDeployed(status, version)) throw new Error(JSON.stringify(status));
    }, 60_000);
  }

  /** Expects that manual edits are reverted. */
  async function healed(): Promise<void> {
    const deployment = { namespace, name: 'http-server-2' };
    const budget = { namespace, name: 'http-server' };
    const edits = { replicas: { spec: { replicas: 3 } }, minimum: { spec: { minAvailable: 0 } } };
    const { admin } = target;
    await admin.patch(Deployment, deployment, { type: 'merge', body: edits.replicas });
    await admin.patch(PodDisruptionBudget, budget, { type: 'merge', body: edits.minimum });
    await eventually(async () => {
      expect((await admin.get(Deployment, deployment)).spec?.replicas).to.equal(2);
      expect((await admin.get(PodDisruptionBudget, budget)).spec?.minAvailable).to.equal(1);
    });
  }

  async function holder(): Promise<string> {
    const lease = await getIfExists(target.admin, Lease, { namespace, name });
    return lease?.spec?.holderIdentity ?? '';
  }
}

/** Permissions for events that do not occur in this spec. */
function isSpare(right: string): boolean {
  return (
    // Objects are listed only on servers without streaming lists, and cached objects are not read.
    /^(list|get) /.test(right) ||
    // Events are patched only if they are repeated. Only an admission plugin requires the finalizers permission.
    [
      'patch events.events.k8s.io',
      'update sampleconfigs/finalizers.lifecycle.example.com',
    ].includes(right) ||
    // After other specs the CRD is up to date already.
    /^(create|patch|watch) customresourcedefinitions\.apiextensions\.k8s\.io$/.test(right)
  );
}

async function answerOf(base: string, path: string): Promise<number> {
  const { statusCode, body } = await request(`${base}${path}`);
  await body.dump();
  return statusCode;
}
