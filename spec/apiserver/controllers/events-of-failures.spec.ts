import { expect } from 'chai';
import {
  ControllerRevision,
  CronJob,
  DaemonSet,
  Job,
  Pod,
  StatefulSet,
} from '../../../lib/object/kinds.js';
import { eventsAbout, simulatedCluster, stopSimulatedClusters } from './simulated-cluster.js';
import type { SimulatedCluster } from './simulated-cluster.js';
import {
  claimTemplates,
  cronJob,
  daemonSet,
  imagePatch,
  job,
  ownedBy,
  pod,
  refusalOf,
  statefulSet,
} from './workload-objects.js';

const denied = "ValidatingAdmissionPolicy 'refusal' with binding 'refusal' denied request: not now";
const minuteMs = 60_000;
const running = { behavior: () => 'ready' as const };

/** Sets the phase of a pod as a kubelet does. */
async function setPhase({ client, settled }: SimulatedCluster, name: string, phase: string) {
  const patch = { type: 'merge', body: { status: { phase } } } as const;
  await client.patch(Pod, { namespace: 'default', name }, patch, { subresource: 'status' });
  await settled();
}

describe('the events of controllers whose writes are refused', () => {
  afterEach(() => stopSimulatedClusters(/not now/));

  it('report why a CronJob has no Job', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(...refusalOf('CREATE', { group: 'batch', resource: 'jobs' }));
    await cluster.create(cronJob('c', '* * * * *'));
    await cluster.clock.advance(minuteMs + 1_000);
    const lines = await eventsAbout(cluster, 'CronJob');
    expect(lines.map((line) => line.replace(/c-\d+/, 'c-N').replace(/ x\d+$/, ''))).to.deep.equal([
      `Warning FailedCreate Error creating job: jobs.batch "c-N" is forbidden: ${denied}`,
    ]);
  });

  it('report why a StatefulSet has no claim', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(...refusalOf('CREATE', { resource: 'persistentvolumeclaims' }));
    const volumeClaimTemplates = claimTemplates();
    await cluster.create(statefulSet('db', { replicas: 1, volumeClaimTemplates }));
    const lines = await eventsAbout(cluster, 'StatefulSet');
    const why = `persistentvolumeclaims "data-db-0" is forbidden: ${denied}`;
    expect(lines.map((line) => line.replace(/ x\d+$/, ''))).to.deep.equal([
      `Warning FailedCreate Create Claim data-db-0 for Pod db-0 in StatefulSet db failed error: ${why}`,
      `Warning FailedCreate Create Pod db-0 in StatefulSet db failed error: ${why}`,
    ]);
  });

  const podWrites = [
    ['CREATE', 'Create', () => Promise.resolve()],
    [
      'DELETE',
      'Delete',
      (cluster: SimulatedCluster) => cluster.patch(StatefulSet, 'db', { spec: { replicas: 0 } }),
    ],
    [
      'UPDATE',
      'Update',
      ({ patch }: SimulatedCluster) =>
        patch(Pod, 'db-0', {
          metadata: { labels: { 'statefulset.kubernetes.io/pod-name': 'other' } },
        }),
    ],
  ] as const;
  for (const [operation, verb, change] of podWrites) {
    it(`report why a StatefulSet cannot ${operation.toLowerCase()} its pod`, async () => {
      const cluster = await simulatedCluster();
      if (operation !== 'CREATE') await cluster.create(statefulSet('db', { replicas: 1 }));
      await cluster.create(...refusalOf(operation, { resource: 'pods' }));
      if (operation === 'CREATE') await cluster.create(statefulSet('db', { replicas: 1 }));
      await change(cluster);
      const lines = await eventsAbout(cluster, 'StatefulSet');
      const failures = lines.filter((line) => line.startsWith('Warning'));
      expect(failures.map((line) => line.replace(/ x\d+$/, ''))).to.deep.equal([
        `Warning Failed${verb} ${verb} Pod db-0 in StatefulSet db failed error: pods "db-0" is forbidden: ${denied}`,
      ]);
    });
  }
});

