import { expect } from 'chai';
import {
  blockedMessage,
  blockingPod,
  hasHopelessPod,
  mayBeBlocked,
  reasonToHold,
} from '../../lib/builder/rollout-state.js';
import { ApiError } from '../../lib/object/api-error.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import type { RunContext } from '../../lib/builder/context.js';
import type { Pod } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

interface PodState {
  readonly ordinal: number;
  readonly revision: string;
  readonly ready: boolean;
  readonly deleting?: boolean;
  /** For how many seconds the pod has not been ready. The pod started 1000 s ago. */
  readonly unreadyFor?: number;
  readonly waiting?: string;
  /** How many seconds ago the pod started; null if the start time is unknown. @defaultValue 1000 */
  readonly startedBefore?: number | null;
  readonly isInit?: boolean;
}

const clock = new VirtualClock();

function ago(seconds: number): string {
  return new Date(clock.now() - seconds * 1_000).toISOString();
}

function pod({ ordinal, revision, ready, deleting = false, ...more }: PodState): Pod {
  const { startedBefore = 1_000 } = more;
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
      ...(startedBefore !== null && { startTime: ago(startedBefore) }),
      conditions: [
        {
          ...{ type: 'Ready', status: ready ? 'True' : 'False' },
          lastTransitionTime: ago(more.unreadyFor ?? 999),
        },
      ],
      ...(more.waiting !== undefined && {
        [more.isInit === true ? 'initContainerStatuses' : 'containerStatuses']: [
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

  it('returns the unready pod of an older revision, and of several such pods the one with the highest ordinal', async () => {
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

  it('returns a pod that was never ready, or that has been unready for longer than the grace time', async () => {
    const one = { ...old, ordinal: 0, ready: false };
    const blocks = async (more: Partial<PodState>): Promise<boolean> =>
      (await blockerAmong([{ ...one, ...more }])) !== undefined;
    expect(await blocks({ unreadyFor: 60 })).to.equal(true);
    expect(await blocks({ unreadyFor: 59 })).to.equal(false);
    expect(await blocks({ unreadyFor: 10, startedBefore: 15 })).to.equal(true);
    expect(await blocks({ unreadyFor: 10, startedBefore: 16 })).to.equal(false);
    expect(await blocks({ unreadyFor: 10, startedBefore: null })).to.equal(true);
    expect(await blocks({ unreadyFor: 10, waiting: 'ErrImagePull', isInit: true })).to.equal(true);
    expect(await blocks({ unreadyFor: 10, waiting: 'PodInitializing', isInit: true })).to.equal(
      false,
    );
  });

  it('ignores pods with another owner', async () => {
    const foreign = pod({ ...old, ordinal: 1, ready: false });
    const { ownerReferences = [] } = foreign.metadata;
    const owner = { ...ownerReferences[0]!, uid: 'other' };
    const client = {
      list: () =>
        Promise.resolve({
          items: [{ ...foreign, metadata: { ...foreign.metadata, ownerReferences: [owner] } }],
        }),
    };
    const context = { client, settings: { clock } } as unknown as RunContext;
    expect(await blockingPod(context, statefulSet({ updatedReplicas: 0 }), 60)).to.equal(undefined);
  });

  it('finds a pod whose message says what to do about it', () => {
    expect(blockedMessage(pod({ ...old, ordinal: 2 }))).to.equal(
      'Pod store-2 is of an older revision and is not ready, so the rollout cannot continue: delete it, or set unblock',
    );
  });
});

function statefulSet(status: object, spec: object = {}, kind = 'StatefulSet'): UnstructuredObject {
  return {
    ...{ apiVersion: 'apps/v1', kind },
    metadata: { name: 'store', namespace: 'shop', uid: 'set', generation: 3 },
    spec: { replicas: 3, selector: { matchLabels: { a: 'b' } }, ...spec },
    status: {
      ...{ observedGeneration: 3, replicas: 3, updateRevision: 'new', updatedReplicas: 1 },
      ...{ readyReplicas: 2, ...status },
    },
  };
}

describe('A StatefulSet', () => {
  for (const [what, set, may] of [
    ['with outdated and unready pods', statefulSet({}), true],
    [
      'with an explicit OrderedReady',
      statefulSet({}, { podManagementPolicy: 'OrderedReady' }),
      true,
    ],
    ['without updated pods', statefulSet({ updatedReplicas: undefined }), true],
    ['without ready pods', statefulSet({ readyReplicas: undefined }), true],
    ['with updated pods only', statefulSet({ updatedReplicas: 3 }), false],
    ['with ready pods only', statefulSet({ readyReplicas: 3 }), false],
    ['without pods', statefulSet({ replicas: undefined }), false],
    [
      'whose last change the controller has not observed',
      statefulSet({ observedGeneration: 2 }),
      false,
    ],
    ['without an observedGeneration', statefulSet({ observedGeneration: undefined }), false],
    [
      'that starts its pods in parallel',
      statefulSet({}, { podManagementPolicy: 'Parallel' }),
      false,
    ],
    ['with the kind DaemonSet', statefulSet({}, {}, 'DaemonSet'), false],
    ['without a status', { ...statefulSet({}), status: undefined }, false],
  ] as const) {
    it(`${what} ${may ? 'may wait' : 'does not wait'} for a pod of an older revision`, () => {
      expect(mayBeBlocked(set)).to.equal(may);
    });
  }
});

describe('The pods of a workload', () => {
  const lines: LogLine[] = [];
  beforeEach(() => void lines.splice(0));
  const listed: unknown[] = [];
  const contextWith = (list: () => Promise<unknown>): RunContext =>
    ({
      client: {
        list: (...args: unknown[]) => {
          listed.push(args[1]);
          return list();
        },
      },
      settings: { clock, controllerName: 'op', logger: rememberingLogger(lines) },
    }) as unknown as RunContext;
  const one = pod({ ordinal: 0, revision: 'new', ready: false });
  const withPods = (...items: readonly unknown[]): RunContext =>
    contextWith(() => Promise.resolve({ items }));
  const unschedulable = (reason: string): Pod => ({
    ...one,
    status: { conditions: [{ type: 'PodScheduled', status: 'False', reason }] },
  });
  const waiting = pod({ ordinal: 0, revision: 'new', ready: false, waiting: 'CrashLoopBackOff' });

  it("count as unable to start if a pod can't be scheduled, or waits for a reason that does not end by itself", async () => {
    expect(await hasHopelessPod(withPods(one), statefulSet({}))).to.equal(false);
    expect(await hasHopelessPod(withPods(), statefulSet({}))).to.equal(false);
    expect(await hasHopelessPod(withPods(one, waiting), statefulSet({}))).to.equal(true);
    const reasons = ['Unschedulable', 'SchedulerError'];
    const found = await Promise.all(
      reasons.map((reason) => hasHopelessPod(withPods(unschedulable(reason)), statefulSet({}))),
    );
    expect(found).to.deep.equal([true, false]);
  });

  it('are listed by its selector, and those of a StatefulSet also by their owner', async () => {
    listed.splice(0);
    for (const kind of ['StatefulSet', 'Deployment']) {
      await hasHopelessPod(withPods(), statefulSet({}, {}, kind));
    }
    const labelSelector = { matchLabels: { a: 'b' } };
    const asked = { namespace: 'shop', labelSelector, signal: undefined };
    expect(listed).to.deep.equal([
      { ...asked, controllerUid: 'set' },
      { ...asked, controllerUid: undefined },
    ]);
  });

  it('are ignored with a warning if RBAC forbids the operator to list pods', async () => {
    const refused = (code: number): RunContext =>
      contextWith(() =>
        Promise.reject(
          new ApiError(
            { code, reason: code === 403 ? 'Forbidden' : 'InternalError' },
            { verb: 'list', kind: 'Pod', status: code },
          ),
        ),
      );
    expect(await hasHopelessPod(refused(403), statefulSet({}))).to.equal(false);
    expect(lines.map(({ level, message, fields }) => [level, message, fields])).to.deep.equal([
      [
        ...['warn', 'pods cannot be listed: broken rollouts are found late; grant list on pods'],
        { name: 'StatefulSet shop/store' },
      ],
    ]);
    const error: unknown = await hasHopelessPod(refused(500), statefulSet({})).catch(
      (e: unknown) => e,
    );
    expect(error).to.be.instanceOf(ApiError);
  });

  it('keep the old template while earlier workloads of the chain roll out, unless the pods cannot start', async () => {
    const replacement = 'waits for StatefulSet db';
    const hold = (
      live: UnstructuredObject,
      context = withPods(one),
      gate = { replacement } as object,
    ) => reasonToHold(context, { chained: { link: {} } as never, live }, gate);
    const pods = { updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };
    const ready = { ...pods, currentRevision: 'new' };
    expect(await hold(statefulSet(ready))).to.equal(replacement);
    expect(await hold(statefulSet(ready), withPods(waiting))).to.equal(replacement);
    expect(await hold(statefulSet(ready), withPods(one), {})).to.equal(undefined);
    expect(await hold({ ...statefulSet(ready), apiVersion: 'batch/v1', kind: 'Job' })).to.equal(
      undefined,
    );
    const scaling = { ...ready, readyReplicas: 1, availableReplicas: 1 };
    const recent = { manager: 'op', operation: 'Apply', time: ago(10) } as const;
    const young = (set: UnstructuredObject): UnstructuredObject => ({
      ...set,
      metadata: { ...set.metadata, managedFields: [recent] },
    });
    expect(await hold(young(statefulSet(scaling)))).to.equal(replacement);
    expect(await hold(young(statefulSet(scaling)), withPods(waiting))).to.equal(undefined);
    expect(await hold(young(statefulSet({ ...scaling, availableReplicas: 0 })))).to.equal(
      undefined,
    );
    // The rollout is stuck: it has made no progress for longer than the deadline.
    expect(await hold(statefulSet(scaling))).to.equal(undefined);
  });
});
