import { expect } from 'chai';
import { rolloutStateOf } from '../../lib/builder/rollout-state.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

const start = Date.UTC(2026, 0, 1);
const clock = new VirtualClock(start);

function statefulSet(
  spec: object,
  times: Record<string, string> = {},
): Parameters<typeof rolloutStateOf>[0] {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name: 'a',
      generation: 2,
      managedFields: Object.entries(times).map(([manager, time]) => ({
        ...{ manager, time, operation: 'Apply' },
        ...(manager === 'kube-controller-manager' && { subresource: 'status' }),
      })),
    },
    spec: { replicas: 1, ...spec },
    status: { observedGeneration: 2, readyReplicas: 0 },
  };
}

const judgement = { clock, controllerName: 'shop-operator', progressDeadlineSeconds: 600 };

describe('rolloutStateOf', () => {
  it('starts the deadline of a StatefulSet at the last change by the operator', () => {
    const fresh = statefulSet({}, { 'shop-operator': '2025-12-31T23:55:00Z' });
    expect(rolloutStateOf(fresh, judgement)).to.deep.include({
      state: 'progressing',
      deadlineInMs: 300_000,
    });
    const old = statefulSet({}, { 'shop-operator': '2025-12-31T23:50:00Z' });
    const state = rolloutStateOf(old, judgement);
    expect(state).to.have.property('state', 'stuck');
    expect(state?.message).to.include('for more than 600 s');
  });

  it('starts the deadline at the last status update, if that is later', () => {
    const moving = statefulSet(
      {},
      {
        'shop-operator': '2025-12-31T20:00:00Z',
        'kube-controller-manager': '2025-12-31T23:59:00Z',
        'somebody-else': '2026-01-01T00:00:00Z',
      },
    );
    expect(rolloutStateOf(moving, judgement)).to.deep.include({ deadlineInMs: 540_000 });
  });

  it('waits no longer than the deadline if the wall clock is behind the timestamps of the server', () => {
    const ahead = statefulSet({}, { 'shop-operator': '2026-01-01T02:00:00Z' });
    expect(rolloutStateOf(ahead, judgement)).to.deep.include({
      state: 'progressing',
      deadlineInMs: 600_000,
    });
  });

  it('reports a workload with OnDelete as unwatched, and returns undefined for a kind that has no rollouts', () => {
    const onDelete = statefulSet({ updateStrategy: { type: 'OnDelete' } });
    expect(rolloutStateOf(onDelete, judgement)).to.have.property('state', 'unwatched');
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a' } };
    expect(rolloutStateOf(job, judgement)).to.equal(undefined);
  });

  it('reports a Deployment as stuck with the reason ProgressDeadlineExceeded', () => {
    const deployment = {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a', generation: 1 } },
      spec: { replicas: 1 },
      status: {
        observedGeneration: 1,
        conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
      },
    };
    expect(rolloutStateOf(deployment, judgement)).to.have.property('state', 'stuck');
  });

  for (const [what, time, state] of [
    ['at the deadline', '2025-12-31T23:50:00Z', 'stuck'],
    ['a second before the deadline', '2025-12-31T23:50:01Z', 'progressing'],
    ['with a timestamp that cannot be parsed', 'soon', 'stuck'],
  ] as const) {
    it(`is ${state} ${what}`, () => {
      const set = statefulSet({}, { 'shop-operator': time });
      expect(rolloutStateOf(set, judgement)).to.have.property('state', state);
    });
  }

  it('starts the deadline at the creation if the object has no other timestamp', () => {
    const created = statefulSet({});
    const metadata = { ...created.metadata, creationTimestamp: '2025-12-31T23:59:30Z' };
    expect(rolloutStateOf({ ...created, metadata }, judgement)).to.deep.include({
      ...{ state: 'progressing', deadlineInMs: 570_000 },
    });
  });

  it('returns a message that describes the state', () => {
    const ready = { observedGeneration: 2, readyReplicas: 1, updatedReplicas: 1, replicas: 1 };
    const complete = { ...statefulSet({}), status: { ...ready, availableReplicas: 1 } };
    expect(rolloutStateOf(complete, judgement)).to.deep.equal({
      ...{ state: 'complete', message: 'rolled out' },
    });
    const onDelete = statefulSet({ updateStrategy: { type: 'OnDelete' } });
    expect(rolloutStateOf(onDelete, judgement)).to.deep.equal({
      ...{ state: 'unwatched', message: 'its pods are replaced when they are deleted' },
    });
    const deployment = (spec: object): Parameters<typeof rolloutStateOf>[0] => ({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a', generation: 1 } },
      ...{ spec: { replicas: 1, ...spec }, status: { observedGeneration: 1 } },
    });
    expect(rolloutStateOf(deployment({ paused: true }), judgement)).to.deep.equal({
      ...{ state: 'unwatched', message: 'it is paused: its pods stay until it is resumed' },
    });
    const progressing = rolloutStateOf(deployment({}), judgement);
    expect(progressing).to.have.property('state', 'progressing');
    expect(progressing).to.have.all.keys('state', 'message');
  });
});