describe('the events of controllers about ended and unexpected objects', () => {
  afterEach(() => stopSimulatedClusters());

  for (const [phase, event] of [
    ['Failed', 'Warning FailedDaemonPod Found failed daemon pod POD, will try to kill it'],
    [
      'Succeeded',
      'Normal SucceededDaemonPod Found succeeded daemon pod POD, will try to delete it',
    ],
  ] as const) {
    it(`report that a pod of a DaemonSet has ${phase.toLowerCase()}, and is replaced`, async () => {
      const cluster = await simulatedCluster();
      await cluster.create(daemonSet('agent'));
      const [name = ''] = await cluster.names(Pod);
      await setPhase(cluster, name, phase);
      expect(await eventsAbout(cluster, 'DaemonSet')).to.deep.equal([
        'Normal SuccessfulCreate Created pod: agent-xxxxx',
        event.replace('POD', `default/agent-xxxxx on node node-0`),
        'Normal SuccessfulDelete Deleted pod: agent-xxxxx',
        'Normal SuccessfulCreate Created pod: agent-xxxxx',
      ]);
      expect(await cluster.names(Pod))
        .to.have.length(1)
        .and.not.include(name);
      expect((await cluster.get(DaemonSet, 'agent')).status).to.include({ numberReady: 1 });
    });
  }

  it('report that more pods of a Job have succeeded than spec.completions requires', async () => {
    const cluster = await simulatedCluster({ pods: running });
    const { spec } = job('j');
    const template = { ...spec!.template, metadata: { labels: { app: 'j' } } };
    const own = { manualSelector: true, selector: { matchLabels: { app: 'j' } }, template };
    await cluster.create(job('j', { ...own, completions: 1, parallelism: 0 }));
    const names = ['one', 'two'];
    for (const name of names) {
      await cluster.create(pod(name));
      await setPhase(cluster, name, 'Succeeded');
    }
    // Both pods become pods of the Job at once.
    const ownerReferences = [ownedBy(await cluster.get(Job, 'j'), { controller: true })];
    const finalizers = ['batch.kubernetes.io/job-tracking'];
    const metadata = { labels: { app: 'j' }, finalizers, ownerReferences };
    await Promise.all(names.map((name) => cluster.patch(Pod, name, { metadata })));
    expect(await eventsAbout(cluster, 'Job')).to.deep.equal([
      'Warning TooManySucceededPods Too many succeeded pods running after completion count reached',
      'Normal Completed Job completed',
    ]);
    expect((await cluster.get(Job, 'j')).status).to.include({ succeeded: 2 });
  });

  it('report whether a CronJob waits for Jobs that still run, or replaces them', async () => {
    const cluster = await simulatedCluster({ pods: running });
    await cluster.create(
      cronJob('forbid', '* * * * *', { concurrencyPolicy: 'Forbid' }),
      cronJob('replace', '* * * * *', { concurrencyPolicy: 'Replace' }),
    );
    await cluster.clock.advance(2 * minuteMs + 1_000);
    const lines = await eventsAbout(cluster, 'CronJob');
    expect(lines.map((line) => line.replace(/-\d+/, '-N'))).to.have.members([
      'Normal SuccessfulCreate Created job forbid-N',
      'Normal JobAlreadyActive Not starting job because prior execution is running and concurrency policy is Forbid',
      'Normal SuccessfulCreate Created job replace-N',
      'Normal SuccessfulDelete Deleted job replace-N',
      'Normal SuccessfulCreate Created job replace-N',
    ]);
  });

  it('report that a Job of a CronJob was not created by the CronJob, or has been deleted', async () => {
    const cluster = await simulatedCluster({ pods: running });
    await cluster.create(cronJob('c', '* * * * *'));
    await cluster.clock.advance(minuteMs + 1_000);
    const [name = ''] = await cluster.names(Job);
    await cluster.delete(Job, name);
    const live = await cluster.get(CronJob, 'c');
    const ownerReferences = [ownedBy(live, { controller: true })];
    const made = job('by-hand');
    await cluster.create({ ...made, metadata: { ...made.metadata, ownerReferences } });
    const lines = await eventsAbout(cluster, 'CronJob');
    expect(lines.map((line) => line.replace(/ x\d+$/, ''))).to.deep.equal([
      `Normal SuccessfulCreate Created job ${name}`,
      `Normal MissingJob Active job went missing: ${name}`,
      'Warning UnexpectedJob Saw a job that the controller did not create or forgot: by-hand',
    ]);
    expect((await cluster.get(CronJob, 'c')).status).not.to.have.property('active');
  });
});

describe('the name of a ControllerRevision', () => {
  afterEach(() => stopSimulatedClusters());

  it('is another name if a revision of another owner has the first name', async () => {
    const cluster = await simulatedCluster();
    await cluster.create(statefulSet('db', { replicas: 1 }));
    const [first] = await cluster.list(ControllerRevision);
    await cluster.delete(StatefulSet, 'db');
    expect(await cluster.names(ControllerRevision)).to.deep.equal([]);
    const { apiVersion, kind, data, revision, metadata } = first!;
    const taken = { name: metadata.name ?? '', namespace: 'default' };
    await cluster.create({ apiVersion, kind, data, revision, metadata: taken } as never);
    await cluster.create(statefulSet('db', { replicas: 1 }));
    const { status } = await cluster.get(StatefulSet, 'db');
    expect(status).to.include({ collisionCount: 1, readyReplicas: 1 });
    expect(status!.updateRevision).not.to.equal(taken.name);
    await cluster.patch(StatefulSet, 'db', imagePatch('registry/app:2'));
    expect((await cluster.get(StatefulSet, 'db')).status).to.include({ collisionCount: 1 });
    const revisions = await cluster.list(ControllerRevision);
    expect(revisions.map((each) => each.revision).sort()).to.deep.equal([1, 1, 2]);
  });
});
