import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { parseAllDocuments } from 'yaml';
import { isConditionTrue } from '../../../../lib/object/conditions.js';
import {
  ConfigMap,
  Lease,
  Namespace,
  PersistentVolumeClaim,
} from '../../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../../lib/object/kubernetes-object.js';
import { pruneClaimsAnnotation } from '../../../../samples/parseable/tenant-chain.js';
import { ParseableTenant } from '../../../../samples/parseable/tenant.js';
import type { TenantSpec } from '../../../../samples/parseable/tenant.js';
import { eventually } from '../../../cluster/control-plane/eventually.js';
import { findFreePort, findFreePorts } from '../../../cluster/control-plane/free-ports.js';
import { kubeConfigOf } from '../../deployed/deployed-target.js';
import type { DeployedTarget } from '../../deployed/deployed-target.js';
import { unusedRights } from '../../deployed/unused-rights.js';
import { Script } from './script.js';
import { sampleTenant } from './stage.js';

const name = 'parseable-operator';

/** Declares the deployed operator: processes with exactly the permissions of `deploy/rbac.yaml`. */
export function deployedSuite(newTarget: () => Promise<DeployedTarget>): void {
  let target: DeployedTarget;
  let folder: string;
  let namespace: string;
  let replicas: Script[] = [];
  let installed: UnstructuredObject[] = [];

  before(async function () {
    this.timeout(120_000);
    target = await newTarget();
    folder = await mkdtemp(join(tmpdir(), 'parseable-'));
    const metadata = { generateName: 'parseable-system-' };
    const made = await target.admin.create<Namespace>({
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata },
    });
    namespace = made.metadata.name ?? '';
  });
  after(async () => {
    for (const replica of replicas) await replica.ends('SIGTERM');
    for (const { apiVersion, kind, metadata } of installed) {
      await target.admin.delete({ apiVersion, kind }, metadata as never);
    }
    await target.admin.delete(Namespace, { name: namespace });
    await target.close();
    await rm(folder, { recursive: true });
  });

  it('the operator works with two replicas, probes, metrics and a webhook, without denied requests or unused permissions', async function () {
    this.timeout(120_000);
    const webhookPort = await findFreePort();
    await install('rbac.yaml');
    await install('operator.yaml', webhookPort);
    const first = await startReplica(webhookPort);
    await eventually(async () => expect(await holder()).to.not.equal(''));
    const otherPort = await findFreePort();
    const second = await startReplica(otherPort);
    await eventually(async () => {
      expect(await answerOf(first.health, '/readyz')).to.equal(200);
      expect(await answerOf(second.health, '/readyz')).to.equal(200);
    });
    const leader = await holder();
    await story(async () => {
      const bad = await target.admin
        .create(await tenant('bad', withoutConfig))
        .catch((error: unknown) => error);
      expect(bad)
        .to.be.an('error')
        .with.property('message')
        .that.contains('spec.nodes[0].k8sConfig');
    });
    const metrics = await (await request(`${first.metrics}/metrics`)).body.text();
    expect(metrics).to.match(
      /controller_runtime_reconcile_total\{[^}]*controller="parseabletenant"/,
    );
    expect(metrics).to.match(/leader_election_master_status\{[^}]*\} 1/);
    expect(await first.script.ends('SIGTERM')).to.equal(0);
    // The webhooks now lead to the second process. In a cluster, a Service does this by itself.
    await install('operator.yaml', otherPort);
    await eventually(async () => expect(await holder()).to.not.be.oneOf(['', leader]));
    await story(() => Promise.resolve());
    expect(await second.script.ends('SIGTERM')).to.equal(0);
    replicas = [];
    const user = `system:serviceaccount:${namespace}:${name}`;
    const requests = await target.requestsOf(user);
    const refused = requests.filter(({ code }) => code === 401 || code === 403);
    expect(refused, 'denied').to.deep.equal([]);
    const unused = await unusedRights(target.admin, { name, namespace }, requests);
    expect(
      unused.filter((right) => !isSpare(right)),
      'never used',
    ).to.deep.equal([]);
  });

  /** Creates, changes, shrinks and deletes a tenant. */
  async function story(meanwhile: () => Promise<void>): Promise<void> {
    await target.admin.create(await tenant('ordered'));
    await available();
    await meanwhile();
    await edit((spec) => ({
      ...spec,
      parseableConfig: spec.parseableConfig.map((config) => ({
        ...config,
        env: { ...config.env, P_LOG_LEVEL: 'debug' },
      })),
    }));
    await available();
    for (const [gone, left] of [
      ['console', 2],
      ['ingestor', 1],
    ] as const) {
      await edit((spec) => ({ ...spec, nodes: spec.nodes.filter((each) => each.name !== gone) }));
      await eventually(async () => {
        const { items } = await target.admin.list(ConfigMap, {
          ...{ namespace, labelSelector: 'custom_resource=ordered' },
        });
        expect(items).to.have.lengthOf(left);
      });
    }
    await available();
    await eventually(async () => {
      const { items } = await target.admin.list(PersistentVolumeClaim, { namespace });
      expect(items).to.have.lengthOf(0);
    });
    await target.admin.delete(ParseableTenant, { namespace, name: 'ordered' });
    await eventually(async () => {
      const { items } = await target.admin.list(ConfigMap, {
        ...{ namespace, labelSelector: 'custom_resource=ordered' },
      });
      expect(items).to.have.lengthOf(0);
    }, 60_000);
  }

  async function tenant(
    called: string,
    change: (spec: TenantSpec) => TenantSpec = withClaim,
  ): Promise<ParseableTenant> {
    const sample = await sampleTenant('ordered');
    const annotations = { [pruneClaimsAnnotation]: 'true' };
    const metadata = { name: called, namespace, annotations };
    return { ...sample, metadata, spec: change(sample.spec) };
  }

  async function edit(change: (spec: TenantSpec) => TenantSpec): Promise<void> {
    const key = { namespace, name: 'ordered' };
    const { spec } = await target.admin.get(ParseableTenant, key);
    const body = { spec: change(spec) };
    await target.admin.patch(ParseableTenant, key, { type: 'merge', body });
  }

  async function available(): Promise<void> {
    await eventually(async () => {
      const key = { namespace, name: 'ordered' };
      const { metadata, status } = await target.admin.get(ParseableTenant, key);
      expect(status?.observedGeneration).to.equal(metadata.generation);
      expect(isConditionTrue(status?.conditions, 'Available')).to.equal(true);
      expect(isConditionTrue(status?.conditions, 'Progressing')).to.equal(false);
    }, 60_000);
  }

  async function holder(): Promise<string> {
    const { spec } = await target.admin.get(Lease, { namespace, name });
    return spec?.holderIdentity ?? '';
  }

  /** Applies a manifest of `deploy/` in this spec's namespace, without its workloads. */
  async function install(file: string, webhookPort?: number): Promise<void> {
    const url = new URL(`../../../../samples/parseable/deploy/${file}`, import.meta.url);
    const text = (await readFile(url, 'utf8')).replaceAll('parseable-system', namespace);
    const skipped = ['Deployment', 'Service', 'PodDisruptionBudget'];
    if (webhookPort !== undefined)
      await target.leadHere({ namespace, name: `${name}-webhook-service` }, webhookPort);
    for (const document of parseAllDocuments(text)) {
      const object = document.toJS() as UnstructuredObject;
      if (skipped.includes(object.kind)) continue;
      const local = webhookPort === undefined ? object : required(object, webhookPort);
      await target.admin.apply(local, { fieldManager: 'spec', force: true });
      const isNew = installed.every(({ kind }) => kind !== object.kind);
      if (object.metadata.namespace === undefined && isNew) installed = [...installed, object];
    }
  }

  async function startReplica(webhookPort: number) {
    const [health = 0, metrics = 0] = await findFreePorts(2);
    const kubeConfig = join(folder, `kubeconfig-${health}`);
    await writeFile(kubeConfig, await kubeConfigOf(target, { name, namespace }), { mode: 0o600 });
    const script = new Script(
      'parseable/main.ts',
      [
        ...['--kubeconfig', kubeConfig, '--leader-elect', '--namespace', namespace],
        ...[`--health-port=${health}`, `--metrics-port=${metrics}`],
        `--webhook-port=${webhookPort}`,
      ],
      { WATCH_NAMESPACE: namespace },
    );
    replicas = [...replicas, script];
    const at = (port: number): string => `http://127.0.0.1:${port}`;
    return { script, health: at(health), metrics: at(metrics) };
  }
}

