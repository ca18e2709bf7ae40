import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { LifecycleReconciler } from '../../../lib/lifecycle/index.js';
import type { LifecycleStatus } from '../../../lib/lifecycle/index.js';
import { Deployment } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { ownerReferenceTo } from '../../../lib/object/owner-reference.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { ownedTypes } from '../../../samples/lifecycle/operator.js';
import { releaseOf } from '../../../samples/lifecycle/release.js';
import { SampleConfig } from '../../../samples/lifecycle/sample-config.js';
import { isDeployed } from './suite/deployed.js';

const namespace = 'default';
const key = { name: 'sample' };
const server = { name: 'http-server', namespace };

// State that an operator of the Go SDK leaves: its own names, the whole last object as JSON.
const names = {
  createVersionLabel: 'operator.example.com/create-version',
  updateVersionLabel: 'operator.example.com/update-version',
  lastAppliedAnnotation: 'operator.example.com/last-applied',
  finalizer: 'operator.example.com',
};
const status: LifecycleStatus = {
  ...{ phase: 'Deployed', operatorVersion: 'v1.0.0' },
  ...{ targetVersion: 'v1.0.0', observedVersion: 'v1.0.0' },
  conditions: [
    { type: 'Available', status: 'True' },
    { type: 'Progressing', status: 'False' },
    { type: 'Degraded', status: 'False' },
  ],
};

describe('a system that an operator of the Go SDK deployed', () => {
  it('is taken over and upgraded in place, and fields that are no longer desired are removed', async () => {
    const clock = new VirtualClock();
    const settings = { simulateWorkloads: true, clock, crds: [SampleConfig] };
    const cluster = await EmbeddedCluster.start(settings);
    const client = cluster.client();
    const config = await deployedByGo(cluster);
    const { uid } = (await client.get(Deployment, server)).metadata;
    const events: string[] = [];
    const reconciler = new LifecycleReconciler({
      ...{ client, namespace, clock, ...names },
      crManager: {
        type: SampleConfig,
        getAllResources: (cr) => releaseOf('1.1.0').objects({ config: cr, namespace }),
        getDependantResourceTypes: () => ownedTypes,
      },
      recorder: { record: ({ reason }) => events.push(reconciled(reason)) },
    });
    for (let pass = 0; pass < 5; pass++) {
      await reconciler.reconcile({ key }, '1.1.0');
      await cluster.settled();
    }
    const now = await client.get(SampleConfig, key);
    expect(isDeployed(now.status, '1.1.0')).to.equal(true);
    expect(now.metadata.finalizers).to.deep.equal(config.metadata.finalizers);
    const { metadata, spec } = await client.get(Deployment, server);
    expect(metadata.uid).to.equal(uid);
    expect(spec).not.to.have.property('minReadySeconds');
    expect(metadata.labels).to.include({
      [names.createVersionLabel]: 'v1.0.0',
      [names.updateVersionLabel]: '1.1.0',
    });
    expect(metadata.annotations?.[names.lastAppliedAnnotation]).not.to.include('"kind"');
    expect(events).to.include.members([
      'UpgradeStarted',
      'DeleteResourceSuccess',
      'DeployCompleted',
    ]);
    expect(events).not.to.include('DeployStarted');
    await cluster.stop();
  });
});

function reconciled(reason: string): string {
  if (reason.endsWith('Failed')) throw new Error(reason);
  return reason;
}

async function deployedByGo(cluster: EmbeddedCluster): Promise<SampleConfig> {
  const client = cluster.client({ user: 'go' });
  const metadata = { ...key, finalizers: [names.finalizer] };
  const made = await client.create(SampleConfig.object({ metadata, spec: {} }));
  const body = { status };
  const config = await client.patch(
    SampleConfig,
    key,
    { type: 'merge', body },
    { subresource: 'status' },
  );
  for (const object of releaseOf('1.0.0').objects({ config, namespace })) {
    await client.create(ofGo(object, made));
  }
  await cluster.settled();
  return config;
}

/** Returns the objects of the Go SDK; the Deployment has a field that is no longer set. */
function ofGo(object: KubernetesObject, owner: SampleConfig): KubernetesObject {
  const metadata = {
    ...object.metadata,
    ownerReferences: [ownerReferenceTo(owner, { controller: true, blockOwnerDeletion: true })],
    labels: { ...object.metadata.labels, [names.createVersionLabel]: 'v1.0.0' },
  };
  const applied = withOldField({ ...object, metadata });
  const annotations = { [names.lastAppliedAnnotation]: JSON.stringify(applied) };
  return { ...applied, metadata: { ...metadata, annotations } };
}

function withOldField(object: KubernetesObject): KubernetesObject {
  if (object.kind !== 'Deployment') return object;
  const { spec } = object as Deployment;
  return { ...object, ...{ spec: { ...spec, minReadySeconds: 1 } } };
}
