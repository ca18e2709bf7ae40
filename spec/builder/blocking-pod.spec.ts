import { expect } from 'chai';
import { blockingPod } from '../../lib/builder/rollout-state.js';
import type { RunContext } from '../../lib/builder/context.js';
import type { Pod } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

interface PodState {
  readonly ordinal: number;
  readonly revision: string;
  readonly ready: boolean;
  readonly deleting?: boolean;
  /** Seconds before now. The pod started 1000 s ago. */
  readonly unreadyFor?: number;
  readonly waiting?: string;
}

const clock = new VirtualClock();

function ago(seconds: number): string {
  return new Date(clock.now() - seconds * 1_000).toISOString();
}

function pod({ ordinal, revision, ready, deleting = false, ...more }: PodState): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `store-${ordinal}`,
      labels: { 'controller-revision-hash': revision },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'store', uid: 'set', controller: true },
      ],
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    status: {
      startTime: ago(1_000),
      conditions: [
        {
          ...{ type: 'Ready', status: ready ? 'True' : 'False' },
          lastTransitionTime: ago(more.unreadyFor ?? 999),
        },
      ],
      ...(more.waiting !== undefined && {
        containerStatuses: [
          {
            ...{ name: 'web', image: '', imageID: '', ready: false, restartCount: 3 },
            state: { waiting: { reason: more.waiting } },
          },
        ],
      }),
    },
  };
}

async function blockerAmong(
  pods: readonly PodState[],
  spec: object = {},
): Promise<string | undefined> {
  const client = { list: () => Promise.resolve({ items: pods.map(pod) }) };
  const context = { client, settings: { clock } } as unknown as RunContext;
  const updatedReplicas = pods.filter(({ revision }) => revision === 'new').length;
  const set = {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet' },
    metadata: { name: 'store', namespace: 'shop', uid: 'set', generation: 3 },
    spec: { replicas: pods.length, selector: { matchLabels: { a: 'b' } }, ...spec },
    status: {
      ...{ observedGeneration: 3, replicas: pods.length, updateRevision: 'new', updatedReplicas },
      readyReplicas: pods.filter(({ ready }) => ready).length,
    },
  };
  return (await blockingPod(context, set, 60))?.metadata.name;
}

describe('blockingPod', () => {
  const old = { revision: 'old', ready: true };

  it('returns the pod of an older revision that is not ready, the highest ordinal first', async () => {
    const pods = [
      { ...old, ordinal: 0 },
      { ...old, ordinal: 1, ready: false },
      { ...old, ordinal: 10, ready: false },
    ];
    expect(await blockerAmong(pods)).to.equal('store-10');
  });

  it('ignores a starting pod of the newest revision', async () => {
    const pods = [
      { ...old, ordinal: 0 },
      { ordinal: 1, revision: 'new', ready: false },
    ];
    expect(await blockerAmong(pods)).to.equal(undefined);
  });

  it('ignores a pod that is being deleted and a pod below the partition', async () => {
    const leaving = { ...old, ordinal: 1, ready: false, deleting: true };
    expect(await blockerAmong([{ ...old, ordinal: 0 }, leaving])).to.equal(undefined);
    const updateStrategy = { rollingUpdate: { partition: 1 } };
    const pods = [{ ...old, ordinal: 0, ready: false }];
    expect(await blockerAmong(pods, { updateStrategy })).to.equal(undefined);
  });

  it('ignores a pod that became unready a moment ago, unless its container can’t run', async () => {
    const moment = { ...old, ordinal: 0, ready: false, unreadyFor: 30 };
    expect(await blockerAmong([moment])).to.equal(undefined);
    expect(await blockerAmong([{ ...moment, waiting: 'ContainerCreating' }])).to.equal(undefined);
    expect(await blockerAmong([{ ...moment, waiting: 'CrashLoopBackOff' }])).to.equal('store-0');
    expect(await blockerAmong([{ ...moment, unreadyFor: 61 }])).to.equal('store-0');
  });

  for (const reason of [
    ...['CrashLoopBackOff', 'ImagePullBackOff', 'ErrImagePull', 'InvalidImageName'],
    ...['CreateContainerError', 'CreateContainerConfigError', 'RunContainerError'],
  ]) {
    it(`returns a pod at once when its container waits for ${reason}`, async () => {
      const moment = { ...old, ordinal: 0, ready: false, unreadyFor: 30 };
      expect(await blockerAmong([{ ...moment, waiting: reason }])).to.equal('store-0');
    });
  }

  it('returns undefined for a StatefulSet with podManagementPolicy Parallel', async () => {
    const pods = [{ ...old, ordinal: 0, ready: false }];
    expect(await blockerAmong(pods, { podManagementPolicy: 'Parallel' })).to.equal(undefined);
    expect(await blockerAmong(pods)).to.equal('store-0');
  });
});
