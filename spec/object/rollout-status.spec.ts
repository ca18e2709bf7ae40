import { expect } from 'chai';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { isRollingOut, rolloutStatus } from '../../lib/object/rollout-status.js';

interface Case {
  readonly title: string;
  readonly spec?: object;
  readonly status?: object;
  readonly expected: string;
}

const apiVersionOf = (kind: string): string => (kind === 'Job' ? 'batch/v1' : 'apps/v1');

const verdictOf = (object: object): string => {
  const result = rolloutStatus(object as KubernetesObject);
  if (result.complete) return 'complete';
  expect(result.message).to.match(/^\w+ shop\/web: /);
  return result.stuck ? `stuck: ${result.reason}` : result.reason;
};

const check = (kind: string, base: Omit<Case, 'title' | 'expected'>, cases: Case[]): void => {
  describe(`rolloutStatus of a ${kind}`, () => {
    for (const { title, spec, status, expected } of cases) {
      it(`is ${expected} ${title}`, () => {
        const object = {
          apiVersion: apiVersionOf(kind),
          kind,
          metadata: { namespace: 'shop', name: 'web', generation: 2 },
          spec: { ...base.spec, ...spec },
          status: { ...base.status, ...status },
        };
        expect(verdictOf(object)).to.equal(expected);
      });
    }
  });
};

const deadline = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' };

check(
  'Deployment',
  {
    spec: { replicas: 3 },
    status: { observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
  },
  [
    { title: 'when all Pods are new and available', expected: 'complete' },
    {
      title: 'before the new spec was observed',
      status: { observedGeneration: 1 },
      expected: 'NotObserved',
    },
    {
      title: 'before any spec was observed',
      status: { observedGeneration: undefined },
      expected: 'NotObserved',
    },
    { title: 'with new Pods missing', status: { updatedReplicas: 2 }, expected: 'Updating' },
    { title: 'with old Pods left', status: { replicas: 4 }, expected: 'OldPodsTerminating' },
    {
      title: 'with unavailable Pods',
      status: { availableReplicas: 2 },
      expected: 'NotAvailable',
    },
    {
      title: 'past its progress deadline',
      status: { updatedReplicas: 1, conditions: [deadline] },
      expected: 'stuck: ProgressDeadlineExceeded',
    },
    {
      title: 'when the previous spec missed the deadline',
      status: { observedGeneration: 1, conditions: [deadline] },
      expected: 'NotObserved',
    },
    {
      title: 'scaled to zero',
      spec: { replicas: 0 },
      status: { replicas: undefined, updatedReplicas: undefined, availableReplicas: undefined },
      expected: 'complete',
    },
  ],
);

const rolling = (partition: number) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } },
});

check(
  'StatefulSet',
  {
    spec: { replicas: 3, ...rolling(0) },
    status: {
      observedGeneration: 2,
      readyReplicas: 3,
      updatedReplicas: 3,
      currentRevision: 'web-2',
      updateRevision: 'web-2',
    },
  },
  [
    { title: 'when all Pods are new and ready', expected: 'complete' },
    {
      title: 'before the new spec was observed',
      status: { observedGeneration: 1 },
      expected: 'NotObserved',
    },
    { title: 'with unready Pods', status: { readyReplicas: 2 }, expected: 'NotAvailable' },
    { title: 'with old Pods left', status: { updatedReplicas: 2 }, expected: 'Updating' },
    {
      title: 'while it updates to a revision',
      status: { currentRevision: 'web-1' },
      expected: 'Updating',
    },
    {
      title: 'with all Pods beyond the partition updated',
      spec: rolling(2),
      status: { updatedReplicas: 1, currentRevision: 'web-1' },
      expected: 'complete',
    },
    {
      title: 'with an old Pod beyond the partition',
      spec: rolling(1),
      status: { updatedReplicas: 1, currentRevision: 'web-1' },
      expected: 'Updating',
    },
    {
      title: 'with a partition beyond its replicas',
      spec: rolling(5),
      status: { updatedReplicas: 0, currentRevision: 'web-1' },
      expected: 'complete',
    },
    {
      title: 'when its Pods are replaced on deletion only',
      spec: { updateStrategy: { type: 'OnDelete' } },
      status: { observedGeneration: 1, updatedReplicas: 0 },
      expected: 'complete',
    },
    {
      title: 'with Pods not ready for long enough',
      spec: { minReadySeconds: 10 },
      status: { availableReplicas: 2 },
      expected: 'NotAvailable',
    },
  ],
);

check(
  'DaemonSet',
  {
    spec: { updateStrategy: { type: 'RollingUpdate' } },
    status: {
      observedGeneration: 2,
      desiredNumberScheduled: 3,
      updatedNumberScheduled: 3,
      numberAvailable: 3,
    },
  },
  [
    { title: 'when every node has a new, available Pod', expected: 'complete' },
    {
      title: 'before the new spec was observed',
      status: { observedGeneration: 1 },
      expected: 'NotObserved',
    },
    { title: 'with old Pods left', status: { updatedNumberScheduled: 2 }, expected: 'Updating' },
    { title: 'with unavailable Pods', status: { numberAvailable: 2 }, expected: 'NotAvailable' },
    {
      title: 'when its Pods are replaced on deletion only',
      spec: { updateStrategy: { type: 'OnDelete' } },
      status: { updatedNumberScheduled: 0 },
      expected: 'complete',
    },
  ],
);

