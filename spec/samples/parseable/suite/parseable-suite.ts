import { expect } from 'chai';
import { findCondition } from '../../../../lib/object/conditions.js';
import { ConfigMap, Deployment, Event, Pod, StatefulSet } from '../../../../lib/object/kinds.js';
import { podBehaviorAnnotation } from '../../../../lib/apiserver/controllers/pod-behavior.js';
import { keyOf } from '../../../../lib/object/object-key.js';
import { ParseableTenant } from '../../../../samples/parseable/tenant.js';
import type { NodeSpec, TenantSpec } from '../../../../samples/parseable/tenant.js';
import {
  onImmutableAnnotation,
  pruneClaimsAnnotation,
} from '../../../../samples/parseable/tenant-chain.js';
import type { BuilderTarget, NewTarget } from '../../../builder/suite/target.js';
import { versionOf } from '../../../builder/suite/target.js';
import { createAsOriginal } from './original-operator.js';
import { Stage, sampleNames, tenantKinds } from './stage.js';

/** Declares how the Parseable operator behaves, on either server. */
export function parseableSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let stage: Stage;
  before(async () => {
    target = await newTarget();
  });
  after(() => target.close());
  beforeEach(async () => {
    stage = await Stage.open(target);
  });
  afterEach(() => stage.stop());

  it('the operator deploys each example tenant, and leaves nothing after its deletion', async () => {
    await stage.start();
    for (const sample of await sampleNames()) {
      await stage.create(sample);
      await stage.available(sample);
    }
    expect(await stage.objects()).to.include.members([
      ...['ConfigMap archive-local', 'Service archive-disks', 'StatefulSet disks-archive'],
      ...[
        'PersistentVolumeClaim archive-disks-data',
        'PersistentVolumeClaim archive-disks-staging',
      ],
      ...['Deployment small-scratch', 'ConfigMap object-store-ext'],
    ]);
    for (const name of await sampleNames()) {
      await target.admin.delete(ParseableTenant, { name, namespace: stage.namespace });
    }
    await target.eventually(async () => {
      expect(await stage.objectsOf([...tenantKinds, Pod])).to.deep.equal([]);
    });
  });

  it('the operator creates the four objects of a node with four writes, then sends none', async () => {
    await stage.start();
    await stage.operator.requests();
    await stage.create('persistent', oneClaim);
    await stage.available('persistent');
    const writes = await stage.writes();
    expect(writes.map(({ resource }) => resource).toSorted()).to.deep.equal([
      'configmaps',
      'persistentvolumeclaims',
      'services',
      'statefulsets',
    ]);
    await stage.operator.requests();
    await touch(stage, 'persistent');
    expect(await operatorAnswered(stage)).to.deep.equal([]);
  });

  it('the operator changes nothing after it is restarted', async () => {
    await stage.start();
    await stage.create('persistent');
    await stage.create('ordered');
    await stage.available('persistent');
    await stage.available('ordered');
    await stage.stop();
    const before = await target.eventually(() => stage.versions());
    await stage.operator.requests();
    await stage.start();
    await touch(stage, 'ordered');
    expect(await stage.writes()).to.deep.equal([]);
    const after = await stage.versions();
    expect(omit(after, 'ParseableTenant')).to.deep.equal(omit(before, 'ParseableTenant'));
  });

  it('the operator restarts only the pods of nodes that use a changed value, one type of node after the other', async () => {
    await stage.start();
    await stage.create('ordered');
    await stage.available('ordered');
    const [console, ingestors] = await Promise.all([
      stage.podsOf('console'),
      stage.podsOf('ingestor'),
    ]);
    stage.written.length = 0;
    await stage.operator.requests();
    await stage.edit('ordered', withLogLevel);
    await stage.available('ordered');
    expect(stage.written.toSorted()).to.deep.equal([
      ...['ConfigMap ingestor-back', 'ConfigMap querier-back'],
      ...['Deployment stateless-querier', 'StatefulSet staged-ingestor'],
    ]);
    expect(stage.written.slice(2)).to.deep.equal([
      'StatefulSet staged-ingestor',
      'Deployment stateless-querier',
    ]);
    expect((await stage.writes()).map(({ name }) => name)).to.have.length(4);
    expect(await stage.podsOf('console')).to.deep.equal(console);
    const rolled = await stage.podsOf('ingestor');
    expect(rolled.filter((pod) => ingestors.includes(pod))).to.deep.equal([]);
  });

  it('the operator stops at a StatefulSet that never becomes ready, and reports it', async () => {
    await stage.start();
    await stage.create('ordered');
    await stage.available('ordered');
    const queriers = await stage.podsOf('querier');
    await stage.edit('ordered', (spec) => withLogLevel(neverReady(spec)));
    await target.eventually(async () => {
      const { status } = await stage.tenant('ordered');
      const progressing = findCondition(status?.conditions, 'Progressing');
      expect(progressing?.status).to.equal('True');
      expect(progressing?.message).to.match(/Deployment \S+\/stateless-querier .*staged-ingestor/);
    });
    expect(await stage.podsOf('querier')).to.deep.equal(queriers);
  });

  it('the operator prunes the objects of a removed node, but not its PersistentVolumeClaims', async () => {
    await stage.start();
    await stage.create('ordered', (spec) => withClaim(spec, 'staged'));
    await stage.available('ordered');
    await stage.edit('ordered', (spec) => without(spec, 'ingestor'));
    await stage.available('ordered');
    const left = await stage.objects();
    expect(left.filter((each) => each.includes('ingestor'))).to.deep.equal([
      'PersistentVolumeClaim ingestor-staged-data',
    ]);
    expect(left).to.include.members(['Deployment stateless-querier', 'ConfigMap querier-back']);
  });

  it('the operator prunes the PersistentVolumeClaims of a removed node if the tenant requests it', async () => {
    await stage.start();
    const { metadata } = await stage.create('ordered', (spec) => withClaim(spec, 'staged'));
    await stage.available('ordered');
    const annotations = { [pruneClaimsAnnotation]: 'true' };
    const patch = { type: 'merge', body: { metadata: { annotations } } } as const;
    const key = { name: metadata.name ?? '', namespace: stage.namespace };
    await target.admin.patch(ParseableTenant, key, patch);
    await stage.edit('ordered', (spec) => without(spec, 'ingestor'));
    await target.eventually(async () => {
      expect((await stage.objects()).join()).not.to.include('ingestor');
    });
  });

  it('the operator keeps the PersistentVolumeClaims of a removed node when the tenant no longer requests their deletion', async () => {
    await stage.start();
    const { metadata } = await stage.create('ordered', (spec) => withClaim(spec, 'staged'));
    const key = { name: metadata.name ?? '', namespace: stage.namespace };
    const asking = { metadata: { annotations: { [pruneClaimsAnnotation]: 'true' } } };
    await target.admin.patch(ParseableTenant, key, { type: 'merge', body: asking });
    const { spec } = await stage.available('ordered');
    const annotations = { [pruneClaimsAnnotation]: null };
    const { nodes } = without(spec, 'ingestor');
    const body = { metadata: { annotations }, spec: { nodes } };
    await target.admin.patch(ParseableTenant, key, { type: 'merge', body });
    await stage.available('ordered');
    expect(await stage.objects()).to.include('PersistentVolumeClaim ingestor-staged-data');
  });

  it('the operator changes the configuration and the type of a node in place', async () => {
    await stage.start();
    const { metadata } = await stage.create('ephemeral');
    await stage.available('ephemeral');
    const key = { name: 'small-scratch', namespace: stage.namespace };
    const before = await target.admin.get(Deployment, key);
    await stage.edit('ephemeral', (spec) => ({
      ...withNode(spec, { parseableConfig: 'other', type: 'writer' }),
      deploymentOrder: ['writer'],
      parseableConfig: [{ name: 'other', cliArgs: ['local-store'], env: {} }],
    }));
    await stage.available('ephemeral');
    const after = await target.admin.get(Deployment, key);
    expect(after.metadata.uid).to.equal(before.metadata.uid);
    expect(after.spec?.template.metadata?.labels).to.include({
      parseableConfig: 'other',
      nodeType: 'writer',
    });
    expect(await stage.objects()).to.include('ConfigMap scratch-other');
    expect(metadata.name).to.equal('ephemeral');
  });

  it('the operator does not count a workload of another tenant as one of its nodes', async () => {
    await stage.start();
    await stage.create('ephemeral');
    await stage.available('ephemeral');
    await stage.create('ephemeral', (spec) => spec, 'twin');
    await target.eventually(async () => {
      const { status } = await stage.tenant('twin');
      expect(findCondition(status?.conditions, 'Degraded')?.status).to.equal('True');
      expect(findCondition(status?.conditions, 'Available')?.status).to.equal('False');
      expect(status?.ready).to.equal('0/1');
    });
  });

  it('the operator does not mix the objects of two tenants in one namespace', async () => {
    await stage.start();
    await stage.create('ephemeral');
    await stage.create('multi-node');
    await stage.available('ephemeral');
    await stage.available('multi-node');
    const before = await versionsOf(stage, 'custom_resource=multi-node');
    const tenant = await stage.edit('ephemeral', (spec) => ({ ...spec, nodes: [] }));
    // The change deletes every object of the tenant, which its user must allow.
    const allow = { 'operator-builder.io/allow-deletions': String(tenant.metadata.generation) };
    const patch = { type: 'merge', body: { metadata: { annotations: allow } } } as const;
    await target.admin.patch(ParseableTenant, keyOf(tenant), patch);
    await target.eventually(async () => {
      expect((await stage.objects()).join()).not.to.include('scratch');
    });
    expect(await versionsOf(stage, 'custom_resource=multi-node')).to.deep.equal(before);
  });

  for (const [title, change, message] of badSpecs) {
    it(`the operator reports ${title}, and changes nothing`, async () => {
      await stage.start();
      await stage.create('multi-node');
      await stage.available('multi-node');
      const before = await stage.objects();
      const edited = await stage.edit('multi-node', change);
      await target.eventually(async () => {
        const { status } = await stage.tenant('multi-node');
        const degraded = findCondition(status?.conditions, 'Degraded');
        expect(degraded).to.include({ status: 'True', reason: 'InvalidSpec' });
        expect(degraded?.message).to.match(message);
        expect(degraded?.observedGeneration).to.equal(edited.metadata.generation);
        const events = await target.admin.list(Event, { namespace: stage.namespace });
        expect(events.items.map(({ reason }) => reason)).to.include('InvalidSpec');
      });
      expect(await stage.objects()).to.deep.equal(before);
    });
  }

  it('the operator takes over the objects of the original Parseable operator, and recreates workloads if the tenant allows it', async () => {
    const tenant = await stage.create('multi-node');
    const original = await createAsOriginal(target.admin, tenant);
    const allowing = { metadata: { annotations: { [onImmutableAnnotation]: 'recreate' } } };
    await target.admin.patch(ParseableTenant, keyOf(tenant), { type: 'merge', body: allowing });
    await stage.start();
    await stage.available('multi-node');
    const key = { namespace: stage.namespace, name: 'eight-cores-large' };
    const taken = await target.admin.get(Deployment, key);
    expect(taken.metadata.uid).not.to.equal(original.metadata.uid);
    expect(taken.spec?.selector.matchLabels).to.include({ node: 'large' });
    const configMap = await target.admin.get(ConfigMap, { ...key, name: 'large-local' });
    expect(configMap.data).to.deep.equal(tenant.spec.parseableConfig[0]?.env);
  });

  it('the operator reports an immutable selector unless the tenant allows to recreate the workload', async () => {
    const tenant = await stage.create('multi-node');
    const original = await createAsOriginal(target.admin, tenant);
    await stage.start();
    await target.eventually(async () => {
      const { status } = await stage.tenant('multi-node');
      const degraded = findCondition(status?.conditions, 'Degraded');
      expect(degraded?.message).to.include('spec.selector');
    });
    const key = { namespace: stage.namespace, name: 'eight-cores-large' };
    const kept = await target.admin.get(Deployment, key);
    expect(kept.metadata.uid).to.equal(original.metadata.uid);
  });

  it('the operator handles a tenant that is deleted and immediately created again', async () => {
    await stage.start();
    await stage.create('persistent');
    await stage.available('persistent');
    const key = { name: 'persistent', namespace: stage.namespace };
    await target.admin.delete(ParseableTenant, key);
    const { metadata } = await stage.create('persistent');
    await stage.available('persistent');
    const workload = await target.admin.get(StatefulSet, { ...key, name: 'disks-archive' });
    expect(workload.metadata.ownerReferences?.[0]?.uid).to.equal(metadata.uid);
    expect(await stage.objects()).to.have.length(5);
  });
}

