import { expect } from 'chai';
import {
  isScalingEvent,
  scalingSteps,
} from '../../../../lib/apiserver/controllers/deployment-scaling.js';
import type { ReplicaSet } from '../../../../lib/object/kinds.js';
import { deployment, podTemplate } from '../workload-objects.js';

function set(name: string, replicas: number, facts: { desired?: number; available?: number } = {}) {
  const { desired = 4, available = replicas } = facts;
  const annotations = {
    'deployment.kubernetes.io/desired-replicas': String(desired),
    'deployment.kubernetes.io/max-replicas': String(desired + 1),
  };
  const selector = { matchLabels: { app: 'web' } };
  const made: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, annotations, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { replicas, selector, template: podTemplate('web') },
    status: { replicas, availableReplicas: available },
  };
  return made;
}

/** A Deployment of `replicas`, its newest ReplicaSet and the old ones. */
function rollout(replicas: number, current: ReplicaSet | undefined, old: ReplicaSet[]) {
  return { deployment: deployment('web', { replicas }), current, old };
}

function inWords(steps: readonly { readonly name: string; readonly replicas: number }[]): string {
  return steps.map(({ name, replicas }) => `${name}=${replicas}`).join(' ');
}

describe('scalingSteps', () => {
  it('scales the only ReplicaSet with pods', () => {
    expect(inWords(scalingSteps(rollout(6, set('new', 4), [set('old', 0)])))).to.equal('new=6');
    expect(inWords(scalingSteps(rollout(6, set('new', 0), [set('old', 4)])))).to.equal('old=6');
  });

  it('scales the newest ReplicaSet if no ReplicaSet has pods, or the last old ReplicaSet if there is no newest one', () => {
    expect(inWords(scalingSteps(rollout(2, set('new', 0), [set('old', 0)])))).to.equal('new=2');
    expect(inWords(scalingSteps(rollout(2, undefined, [set('a', 0), set('b', 0)])))).to.equal(
      'b=2',
    );
    expect(scalingSteps(rollout(2, undefined, []))).to.deep.equal([]);
  });

  it('scales old ReplicaSets to 0 when the newest has all its pods', () => {
    const steps = scalingSteps(rollout(4, set('new', 4), [set('old', 1)]));
    expect(inWords(steps)).to.equal('old=0');
  });

  it('distributes replicas during a rollout', () => {
    const steps = scalingSteps(rollout(8, set('new', 2), [set('old', 3)]));
    expect(inWords(steps)).to.equal('old=6 new=4');
  });
});

describe('isScalingEvent', () => {
  it('is true if the annotation desired-replicas of a ReplicaSet with pods differs from the replicas of the Deployment', () => {
    expect(isScalingEvent(rollout(4, set('new', 4), []))).to.equal(false);
    expect(isScalingEvent(rollout(5, set('new', 4), []))).to.equal(true);
    expect(isScalingEvent(rollout(5, set('new', 5, { desired: 5 }), [set('old', 0)]))).to.equal(
      false,
    );
  });
});
