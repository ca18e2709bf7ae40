import { expect } from 'chai';
import { rollouts, whyDegraded } from '../../../lib/lifecycle/reconciler/apply-objects.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';

function workload(kind: string, parts: object): UnstructuredObject {
  const metadata = { name: 'web', namespace: 'shop', generation: 2 };
  return { apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1', kind, metadata, ...parts };
}

describe('whyDegraded', () => {
  const done: Record<string, object> = {
    Deployment: { replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
    StatefulSet: { replicas: 1, updatedReplicas: 1, readyReplicas: 1 },
    DaemonSet: { desiredNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1 },
    Job: { conditions: [{ type: 'Complete', status: 'True' }] },
  };
  for (const [kind, status] of Object.entries(done)) {
    it(`waits for a ${kind} until its status shows that it is ready`, () => {
      const ready = workload(kind, { spec: {}, status: { observedGeneration: 2, ...status } });
      expect(whyDegraded([ready])).to.equal(undefined);
      expect(whyDegraded([workload(kind, { spec: {} })])).to.deep.include({
        ...{ reason: `${kind}NotReady`, stuck: false },
      });
      if (kind === 'Job') return;
      const old = workload(kind, { spec: {}, status: { observedGeneration: 1, ...status } });
      expect(whyDegraded([old])?.message).to.match(/shop\/web: its controller has not seen/);
    });
  }

  it('names each workload that has not rolled out, in a message that does not change with its Pods', () => {
    const set = (numberAvailable: number): UnstructuredObject => {
      const pods = { desiredNumberScheduled: 9, updatedNumberScheduled: 9, numberAvailable };
      return workload('DaemonSet', { spec: {}, status: { observedGeneration: 2, ...pods } });
    };
    expect(rollouts([set(9)])).to.deep.equal([]);
    for (const available of [0, 8]) {
      expect(rollouts([set(available)])).to.deep.equal(['DaemonSet shop/web: rolling out']);
    }
    const paused = workload('Deployment', { spec: { paused: true } });
    const failed = { conditions: [{ type: 'Failed', status: 'True', message: 'too often' }] };
    const job = workload('Job', { status: failed });
    expect(rollouts([paused, job, workload('Job', {})])).to.deep.equal([
      'Deployment shop/web: rollout is paused',
      'Job shop/web: it failed: too often',
      'Job shop/web: running',
    ]);
  });

  it('reports a paused Deployment as blocked', () => {
    const status = { observedGeneration: 2, replicas: 1, availableReplicas: 1 };
    const why = whyDegraded([workload('Deployment', { spec: { paused: true }, status })]);
    expect(why).to.deep.include({ reason: 'DeploymentNotReady', stuck: true });
    expect(why?.message).to.match(/0 of 1 new Pods exist; paused$/);
    const ready = { ...status, updatedReplicas: 1 };
    const done = workload('Deployment', { spec: { paused: true }, status: ready });
    expect(whyDegraded([done])).to.equal(undefined);
  });

  it('names all workloads that are not ready, and ignores other kinds', () => {
    const [one, other] = [workload('Deployment', {}), workload('StatefulSet', {})];
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
    const why = whyDegraded([map, one, other]);
    expect(why?.reason).to.equal('DeploymentNotReady');
    expect(why?.message).to.match(/^Deployment shop\/web: .*; StatefulSet shop\/web: /);
    expect(whyDegraded([map])).to.equal(undefined);
  });
});