check('Job', {}, [
  { title: 'while it runs', status: { active: 1 }, expected: 'Running' },
  {
    title: 'when it succeeded',
    status: { conditions: [{ type: 'Complete', status: 'True' }] },
    expected: 'complete',
  },
  {
    title: 'when it failed',
    status: { conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }] },
    expected: 'stuck: Failed',
  },
]);

describe('rolloutStatus', () => {
  it('is complete for a kind that has no rollouts', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    expect(rolloutStatus(object)).to.deep.equal({ complete: true });
  });

  for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet', 'Job']) {
    it(`is complete for a ${kind} of another group, such as batch.volcano.sh`, () => {
      const metadata = { name: 'a', generation: 2 };
      const object = { apiVersion: 'batch.volcano.sh/v1alpha1', kind, metadata };
      expect(rolloutStatus(object)).to.deep.equal({ complete: true });
      expect(isRollingOut(object)).to.equal(false);
    });
  }

  it('reports how many Pods are not available yet', () => {
    const object = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'shop', name: 'web', generation: 1 },
      spec: { replicas: 3 },
      status: { observedGeneration: 1, updatedReplicas: 1 },
    };
    const expected = { message: 'Deployment shop/web: 1 of 3 new Pods exist', stuck: false };
    expect(rolloutStatus(object)).to.include(expected);
  });
});

describe('rolloutStatus of a status with few fields', () => {
  const messages = (kind: string, status: object, spec: object = {}): string =>
    (
      rolloutStatus({
        ...{ apiVersion: apiVersionOf(kind), kind, metadata: { name: 'web' } },
        ...{ spec, status: { observedGeneration: 1, ...status } },
      }) as { message?: string }
    ).message?.replace(`${kind} web: `, '') ?? 'complete';
  const unseen = 'its controller has not seen the newest spec';
  const failed = (more: object): object => ({
    conditions: [{ type: 'Failed', status: 'True', ...more }],
  });
  const rows: [kind: string, status: object, spec: object, message: string][] = [
    ['Deployment', {}, {}, '0 of 1 new Pods exist'],
    ['Deployment', {}, { replicas: 2 }, '0 of 2 new Pods exist'],
    ['Deployment', { updatedReplicas: 1, replicas: 3 }, {}, '2 old Pods still exist'],
    ['Deployment', { updatedReplicas: 1, replicas: 1 }, {}, '0 of 1 Pods are available'],
    ['Deployment', { updatedReplicas: 1, availableReplicas: 1 }, {}, 'complete'],
    ['Deployment', { conditions: [deadline] }, {}, 'made no progress within 600 s'],
    ['Deployment', { observedGeneration: 0 }, {}, unseen],
    ['StatefulSet', {}, {}, '0 of 1 Pods are available'],
    ['StatefulSet', { readyReplicas: 1 }, {}, '0 of 1 Pods are of the new revision'],
    [
      'StatefulSet',
      { availableReplicas: 1, updatedReplicas: 1 },
      { minReadySeconds: 1 },
      'complete',
    ],
    [
      'StatefulSet',
      { readyReplicas: 1, updatedReplicas: 1, updateRevision: 'b' },
      {},
      'it has not moved to revision b',
    ],
    ['StatefulSet', { observedGeneration: undefined }, {}, unseen],
    ['StatefulSet', {}, { replicas: 0 }, 'complete'],
    ['DaemonSet', {}, {}, 'complete'],
    ['DaemonSet', { desiredNumberScheduled: 1 }, {}, '0 of 1 Pods are of the new revision'],
    [
      'DaemonSet',
      { desiredNumberScheduled: 1, updatedNumberScheduled: 1 },
      {},
      '0 of 1 Pods are available',
    ],
    ['DaemonSet', { observedGeneration: 0 }, {}, unseen],
    ['Job', {}, {}, 'it has not completed'],
    ['Job', failed({ status: 'False' }), {}, 'it has not completed'],
    ['Job', failed({ message: 'm', reason: 'r' }), {}, 'it failed: m'],
    ['Job', failed({ reason: 'r' }), {}, 'it failed: r'],
    ['Job', failed({}), {}, 'it failed: no reason given'],
  ];
  for (const [kind, status, spec, message] of rows) {
    it(`is "${message}" for a ${kind} with ${JSON.stringify({ status, spec })}`, () => {
      expect(messages(kind, status, spec)).to.equal(message);
    });
  }
});