const badSpecs: readonly [string, (spec: TenantSpec) => TenantSpec, RegExp][] = [
  ['a missing k8sConfig', (spec) => withNode(spec, { k8sConfig: 'none' }), /nodes\[0\].k8sConfig/],
  [
    'a missing parseableConfig',
    (spec) => withNode(spec, { parseableConfig: 'none' }),
    /nodes\[0\].parseableConfig/,
  ],
  ['a type out of order', (spec) => withNode(spec, { type: 'none' }), /nodes\[0\].type/],
  ['two nodes of the same name', (spec) => withNode(spec, { name: 'little' }), /nodes\[1\].name/],
  ['an unknown kind', (spec) => withNode(spec, { kind: 'DaemonSet' }), /nodes\[0\].kind/],
];

function withNode(spec: TenantSpec, change: Partial<NodeSpec>): TenantSpec {
  return {
    ...spec,
    nodes: spec.nodes.map((node, at) => (at === 0 ? { ...node, ...change } : node)),
  };
}

function without(spec: TenantSpec, name: string): TenantSpec {
  return { ...spec, nodes: spec.nodes.filter((node) => node.name !== name) };
}

function withLogLevel(spec: TenantSpec): TenantSpec {
  const parseableConfig = spec.parseableConfig.map((config) =>
    config.name === 'back' ? { ...config, env: { ...config.env, P_LOG_LEVEL: 'debug' } } : config,
  );
  return { ...spec, parseableConfig };
}

