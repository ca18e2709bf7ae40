import { expect } from 'chai';
import {
  revisionForNewPod,
  statefulSetPlan,
} from '../../../../lib/apiserver/controllers/stateful-set-plan.js';
import type {
  StatefulPodView,
  StatefulSetAction,
  StatefulSetView,
} from '../../../../lib/apiserver/controllers/stateful-set-plan.js';

const set: StatefulSetView = {
  replicas: 3,
  start: 0,
  policy: 'OrderedReady',
  strategy: 'RollingUpdate',
  partition: 0,
  currentRevision: 'v1',
  updateRevision: 'v1',
  currentReplicas: 3,
};

/** A pod, written as `ordinal:state:revision`. An `early` pod is ready before its phase is Running. */
function podOf(text: string): StatefulPodView {
  const [ordinal = '', state = 'ready', revision = 'v1'] = text.split(':');
  const up = ['ready', 'unavailable', 'notReady', 'terminating'].includes(state);
  return {
    ordinal: Number(ordinal),
    phase: up ? 'Running' : state === 'failed' ? 'Failed' : 'Pending',
    available: ['ready', 'terminating', 'early'].includes(state),
    terminating: state === 'terminating',
    revision,
  };
}

/** Returns the actions of the plan that create or delete a pod. */
function planOf(more: Partial<StatefulSetView>, pods: string): string {
  const views = pods.split(' ').filter(Boolean).map(podOf);
  const said = statefulSetPlan({ ...set, ...more }, views).filter(
    ({ type }) => type === 'createPod' || type === 'deletePod',
  );
  return said.map(inWords).join(' ');
}

function inWords(action: StatefulSetAction): string {
  switch (action.type) {
    case 'createPod':
      return `+${action.ordinal}:${action.revision}`;
    case 'deletePod':
      return `-${action.ordinal}:${action.why}`;
    case 'createClaims':
    case 'checkPod':
    case 'checkClaims':
      return action.type;
  }
}

interface Case {
  readonly when: string;
  readonly set?: Partial<StatefulSetView>;
  readonly pods: string;
  readonly plan: string;
}

const ordered: readonly Case[] = [
  { when: 'there is no pod', pods: '', plan: '+0:v1' },
  { when: 'the first is not ready', pods: '0:notReady', plan: '' },
  { when: 'the first is ready but not available', pods: '0:unavailable', plan: '' },
  { when: 'the first is ready too early', pods: '0:early', plan: '' },
  { when: 'the surplus one is ready too early', pods: '0 1 2 3:early', plan: '' },
  { when: 'two surplus ones are broken', pods: '0 1 2 3:notReady 4:notReady', plan: '' },
  { when: 'the first is up', pods: '0', plan: '+1:v1' },
  { when: 'all are up', pods: '0 1 2', plan: '' },
  { when: 'one in the middle is missing', pods: '0 2', plan: '+1:v1' },
  { when: 'one has failed', pods: '0 1:failed 2', plan: '-1:finished' },
  { when: 'one is being deleted', pods: '0 1:terminating 2', plan: '' },
  { when: 'two are too many', pods: '0 1 2 3 4', plan: '-4:scaledDown' },
  { when: 'the highest is already terminating', pods: '0 1 2 3 4:terminating', plan: '' },
  { when: 'a lower one is not ready and there are too many', pods: '0 1:notReady 2 3', plan: '' },
  { when: 'the surplus one is the broken one', pods: '0 1 2 3:notReady', plan: '-3:scaledDown' },
];

