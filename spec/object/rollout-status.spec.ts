import { expect } from 'chai';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { rolloutStatus } from '../../lib/object/rollout-status.js';

interface Case {
  readonly title: string;
  readonly spec?: object;
  readonly status?: object;
  readonly expected: string;
}

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
      title: 'before the new spec was seen',
      status: { observedGeneration: 1 },
      expected: 'NotObserved',
    },
    {
      title: 'before any was seen',
      status: { observedGeneration: undefined },
      expected: 'NotObserved',
    },
    { title: 'with new Pods missing', status: { updatedReplicas: 2 }, expected: 'Updating' },
    { title: 'with old Pods left', status: { replicas: 4 }, expected: 'OldPodsTerminating' },
    {
      title: 'with Pods not available',
      status: { availableReplicas: 2 },
      expected: 'NotAvailable',
    },
    {
      title: 'past its progress deadline',
      status: { updatedReplicas: 1, conditions: [deadline] },
      expected: 'stuck: ProgressDeadlineExceeded',
    },
    {
      title: 'when the deadline was missed by the spec before',
      status: { observedGeneration: 1, conditions: [deadline] },
      expected: 'NotObserved',
    },
    {
      title: 'scaled to nothing',
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
      title: 'before the new spec was seen',
      status: { observedGeneration: 1 },
      expected: 'NotObserved',
    },
    { title: 'with Pods not ready', status: { readyReplicas: 2 }, expected: 'NotAvailable' },
    { title: 'with old Pods left', status: { updatedReplicas: 2 }, expected: 'Updating' },
    {
      title: 'on its way to a revision',
      status: { currentRevision: 'web-1' },
      expected: 'Updating',
    },
    {
      title: 'with all beyond the partition new',
      spec: rolling(2),
      status: { updatedReplicas: 1, currentRevision: 'web-1' },
      expected: 'complete',
    },
    {
      title: 'with one beyond the partition old',
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
      title: 'before the new spec was seen',
      status: { observedGeneration: 1 },
      expected: 'NotObserved',
    },
    { title: 'with old Pods left', status: { updatedNumberScheduled: 2 }, expected: 'Updating' },
    { title: 'with Pods not available', status: { numberAvailable: 2 }, expected: 'NotAvailable' },
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
  it('takes a kind that rolls nothing out for complete', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    expect(rolloutStatus(object)).to.deep.equal({ complete: true });
  });

  it('says how many Pods are missing', () => {
    const object = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'shop', name: 'web', generation: 1 },
      spec: { replicas: 3 },
      status: { observedGeneration: 1, updatedReplicas: 1 },
    };
    const expected = { message: 'Deployment shop/web: 1 of 3 new Pods are there', stuck: false };
    expect(rolloutStatus(object)).to.include(expected);
  });
});
