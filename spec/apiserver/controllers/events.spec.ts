import { expect } from 'chai';
import { Deployment, Namespace, Pod } from '../../../lib/object/kinds.js';
import {
  coreEvent,
  eventsAbout,
  simulatedCluster,
  stopSimulatedClusters,
} from './simulated-cluster.js';
import {
  claimTemplates,
  cronJob,
  daemonSet,
  deployment,
  job,
  imagePatch,
  statefulSet,
} from './workload-objects.js';

describe('the events of the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  it('report the rollout of a Deployment as the real controllers do', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 2 }));
    await cluster.patch(Deployment, 'web', { spec: { replicas: 1 } });
    const [first, second] = await eventsAbout(cluster, 'Deployment');
    expect(first).to.match(/^Normal ScalingReplicaSet Scaled up replica set web-\w+ from 0 to 2$/);
    expect(second).to.match(
      /^Normal ScalingReplicaSet Scaled down replica set web-\w+ from 2 to 1$/,
    );
    const ofSets = await eventsAbout(cluster, 'ReplicaSet');
    expect(ofSets.map((line) => line.replace(/web-\w+-/, 'web-HASH-'))).to.deep.equal([
      'Normal SuccessfulCreate Created pod: web-HASH-xxxxx',
      'Normal SuccessfulCreate Created pod: web-HASH-xxxxx',
      'Normal SuccessfulDelete Deleted pod: web-HASH-xxxxx',
    ]);
  });

  it('have the source, the reporter and the involved object that a real controller writes', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 1 }));
    const { metadata } = await cluster.get(Deployment, 'web');
    const events = await cluster.list(coreEvent);
    const [event] = events.filter(({ involvedObject }) => involvedObject.kind === 'Deployment');
    const { resourceVersion, ...about } = event!.involvedObject;
    expect(resourceVersion).to.match(/^\d+$/);
    expect(about).to.deep.equal({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'default' },
      uid: metadata.uid,
    });
    expect(event).to.deep.include({
      source: { component: 'deployment-controller' },
      reportingComponent: 'deployment-controller',
      reportingInstance: '',
      eventTime: null,
      count: 1,
    });
    expect(event!.metadata.name).to.match(/^web\.[0-9a-f]{16}$/);
    expect(event!.metadata.managedFields).to.have.nested.property(
      '[0].manager',
      'kube-controller-manager',
    );
  });

  it('report the start and the end of a pod', async () => {
    const cluster = await simulatedCluster();
    const spec = { containers: [{ name: 'main', image: 'app:1' }] };
    const metadata = { name: 'one', namespace: 'default' };
    await cluster.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec } as Pod);
    await cluster.delete(Pod, 'one');
    const present = 'already present on machine and can be accessed by the pod';
    expect(await eventsAbout(cluster, 'Pod')).to.deep.equal([
      'Normal Scheduled Successfully assigned default/one to node-0',
      `Normal Pulled Container image "app:1" ${present}`,
      'Normal Created Container created',
      'Normal Started Container started',
      'Normal Killing Stopping container main',
    ]);
    const events = await cluster.list(coreEvent);
    const scheduled = events.find(({ reason }) => reason === 'Scheduled');
    expect(scheduled).to.include({ action: 'Binding', reportingComponent: 'default-scheduler' });
    const started = events.find(({ reason }) => reason === 'Started')!;
    expect(started.source).to.deep.equal({ component: 'kubelet', host: 'node-0' });
    expect(started.involvedObject.fieldPath).to.equal('spec.containers{main}');
  });

  it('count the restarts of a crashing container', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 1 }, 'app:crashing'));
    await cluster.clock.advance(60_000);
    await cluster.settled();
    const lines = await eventsAbout(cluster, 'Pod');
    expect(lines).to.include('Normal Started Container started x3');
    const backOff = lines.find((line) => line.startsWith('Warning BackOff'));
    expect(backOff).to.match(
      /Back-off restarting failed container main in pod web-\w+-xxxxx_default x3/,
    );
  });

  it('report pods and claims of a StatefulSet', async () => {
    const cluster = await simulatedCluster();
    const volumeClaimTemplates = claimTemplates();
    await cluster.create(statefulSet('db', { replicas: 1, volumeClaimTemplates }));
    expect(await eventsAbout(cluster, 'StatefulSet')).to.deep.equal([
      'Normal SuccessfulCreate Create Claim data-db-0 Pod db-0 in StatefulSet db success',
      'Normal SuccessfulCreate Create Pod db-0 in StatefulSet db successful',
    ]);
  });

  it('report pods of a DaemonSet, and the end of a Job', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(daemonSet('agent'), job('once'));
    expect(await eventsAbout(cluster, 'DaemonSet')).to.deep.equal([
      'Normal SuccessfulCreate Created pod: agent-xxxxx',
    ]);
    expect(await eventsAbout(cluster, 'Job')).to.deep.equal([
      'Normal SuccessfulCreate Created pod: once-xxxxx',
      'Normal Completed Job completed',
    ]);
  });

  it('report a failed Job with the reason of its condition', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(job('once', { backoffLimit: 0 }, 'app:failing'));
    expect(await eventsAbout(cluster, 'Job')).to.include(
      'Warning BackoffLimitExceeded Job has reached the specified backoff limit',
    );
  });

  it('report the Jobs of a CronJob', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(cronJob('nightly', '* * * * *'));
    await cluster.clock.advance(61_000);
    await cluster.settled();
    const lines = await eventsAbout(cluster, 'CronJob');
    expect(lines.map((line) => line.replace(/nightly-\d+/, 'nightly-N'))).to.deep.equal([
      'Normal SuccessfulCreate Created job nightly-N',
      'Normal SawCompletedJob Saw completed job: nightly-N, condition: Complete',
    ]);
  });

  it('report why no pod can be created, with a count of the attempts', async () => {
    const cluster = await simulatedCluster();
    const containers = [{ name: 'main', image: 'app:1' }];
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { containers, priorityClassName: 'none' },
    };
    await cluster.create(deployment('web', { replicas: 1, template }));
    const lines = await eventsAbout(cluster, 'ReplicaSet');
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(
      /^Warning FailedCreate Error creating: pods "web-\w+-" is forbidden: no PriorityClass with name none was found x\d+$/,
    );
    await stopSimulatedClusters(/no PriorityClass with name none was found/);
  });

  it('are combined when a reason has ten different messages', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 14 }));
    const lines = await eventsAbout(cluster, 'ReplicaSet');
    expect(lines).to.have.length(10);
    const combined = lines.find((line) => line.includes('combined'));
    expect(combined).to.match(
      /^Normal SuccessfulCreate \(combined from similar events\): Created pod: web-\w+-xxxxx x5$/,
    );
  });

  it('are limited to 25 of one component and type about one object', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 40 }));
    const events = await cluster.list(coreEvent);
    const counts = events
      .filter(({ involvedObject }) => involvedObject.kind === 'ReplicaSet')
      .map(({ count = 0 }) => count);
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(25);
  });

  it('are deleted when another Event is written an hour after their last repetition', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 1 }));
    await cluster.clock.advance(3_600_000);
    await cluster.patch(Deployment, 'web', { spec: { replicas: 2 } });
    const lines = await eventsAbout(cluster, 'Deployment');
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include('from 1 to 2');
  });

  it('are deleted with their namespace', async () => {
    const cluster = await simulatedCluster();
    const namespace = 'shop';
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
    const web = deployment('web', { replicas: 1 });
    await cluster.create({ ...web, metadata: { ...web.metadata, namespace } });
    expect((await cluster.client.list(coreEvent, { namespace })).items).to.not.be.empty;
    await cluster.delete(Namespace, namespace);
    expect((await cluster.client.list(coreEvent, { namespace })).items).to.be.empty;
    expect(await cluster.names(Namespace)).to.not.include(namespace);
  });

  it('report the pull of a missing image', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(deployment('web', { replicas: 1 }));
    await cluster.patch(Deployment, 'web', imagePatch('app:broken'));
    expect(await eventsAbout(cluster, 'Pod')).to.include.members([
      'Warning Failed Failed to pull image "app:broken": image not found',
      'Normal BackOff Back-off pulling image "app:broken"',
    ]);
  });

  for (const options of [{ controllers: { events: false } }, { simulateWorkloads: false }]) {
    it(`are not written with ${JSON.stringify(options)}`, async () => {
      const cluster = await simulatedCluster(options);
      const metadata = { name: 'settings', namespace: 'default' };
      await cluster.create(deployment('web', { replicas: 1 }));
      await cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
      expect(await cluster.names(coreEvent)).to.be.empty;
    });
  }
});