const updates: readonly Case[] = [
  { when: 'all are old', pods: '0 1 2', plan: '-2:updated' },
  { when: 'the highest is new', pods: '0 1 2:ready:v2', plan: '-1:updated' },
  { when: 'the new one is not ready', pods: '0 1 2:notReady:v2', plan: '' },
  { when: 'the highest is missing', pods: '0 1', plan: '+2:v2' },
  { when: 'an old one was already broken', pods: '0 1:notReady 2', plan: '' },
  { when: 'the strategy is OnDelete', set: { strategy: 'OnDelete' }, pods: '0 1 2', plan: '' },
  {
    when: 'the strategy is OnDelete and one is missing',
    set: { strategy: 'OnDelete', partition: undefined },
    pods: '0 1',
    plan: '+2:v2',
  },
  { when: 'the partition keeps two', set: { partition: 2 }, pods: '0 1 2:ready:v2', plan: '' },
  {
    when: 'one below the partition is missing',
    set: { partition: 2 },
    pods: '0 2:ready:v2',
    plan: '+1:v1',
  },
];

const parallel: readonly Case[] = [
  { when: 'there is no pod', pods: '', plan: '+0:v1 +1:v1 +2:v1' },
  { when: 'one is not ready', pods: '0:notReady 2', plan: '+1:v1' },
  { when: 'two are too many', pods: '0 1:notReady 2 3 4', plan: '-4:scaledDown -3:scaledDown' },
  { when: 'all are old', set: { updateRevision: 'v2' }, pods: '0 1 2', plan: '-2:updated' },
  {
    when: 'one is too many and all are old',
    set: { updateRevision: 'v2' },
    pods: '0 1 2 3',
    plan: '-3:scaledDown -2:updated',
  },
  {
    when: 'an old one is broken',
    set: { updateRevision: 'v2' },
    pods: '0 1 2:notReady',
    plan: '-2:updated',
  },
  {
    when: 'the new one is broken',
    set: { updateRevision: 'v3' },
    pods: '0 1 2:notReady:v2',
    plan: '-2:updated',
  },
];

describe('statefulSetPlan', () => {
  for (const { when, set: more = {}, pods, plan } of ordered) {
    it(`with OrderedReady does ${plan || 'nothing'} when ${when}`, () => {
      expect(planOf(more, pods)).to.equal(plan);
    });
  }

  for (const { when, set: more = {}, pods, plan } of updates) {
    it(`with a new revision does ${plan || 'nothing'} when ${when}`, () => {
      expect(planOf({ updateRevision: 'v2', ...more }, pods)).to.equal(plan);
    });
  }

  for (const { when, set: more = {}, pods, plan } of parallel) {
    it(`with Parallel does ${plan || 'nothing'} when ${when}`, () => {
      expect(planOf({ policy: 'Parallel', ...more }, pods)).to.equal(plan);
    });
  }

  it('is blocked by a pod of a broken revision after the template is repaired', () => {
    expect(planOf({ updateRevision: 'v3' }, '0 1 2:notReady:v2')).to.equal('');
    expect(planOf({ updateRevision: 'v3' }, '0 1')).to.equal('+2:v3');
  });

  it('counts from ordinals.start', () => {
    expect(planOf({ start: 5, replicas: 2 }, '5 0')).to.equal('+6:v1');
    expect(planOf({ start: 5, replicas: 2 }, '5 6 0')).to.equal('-0:scaledDown');
  });

  it('creates missing claims of a pending pod', () => {
    const actions = statefulSetPlan(set, [podOf('0:pending')]);
    expect(actions).to.deep.equal([{ type: 'createClaims', ordinal: 0 }]);
  });
});

describe('revisionForNewPod', () => {
  it('returns the current revision below the partition', () => {
    const partitioned = { ...set, updateRevision: 'v2', partition: 2 };
    const revisions = [0, 1, 2].map((ordinal) => revisionForNewPod(partitioned, ordinal));
    expect(revisions).to.deep.equal(['v1', 'v1', 'v2']);
  });

  it('returns the current revision for the first currentReplicas ordinals if rollingUpdate is not set', () => {
    const plain = { ...set, updateRevision: 'v2', partition: undefined, currentReplicas: 1 };
    expect([0, 1].map((ordinal) => revisionForNewPod(plain, ordinal))).to.deep.equal(['v1', 'v2']);
  });
});