/** Permissions for events that do not occur in this spec. */
function isSpare(right: string): boolean {
  return (
    // Objects are listed only on servers without streaming lists. They are read only after a conflict.
    /^(list|get) (configmaps|services|persistentvolumeclaims|.*\.apps|.*\.parseable\.io)$/.test(
      right,
    ) ||
    // The operator needs these only if a pod blocks a rollout, an event is repeated, a certificate is replaced, or an
    // earlier release has left its finalizer.
    ['list pods', 'patch events.events.k8s.io', 'update secrets'].includes(right) ||
    right === 'patch parseabletenants.parseable.io' ||
    // After other specs the CRD is up to date already.
    /^(create|patch|list|watch) customresourcedefinitions\.apiextensions\.k8s\.io$/.test(right)
  );
}

/** Webhook configuration that fails closed, at a port of this machine. */
function required(object: UnstructuredObject, port: number): UnstructuredObject {
  const { webhooks } = object as { webhooks?: { clientConfig: { service: object } }[] };
  if (webhooks === undefined) return object;
  return {
    ...object,
    webhooks: webhooks.map((webhook) => {
      const clientConfig = { service: { ...webhook.clientConfig.service, port } };
      return { ...webhook, clientConfig, failurePolicy: 'Fail' };
    }),
  };
}

function withClaim(spec: TenantSpec): TenantSpec {
  const resources = { requests: { storage: '1Gi' } };
  const claim = { accessModes: ['ReadWriteOnce'], resources };
  const storageConfig = [{ name: 'data', mountPath: '/data', spec: claim }];
  return {
    ...spec,
    k8sConfig: spec.k8sConfig.map((each) =>
      each.name === 'staged' ? { ...each, storageConfig } : each,
    ),
  };
}

function withoutConfig(spec: TenantSpec): TenantSpec {
  return { ...spec, k8sConfig: [] };
}

async function answerOf(base: string, path: string): Promise<number> {
  const { statusCode, body } = await request(`${base}${path}`);
  await body.dump();
  return statusCode;
}
