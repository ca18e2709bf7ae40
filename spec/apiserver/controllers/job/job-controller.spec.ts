import { expect } from 'chai';
import { Job, Pod } from '../../../../lib/object/kinds.js';
import type { PodBehavior } from '../../../../lib/apiserver/controllers/index.js';
import type { EmbeddedClusterOptions } from '../../../../lib/apiserver/index.js';
import type {
  KubernetesObject,
  UnstructuredObject,
} from '../../../../lib/object/kubernetes-object.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import { job } from '../workload-objects.js';

function conditionsOf({ status }: Job): string[] {
  return (status?.conditions ?? []).map(({ type, status: value, reason = '' }) => {
    return `${type} ${value} ${reason}`;
  });
}

describe('a Job in the embedded cluster', () => {
  // In one spec, a quota refuses the pods of a Job.
  afterEach(() => stopSimulatedClusters(/exceeded quota/));

  it('runs pods up to parallelism at a time until completions are reached', async () => {
    const { create, get, list, changes } = await simulatedCluster();
    const seen = changes(Job);
    await create(job('j', { completions: 3, parallelism: 2 }));
    expect(Math.max(...seen.map(({ object }) => object.status?.active ?? 0))).to.equal(2);
    const done = await get(Job, 'j');
    expect(done.status).to.deep.include({
      succeeded: 3,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
      startTime: '2026-01-01T00:00:00Z',
      completionTime: '2026-01-01T00:00:00Z',
    });
    expect(done.status).not.to.have.any.keys('active', 'failed');
    expect(conditionsOf(done)).to.deep.equal([
      'SuccessCriteriaMet True CompletionsReached',
      'Complete True CompletionsReached',
    ]);
    const pods = await list(Pod);
    expect(pods.map(({ status }) => status!.phase)).to.deep.equal(
      Array<string>(3).fill('Succeeded'),
    );
    expect(pods.some(({ metadata }) => metadata.finalizers !== undefined)).to.equal(false);
  });

  it('retries after a back-off, and fails when backoffLimit is exceeded', async () => {
    const { create, get, names, clock } = await simulatedCluster();
    await create(job('j', { backoffLimit: 1 }, 'registry/app:failing'));
    expect((await get(Job, 'j')).status).to.deep.include({ failed: 1 });
    await clock.advance(9_000);
    expect(await names(Pod)).to.have.length(1);
    await clock.advance(2_000);
    const failed = await get(Job, 'j');
    expect(failed.status).to.deep.include({ failed: 2 });
    expect(failed.status).not.to.have.property('completionTime');
    expect(conditionsOf(failed)).to.deep.equal([
      'FailureTarget True BackoffLimitExceeded',
      'Failed True BackoffLimitExceeded',
    ]);
    expect(await names(Pod)).to.have.length(2);
  });

  it('deletes its pods and fails at its deadline', async () => {
    const pods = { behavior: () => 'ready' as const };
    const { create, get, names, clock } = await simulatedCluster({ pods });
    await create(job('j', { activeDeadlineSeconds: 60 }));
    expect((await get(Job, 'j')).status).to.deep.include({ active: 1, ready: 1 });
    await clock.advance(61_000);
    expect(conditionsOf(await get(Job, 'j'))).to.include('Failed True DeadlineExceeded');
    expect(await names(Pod)).to.deep.equal([]);
  });

  it('is marked as failed only after its pods have terminated', async () => {
    const pods = { behavior: () => 'ready' as const, terminatedAfterMs: 5_000 };
    const { create, get, clock } = await simulatedCluster({ pods });
    await create(job('j', { activeDeadlineSeconds: 60 }));
    await clock.advance(61_000);
    expect(conditionsOf(await get(Job, 'j'))).to.deep.equal([
      'FailureTarget True DeadlineExceeded',
    ]);
    await clock.advance(6_000);
    expect(conditionsOf(await get(Job, 'j'))).to.include('Failed True DeadlineExceeded');
  });

  it('fails when containers that restart on failure exceed backoffLimit', async () => {
    const { create, get, names, clock } = await simulatedCluster();
    const containers = [{ name: 'main', image: 'registry/app:failing' }];
    const template = { spec: { restartPolicy: 'OnFailure', containers } };
    await create(job('j', { backoffLimit: 2, template }));
    await clock.advance(25_000);
    expect((await get(Job, 'j')).status).to.include({ active: 1 });
    await clock.advance(10_000);
    expect(conditionsOf(await get(Job, 'j'))).to.include('Failed True BackoffLimitExceeded');
    expect(await names(Pod)).to.deep.equal([]);
  });

  it('does not count pods as failed that it deletes after a decrease of parallelism', async () => {
    const pods = { behavior: () => 'ready' as const };
    const { create, get, names, patch } = await simulatedCluster({ pods });
    await create(job('j', { parallelism: 3, completions: 3, backoffLimit: 1 }));
    await patch(Job, 'j', { spec: { parallelism: 1 } });
    expect(await names(Pod)).to.have.length(1);
    const { status } = await get(Job, 'j');
    expect(status).to.include({ active: 1 });
    expect(status).not.to.have.any.keys('failed', 'conditions');
  });

  it('starts, and fails at its deadline, although a quota refuses its pods', async () => {
    const { create, client, get, clock } = await simulatedCluster();
    await client.create({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none', namespace: 'default' },
      spec: { hard: { pods: '0' } },
    } as KubernetesObject);
    await create(job('j', { activeDeadlineSeconds: 60 }));
    expect((await get(Job, 'j')).status).to.include({ startTime: '2026-01-01T00:00:00Z' });
    await clock.advance(61_000);
    expect(conditionsOf(await get(Job, 'j'))).to.include('Failed True DeadlineExceeded');
  });

  for (const propagationPolicy of ['Background', 'Foreground'] as const) {
    it(`leaves no pod behind when it is deleted with the policy ${propagationPolicy}`, async () => {
      const pods = { behavior: () => 'ready' as const };
      const { create, names, ...cluster } = await simulatedCluster({ pods });
      await create(job('j', { parallelism: 2 }));
      await cluster.delete(Job, 'j', { propagationPolicy });
      expect(await names(Job)).to.deep.equal([]);
      expect(await names(Pod)).to.deep.equal([]);
    });
  }

  const onlyFailed = { podReplacementPolicy: 'Failed' };

  it('ends although its pods never had a node, with the podReplacementPolicy Failed', async () => {
    const { create, get, names, clock } = await simulatedCluster({ nodes: 0 });
    await create(job('j', { ...onlyFailed, activeDeadlineSeconds: 60 }));
    await clock.advance(61_000);
    const failed = await get(Job, 'j');
    expect(failed.status).to.include({ failed: 1, terminating: 0 });
    expect(conditionsOf(failed)).to.include('Failed True DeadlineExceeded');
    expect(await names(Pod)).to.deep.equal([]);
  });

  for (const options of [{ nodes: 0 }, { controllers: { pods: false } }]) {
    it(`is deleted in the foreground with its pods without a node, with ${JSON.stringify(options)}`, async () => {
      const { create, names, ...cluster } = await simulatedCluster(options);
      await create(job('j', onlyFailed));
      expect(await names(Pod)).to.have.length(1);
      await cluster.delete(Job, 'j', { propagationPolicy: 'Foreground' });
      expect(await names(Job)).to.deep.equal([]);
      expect(await names(Pod)).to.deep.equal([]);
    });
  }

  it('removes its finalizer from its pods when it is deleted with the policy Orphan', async () => {
    const pods = { behavior: () => 'ready' as const };
    const { create, names, list, ...cluster } = await simulatedCluster({ pods });
    await create(job('j'));
    await cluster.delete(Job, 'j', { propagationPolicy: 'Orphan' });
    const [pod] = await list(Pod);
    expect(pod!.metadata).not.to.have.any.keys('finalizers', 'ownerReferences');
    await cluster.delete(Pod, pod!.metadata.name!);
    expect(await names(Pod)).to.deep.equal([]);
  });

  it('runs no pods while suspended', async () => {
    const pods = { behavior: () => 'ready' as const };
    const { create, get, names, patch } = await simulatedCluster({ pods });
    await create(job('j', { suspend: true }));
    expect(await names(Pod)).to.deep.equal([]);
    expect(conditionsOf(await get(Job, 'j'))).to.deep.equal(['Suspended True JobSuspended']);
    await patch(Job, 'j', { spec: { suspend: false } });
    expect(await names(Pod)).to.have.length(1);
    expect(conditionsOf(await get(Job, 'j'))).to.deep.equal(['Suspended False JobResumed']);
    await patch(Job, 'j', { spec: { suspend: true } });
    expect(await names(Pod)).to.deep.equal([]);
    expect((await get(Job, 'j')).status).not.to.have.property('failed');
  });

  it('gives each pod of an indexed Job an index', async () => {
    const { create, get, list } = await simulatedCluster();
    await create(job('j', { completionMode: 'Indexed', completions: 3, parallelism: 2 }));
    const { status } = await get(Job, 'j');
    expect(status).to.deep.include({ succeeded: 3, completedIndexes: '0-2' });
    const conditions = status?.conditions?.map(({ type }) => type);
    expect(conditions).to.deep.equal(['SuccessCriteriaMet', 'Complete']);
    const [first] = await list(Pod);
    expect(first!.metadata.name).to.match(/^j-0-[a-z0-9]{5}$/);
    expect(first!.spec!.hostname).to.equal('j-0');
    expect(first!.metadata.annotations).to.include({
      'batch.kubernetes.io/job-completion-index': '0',
    });
    expect(first!.spec!.containers[0]!.env!.map(({ name }) => name)).to.deep.equal([
      'JOB_COMPLETION_INDEX',
    ]);
  });

  const indexAnnotation = 'batch.kubernetes.io/job-completion-index';
  const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 };

  /** Returns options in which pods of the index 0 behave like `first`, and all others like `others`. */
  function byIndex(first: PodBehavior, others: PodBehavior): EmbeddedClusterOptions {
    const behavior = ({ metadata }: Pod): PodBehavior =>
      metadata.annotations?.[indexAnnotation] === '0' ? first : others;
    return { pods: { behavior } };
  }

  it('deletes the pods of indexes beyond lowered completions', async () => {
    const { create, list, patch } = await simulatedCluster(byIndex('ready', 'ready'));
    await create(job('j', indexed));
    await patch(Job, 'j', { spec: { completions: 1, parallelism: 1 } });
    const indexes = (await list(Pod)).map(
      ({ metadata }) => metadata.annotations?.[indexAnnotation],
    );
    expect(indexes).to.deep.equal(['0']);
  });

  it('retries each index up to backoffLimitPerIndex, and then fails', async () => {
    const { create, get, list, clock } = await simulatedCluster(byIndex('fail', 'succeed'));
    await create(job('j', { ...indexed, backoffLimitPerIndex: 1 }));
    const { status } = await get(Job, 'j');
    expect(status).to.include({ completedIndexes: '1,2', failedIndexes: '' });
    // Like kube-controller-manager, the controller counts a failure once the next pod of the index exists.
    expect(status).not.to.have.property('failed');
    await clock.advance(11_000);
    const failed = await get(Job, 'j');
    expect(failed.status).to.include({ completedIndexes: '1,2', failedIndexes: '0', failed: 2 });
    expect(conditionsOf(failed)).to.deep.equal([
      'FailureTarget True FailedIndexes',
      'Failed True FailedIndexes',
    ]);
    const counts = (await list(Pod)).map(({ metadata }) => [
      metadata.annotations?.[indexAnnotation],
      metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'],
    ]);
    expect(counts).to.have.deep.members([
      ['0', '0'],
      ['0', '1'],
      ['1', '0'],
      ['2', '0'],
    ]);
  });

  it('counts the deleted pods of an index for backoffLimitPerIndex', async () => {
    const { create, get, list, clock, ...cluster } = await simulatedCluster(
      byIndex('ready', 'ready'),
    );
    await create(job('j', { ...indexed, backoffLimitPerIndex: 1 }));
    const running = async (): Promise<string | undefined> => {
      const pods = (await list(Pod)).filter(
        ({ metadata }) =>
          metadata.annotations?.[indexAnnotation] === '0' &&
          metadata.deletionTimestamp === undefined,
      );
      expect(pods).to.have.length.at.most(1);
      return pods[0]?.metadata.name;
    };
    await cluster.delete(Pod, (await running())!);
    expect(await running()).to.equal(undefined);
    expect(await list(Pod)).to.have.length(3);
    expect((await get(Job, 'j')).status).not.to.have.property('failed');
    await clock.advance(11_000);
    expect(await list(Pod)).to.have.length(3);
    expect((await get(Job, 'j')).status).to.include({ failed: 1, failedIndexes: '' });
    await cluster.delete(Pod, (await running())!);
    expect((await get(Job, 'j')).status).to.include({ failed: 2, failedIndexes: '0' });
    expect(await list(Pod)).to.have.length(2);
  });

  it('discards the failures of indexes beyond lowered completions', async () => {
    const { create, get, patch } = await simulatedCluster(byIndex('ready', 'fail'));
    await create(job('j', { ...indexed, backoffLimitPerIndex: 0 }));
    expect((await get(Job, 'j')).status).to.include({ failedIndexes: '1,2' });
    await patch(Job, 'j', { spec: { completions: 2, parallelism: 2 } });
    expect((await get(Job, 'j')).status).to.include({ failedIndexes: '1' });
    await patch(Job, 'j', { spec: { completions: 1, parallelism: 1 } });
    expect((await get(Job, 'j')).status).to.include({ failedIndexes: '', active: 1 });
  });

  it('fails with more failed indexes than maxFailedIndexes, and deletes its other pods', async () => {
    const { create, get, names } = await simulatedCluster(byIndex('fail', 'ready'));
    await create(job('j', { ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 0 }));
    expect(conditionsOf(await get(Job, 'j'))).to.include('Failed True MaxFailedIndexesExceeded');
    expect(await names(Pod)).to.have.length(1);
  });

  it('succeeds by a rule of its successPolicy, and deletes its other pods', async () => {
    const { create, get, names } = await simulatedCluster(byIndex('succeed', 'ready'));
    await create(job('j', { ...indexed, successPolicy: { rules: [{ succeededIndexes: '0' }] } }));
    const done = await get(Job, 'j');
    expect(conditionsOf(done)).to.deep.equal([
      'SuccessCriteriaMet True SuccessPolicy',
      'Complete True SuccessPolicy',
    ]);
    expect(done.status).to.include({ succeeded: 1, completedIndexes: '0' });
    expect(done.status).not.to.have.property('failed');
    expect(await names(Pod)).to.have.length(1);
  });

  it('succeeds by a rule of its successPolicy that has only succeededCount', async () => {
    const { create, get } = await simulatedCluster(byIndex('ready', 'succeed'));
    const rules = [{ succeededIndexes: '0', succeededCount: 1 }, { succeededCount: 1 }];
    await create(job('j', { ...indexed, successPolicy: { rules } }));
    const { status } = await get(Job, 'j');
    expect(status!.conditions!.map(({ message }) => message)).to.deep.equal([
      ...['Matched rules at index 1', 'Matched rules at index 1'],
    ]);
    expect(status).to.include({ succeeded: 1, completedIndexes: '1' });
  });

  it('fails by a rule of its podFailurePolicy', async () => {
    const { create, get, names } = await simulatedCluster();
    const onExitCodes = { containerName: 'main', operator: 'In', values: [1, 42] };
    const podFailurePolicy = { rules: [{ action: 'FailJob', onExitCodes }] };
    await create(job('j', { podFailurePolicy }, 'registry/app:failing'));
    const failed = await get(Job, 'j');
    expect(conditionsOf(failed)).to.include('Failed True PodFailurePolicy');
    const [name = ''] = await names(Pod);
    expect(failed.status!.conditions![0]!.message).to.equal(
      `Container main for pod default/${name} failed with exit code 1 matching FailJob rule at index 0`,
    );
  });

  it('does not count failures that its podFailurePolicy ignores', async () => {
    const pods = { behavior: () => 'ready' as const };
    const { create, client, get, names, clock, settled } = await simulatedCluster({ pods });
    const onPodConditions = [{ type: 'DisruptionTarget', status: 'True' }];
    const podFailurePolicy = { rules: [{ action: 'Ignore', onPodConditions }] };
    await create(job('j', { backoffLimit: 0, podFailurePolicy }));
    const [name = ''] = await names(Pod);
    const metadata = { namespace: 'default', name };
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
    await client.create<UnstructuredObject>(eviction, { subresource: 'eviction' });
    await settled();
    await clock.advance(11_000);
    const { status } = await get(Job, 'j');
    expect(status).to.include({ active: 1 });
    expect(status).not.to.have.any.keys('failed', 'conditions');
    expect(await names(Pod)).not.to.include(name);
  });

  it('does not apply a rule for exit codes to a pod that was deleted', async () => {
    const pods = { behavior: () => 'ready' as const };
    const { create, get, names, clock, ...cluster } = await simulatedCluster({ pods });
    const onExitCodes = { operator: 'In', values: [1] };
    const podFailurePolicy = { rules: [{ action: 'FailJob', onExitCodes }] };
    await create(job('j', { podFailurePolicy }));
    await cluster.delete(Pod, (await names(Pod))[0]!);
    await clock.advance(11_000);
    const { status } = await get(Job, 'j');
    expect(status).to.include({ active: 1, failed: 1 }).and.not.to.have.property('conditions');
  });

  it('replaces a deleted pod, and counts it as failed', async () => {
    const pods = { behavior: () => 'ready' as const };
    const { create, get, names, clock, ...cluster } = await simulatedCluster({ pods });
    await create(job('j'));
    const [name] = await names(Pod);
    await cluster.delete(Pod, name!);
    await clock.advance(11_000);
    expect(await names(Pod))
      .to.have.length(1)
      .and.not.to.include(name);
    expect((await get(Job, 'j')).status).to.deep.include({ active: 1, failed: 1 });
  });

  it('is deleted ttlSecondsAfterFinished after it finishes', async () => {
    const { create, names, clock } = await simulatedCluster();
    await create(job('j', { ttlSecondsAfterFinished: 30 }));
    await clock.advance(29_000);
    expect(await names(Job)).to.deep.equal(['j']);
    await clock.advance(2_000);
    expect(await names(Job)).to.deep.equal([]);
    expect(await names(Pod)).to.deep.equal([]);
  });
});