/** Reduces two claims to one: a tenant of four objects. */
function oneClaim(spec: TenantSpec): TenantSpec {
  const k8sConfig = spec.k8sConfig.map((config) => ({
    ...config,
    storageConfig: (config.storageConfig ?? []).slice(0, 1),
  }));
  return { ...spec, k8sConfig };
}

function withClaim(spec: TenantSpec, k8sConfigName: string): TenantSpec {
  const storage = {
    name: 'data',
    mountPath: '/data',
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const k8sConfig = spec.k8sConfig.map((config) =>
    config.name === k8sConfigName ? { ...config, storageConfig: [storage] } : config,
  );
  return { ...spec, k8sConfig };
}

/**
 * Keeps the ingestors' pods from becoming ready: by the simulation, or without a node on a real
 * server.
 */
function neverReady(spec: TenantSpec): TenantSpec {
  const k8sConfig = spec.k8sConfig.map((config) =>
    config.name === 'staged'
      ? {
          ...config,
          nodeSelector: { disk: 'nowhere' },
          podMetadata: { annotations: { [podBehaviorAnnotation]: 'neverReady' } },
        }
      : config,
  );
  return { ...spec, k8sConfig };
}

/** Triggers a reconcile of a tenant without a change of its desired state. */
async function touch(stage: Stage, name: string): Promise<void> {
  const { target, namespace } = stage;
  const patch = { type: 'merge', body: { metadata: { annotations: { touched: 'yes' } } } } as const;
  await target.admin.patch(ParseableTenant, { name, namespace }, patch);
}

/**
 * Returns the operator's requests about objects of tenants, after it has handled all earlier
 * events: it writes the status of a new, empty tenant.
 */
async function operatorAnswered(stage: Stage): Promise<string[]> {
  await stage.create('ephemeral', (spec) => ({ ...spec, nodes: [] }), 'empty');
  await stage.available('empty');
  const requests = await stage.operator.requests();
  return requests
    .filter(({ resource }) => !['events', 'parseabletenants'].includes(resource))
    .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
}

async function versionsOf(stage: Stage, labelSelector: string): Promise<string[]> {
  const { target, namespace } = stage;
  const kinds = [ConfigMap, Deployment, Pod];
  const lists = await Promise.all(
    kinds.map((kind) => target.admin.list<Pod>(kind as never, { namespace, labelSelector })),
  );
  return lists
    .flatMap(({ items }) => items)
    .map(({ metadata }) => `${metadata.uid ?? ''} ${versionOf(metadata)}`)
    .toSorted();
}

function omit(
  versions: Record<string, string | number>,
  kind: string,
): Record<string, string | number> {
  return Object.fromEntries(Object.entries(versions).filter(([key]) => !key.startsWith(kind)));
}