describe('isRollingOut', () => {
  const templateChanged = {
    'deployment.kubernetes.io/revision': '2',
    'deprecated.daemonset.template.generation': '2',
  };
  const rolls = (
    kind: string,
    status: object,
    more: { spec?: object; annotations?: object } = {},
  ) =>
    isRollingOut({
      ...{ apiVersion: 'apps/v1', kind },
      metadata: {
        ...{ name: 'web', generation: 2 },
        annotations: { ...templateChanged, ...more.annotations },
      },
      spec: { replicas: 3, ...more.spec },
      status: { observedGeneration: 2, ...status },
    } as KubernetesObject);
  const progressing = (reason: string): object => ({
    conditions: [{ type: 'Progressing', reason }],
  });

  it('is false for a kind that has no rollouts', () => {
    expect(rolls('ConfigMap', { observedGeneration: 1 })).to.equal(false);
  });

  it('counts absent numbers as 0, and treats an absent revision as the first', () => {
    for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet']) {
      expect(rolls(kind, {}), kind).to.equal(false);
    }
    expect(rolls('Deployment', { replicas: 1 })).to.equal(true);
    expect(rolls('StatefulSet', { replicas: 1 })).to.equal(true);
    expect(rolls('DaemonSet', { currentNumberScheduled: 1 })).to.equal(true);
    expect(rolls('DaemonSet', { desiredNumberScheduled: 1 })).to.equal(true);
    const annotations = {
      'deployment.kubernetes.io/revision': undefined,
      'deprecated.daemonset.template.generation': undefined,
    };
    expect(rolls('DaemonSet', { desiredNumberScheduled: 1 }, { annotations })).to.equal(false);
    const updating = { replicas: 3, updatedReplicas: 3, ...progressing('ReplicaSetUpdated') };
    expect(rolls('Deployment', updating, { annotations })).to.equal(false);
  });

  it('is false with the strategy OnDelete, which replaces Pods only after they are deleted', () => {
    const spec = { updateStrategy: { type: 'OnDelete' } };
    for (const kind of ['StatefulSet', 'DaemonSet']) {
      expect(rolls(kind, { observedGeneration: 1 }, { spec }), kind).to.equal(false);
    }
  });

  it('is true until the controller has observed the newest spec', () => {
    for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet']) {
      expect(rolls(kind, { observedGeneration: 1 }), kind).to.equal(true);
    }
  });

  it('is true for a Deployment while it has old Pods, and until all its new Pods have once been available', () => {
    expect(rolls('Deployment', { replicas: 4, updatedReplicas: 1 })).to.equal(true);
    const updated = { replicas: 3, updatedReplicas: 3 };
    expect(rolls('Deployment', { ...updated, ...progressing('ReplicaSetUpdated') })).to.equal(true);
    const complete = progressing('NewReplicaSetAvailable');
    expect(rolls('Deployment', { ...updated, availableReplicas: 0, ...complete })).to.equal(false);
  });

  it('is false for a Deployment at its first revision, and for a paused one', () => {
    const first = { annotations: { 'deployment.kubernetes.io/revision': '1' } };
    const status = { replicas: 3, updatedReplicas: 3, ...progressing('ReplicaSetUpdated') };
    expect(rolls('Deployment', status, first)).to.equal(false);
    const spec = { paused: true };
    expect(rolls('Deployment', { replicas: 3, updatedReplicas: 0 }, { spec })).to.equal(false);
  });

  it('is true for a StatefulSet until all Pods outside the partition have the new revision', () => {
    const at = { currentRevision: 'a', updateRevision: 'b' };
    const ready = { replicas: 3, readyReplicas: 3 };
    expect(rolls('StatefulSet', { ...ready, ...at, updatedReplicas: 3 })).to.equal(true);
    const partition = { spec: { updateStrategy: { rollingUpdate: { partition: 2 } } } };
    expect(rolls('StatefulSet', { ...ready, ...at, updatedReplicas: 1 }, partition)).to.equal(
      false,
    );
    expect(rolls('StatefulSet', { ...ready, ...at, updatedReplicas: 0 }, partition)).to.equal(true);
  });

  it('is false for a StatefulSet whose Pods all have its only revision, although they are not ready', () => {
    const only = { currentRevision: 'a', updateRevision: 'a', replicas: 2, updatedReplicas: 2 };
    expect(rolls('StatefulSet', { ...only, readyReplicas: 0 })).to.equal(false);
    expect(rolls('StatefulSet', { ...only, updatedReplicas: 1 })).to.equal(true);
  });

  it('is true for a DaemonSet until every Pod is updated and one is available', () => {
    const all = { desiredNumberScheduled: 3, currentNumberScheduled: 3 };
    expect(rolls('DaemonSet', { ...all, updatedNumberScheduled: 2 })).to.equal(true);
    const updated = { ...all, updatedNumberScheduled: 3 };
    expect(rolls('DaemonSet', updated)).to.equal(true);
    expect(rolls('DaemonSet', { ...updated, numberAvailable: 1 })).to.equal(false);
    const annotations = { 'deprecated.daemonset.template.generation': '1' };
    expect(rolls('DaemonSet', updated, { annotations })).to.equal(false);
  });
});
