import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { Client } from '../../../lib/client/index.js';
import { isApiError } from '../../../lib/object/index.js';
import type { ResourceType, UnstructuredObject } from '../../../lib/object/index.js';
import { Pod, PodDisruptionBudget } from '../../../lib/object/kinds.js';

const budgets = PodDisruptionBudget;

/** Status of a budget without any disruption left. */
const exhausted = { observedGeneration: 1, disruptionsAllowed: 0, expectedPods: 1 };

describe('pods/eviction of the embedded server', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start();
    // The server asks for a retry after ten seconds while it counts pods.
    client = cluster.client({ retries: { maxRetryAfters: 0 } });
  });

  afterEach(() => cluster.stop());

  async function createPod(name: string, labels: Record<string, string>, status: object) {
    const metadata = { name, namespace: 'default', labels };
    const spec = { containers: [{ name: 'main', image: 'example.com/main' }] };
    await client.create<Pod>({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
    await patchStatus(Pod, name, status);
  }

  async function createBudget(name: string, status: object, spec: object = {}) {
    await client.create<PodDisruptionBudget>({
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
      metadata: { name, namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: 5, ...spec },
    });
    await patchStatus(budgets, name, { currentHealthy: 0, desiredHealthy: 0, ...status });
  }

  async function patchStatus(type: ResourceType, name: string, status: object) {
    const key = { namespace: 'default', name };
    await client.patch(type, key, { type: 'merge', body: { status } }, { subresource: 'status' });
  }

  /** Returns the problem of an eviction, and whether the pod is still there. */
  async function evict(name: string, more: object = {}) {
    const metadata = { name, namespace: 'default' };
    const eviction: UnstructuredObject = {
      ...{ apiVersion: 'policy/v1', kind: 'Eviction', metadata, ...more },
    };
    const problem = await client.create(eviction, { subresource: 'eviction' }).then(
      () => undefined,
      (error: unknown) => {
        if (!isApiError(error)) throw error;
        return [error.status, error.causes[0]?.message ?? error.message];
      },
    );
    const { items } = await client.list(Pod, { namespace: 'default' });
    const pod = items.find((one) => one.metadata.name === name);
    const isLeft = pod !== undefined && pod.metadata.deletionTimestamp === undefined;
    return { problem, isLeft };
  }

  const web = { app: 'web' };
  const unready = { phase: 'Running' };
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const evicted = { problem: undefined, isLeft: false };
  const refused = (why: string) => ({
    problem: [429, `The disruption budget ${why}`],
    isLeft: true,
  });

  it('is refused while the budget of the pod allows none', async () => {
    await createPod('web', web, ready);
    await createBudget('small', { ...exhausted, currentHealthy: 1, desiredHealthy: 5 });
    const why = 'small needs 5 healthy pods and has 1 currently';
    expect(await evict('web')).to.deep.equal(refused(why));
    await patchStatus(budgets, 'small', { desiredHealthy: 1 });
    expect(await evict('web')).to.deep.equal(
      refused('small needs 1 healthy pods and has 1 currently'),
    );
    await patchStatus(budgets, 'small', { desiredHealthy: 0 });
    expect(await evict('web')).to.deep.equal(
      refused('small does not allow evicting pods currently'),
    );
  });

  it('is refused while the status of the budget is older than its spec', async () => {
    await createPod('web', web, ready);
    await createBudget('small', { ...exhausted, observedGeneration: 0, disruptionsAllowed: 1 });
    expect(await evict('web')).to.deep.equal(
      refused('small is still being processed by the server.'),
    );
  });

  it('reduces disruptionsAllowed of the budget by one, except in a dry run', async () => {
    await createPod('one', web, ready);
    await createPod('two', web, ready);
    await createPod('three', web, ready);
    await createBudget('small', { ...exhausted, disruptionsAllowed: 2 });
    const read = async () => {
      const { status } = await client.get(budgets, { namespace: 'default', name: 'small' });
      const { disruptedPods = {}, disruptionsAllowed, conditions } = status ?? {};
      return { disrupted: Object.keys(disruptedPods), disruptionsAllowed, conditions };
    };
    const dry = await evict('one', { deleteOptions: { dryRun: ['All'] } });
    expect(dry).to.deep.equal({ problem: undefined, isLeft: true });
    expect(await read()).to.deep.include({ disrupted: [], disruptionsAllowed: 2 });
    expect(await evict('one')).to.deep.equal(evicted);
    const spent = await read();
    expect(spent).to.deep.include({ disrupted: ['one'], disruptionsAllowed: 1 });
    expect(spent.conditions?.[0]).to.include({
      ...{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' },
      observedGeneration: 1,
    });
    expect(await evict('two')).to.deep.equal(evicted);
    const last = await read();
    expect(last).to.deep.include({ disrupted: ['one', 'two'], disruptionsAllowed: 0 });
    expect(last.conditions?.[0]).to.include({
      ...{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' },
      observedGeneration: 1,
    });
    const why = 'small needs 0 healthy pods and has 0 currently';
    expect(await evict('three')).to.deep.equal(refused(why));
  });

  it('adds a condition with its reason to the pod, and checks preconditions', async () => {
    const metadata = { name: 'web', namespace: 'default', finalizers: ['example.com/f'] };
    const spec = { containers: [{ name: 'main', image: 'example.com/main' }] };
    await client.create<Pod>({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
    const { problem } = await evict('web', { deleteOptions: { preconditions: { uid: 'other' } } });
    expect(problem?.[0]).to.equal(409);
    expect(await evict('web', { apiVersion: 'policy/v1beta1' })).to.deep.equal(evicted);
    const pod = await client.get(Pod, { namespace: 'default', name: 'web' });
    expect(pod.status?.conditions?.map(({ reason }) => reason)).to.deep.equal([
      'EvictionByEvictionAPI',
    ]);
  });

  it('ignores budgets of other namespaces and of other pods', async () => {
    await createPod('web', { app: 'other' }, ready);
    await createBudget('small', exhausted);
    await createBudget('all', exhausted, { selector: undefined });
    await client.create<PodDisruptionBudget>({
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
      metadata: { name: 'elsewhere', namespace: 'kube-system' },
      spec: { selector: { matchLabels: { app: 'other' } }, minAvailable: 5 },
    });
    expect(await evict('web')).to.deep.equal(evicted);
  });

  for (const phase of ['Pending', 'Succeeded', 'Failed']) {
    it(`ignores the budget of a pod in phase ${phase}`, async () => {
      await createPod('web', web, { phase });
      await createBudget('small', exhausted);
      expect(await evict('web')).to.deep.equal(evicted);
    });
  }

  it('is refused with status 500 if the pod has two budgets', async () => {
    await createPod('web', web, ready);
    await createBudget('one', { ...exhausted, disruptionsAllowed: 1 });
    await createBudget('two', { ...exhausted, disruptionsAllowed: 1 });
    const { problem, isLeft } = await evict('web');
    expect(problem?.[0]).to.equal(500);
    expect(problem?.[1]).to.contain('This pod has more than one PodDisruptionBudget');
    expect(isLeft).to.equal(true);
  });

  it('does not reduce disruptionsAllowed for an unready pod if enough pods are healthy, or if the policy is AlwaysAllow', async () => {
    await createPod('web', web, unready);
    await createBudget('small', { ...exhausted, currentHealthy: 1, desiredHealthy: 2 });
    expect((await evict('web')).isLeft).to.equal(true);
    await patchStatus(budgets, 'small', { currentHealthy: 0, desiredHealthy: 0 });
    expect((await evict('web')).isLeft).to.equal(true);
    await patchStatus(budgets, 'small', { currentHealthy: 2, desiredHealthy: 2 });
    expect(await evict('web')).to.deep.equal(evicted);
    await createPod('more', { app: 'more' }, unready);
    const selector = { matchLabels: { app: 'more' } };
    await createBudget('always', exhausted, {
      selector,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    });
    expect(await evict('more')).to.deep.equal(evicted);
  });
});
