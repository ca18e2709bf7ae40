import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { Client } from '../../lib/client/index.js';
import { controllerFor, done } from '../../lib/controller/index.js';
import type { ReconcileContext, Result } from '../../lib/controller/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import type { OperatorDefinition } from '../../lib/manager/index.js';
import { keyOf } from '../../lib/object/index.js';
import type { ConfigMap, ObjectReference, UnstructuredObject } from '../../lib/object/index.js';
import { planResource, renderSteps } from '../../lib/plan/index.js';
import type { ResourcePlan } from '../../lib/plan/index.js';
import { silentLogger } from '../../lib/system/index.js';
import { VirtualClock } from '../../lib/testing/index.js';

const Yard = defineResource({
  ...{ group: 'farms.example', kind: 'Yard', scope: 'Cluster' },
  versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }) }],
});

const namespace = 'default';
const now = Date.UTC(2024, 4, 6, 7, 8, 9);
const time = '2024-05-06T07:08:09Z';
const containers = [{ name: 'c', image: 'farm:1' }];
const labels = { a: 'b' };
const template = { metadata: { labels }, spec: { containers } };
const selecting = { selector: { matchLabels: labels }, template };
const jobTemplate = { spec: { containers, restartPolicy: 'Never' } };
const accessModes = ['ReadWriteOnce'];

function child(apiVersion: string, kind: string, name: string, spec: object): UnstructuredObject {
  return { apiVersion, kind, metadata: { namespace, name }, spec };
}

const labelled = (object: UnstructuredObject): UnstructuredObject => ({
  ...object,
  metadata: { ...object.metadata, labels },
});
const inNewRoom = (object: UnstructuredObject): UnstructuredObject => ({
  ...object,
  metadata: { ...object.metadata, namespace: 'new' },
});

const deployment = (name: string, spec: object = {}) =>
  child('apps/v1', 'Deployment', name, { ...selecting, ...spec });
const statefulSet = (name: string, spec: object = {}) =>
  child('apps/v1', 'StatefulSet', name, { ...selecting, serviceName: '', ...spec });
const daemonSet = (name: string) => child('apps/v1', 'DaemonSet', name, selecting);
const job = (name: string, spec: object = {}) =>
  child('batch/v1', 'Job', name, { template: jobTemplate, ...spec });
const pod = (name: string, spec: object = {}) => child('v1', 'Pod', name, { containers, ...spec });
const claim = (name: string, storage = '1Gi') =>
  child('v1', 'PersistentVolumeClaim', name, { accessModes, resources: { requests: { storage } } });
const partition = (from: number) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: from } },
});

/** Returns an operator that applies objects, and copies their statuses, and those of others, into a ConfigMap. */
function copying(
  applied: readonly UnstructuredObject[],
  read: readonly UnstructuredObject[] = [],
): OperatorDefinition {
  const reconcile = async ({ client }: ReconcileContext): Promise<Result> => {
    const options = { fieldManager: 'copying', force: true };
    for (const object of applied) await client.apply(object, options);
    const data: Record<string, string> = {};
    for (const object of [...applied, ...read]) {
      const key = keyOf(object);
      const live: UnstructuredObject = await client.get(object, key);
      if (key.namespace === undefined) continue;
      data[`${key.namespace}.${key.name}`] = JSON.stringify(live['status'] ?? {});
    }
    const metadata = { namespace, name: 'seen' };
    await client.apply<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, options);
    return done();
  };
  const controller = controllerFor(Yard).complete(reconcile);
  return { name: 'copying', setup: (manager) => void manager.add(controller) };
}

describe('The simulated cluster of a plan after all rollouts', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Yard] });
    client = cluster.client();
  });

  afterEach(() => cluster.stop());

  function plan(operator: OperatorDefinition): Promise<ResourcePlan> {
    const yard = { apiVersion: Yard.apiVersion, kind: 'Yard', metadata: { name: 'y' }, spec: {} };
    const { signal } = new AbortController();
    const clock = new VirtualClock(now);
    return planResource(yard, { operator, client, namespace, logger: silentLogger, clock, signal });
  }

  /** Stores an object with its status, and returns it as stored. */
  async function store(object: UnstructuredObject, status: object): Promise<UnstructuredObject> {
    await client.create(object);
    const patch = { type: 'merge', body: { status } } as const;
    return client.patch(object, keyOf(object), patch, { subresource: 'status' });
  }

  /** Returns, for each step of a plan, the objects for which it waits, and its writes. */
  const stepsOf = ({ steps }: ResourcePlan): readonly (readonly string[])[][] =>
    steps.map(({ after, objects }) => [
      after.map(nameOf),
      objects.map(({ action, ref }) => `${action} ${nameOf(ref)}`),
    ]);

  const nameOf = ({ kind, namespace: place, name }: ObjectReference): string =>
    place === namespace || place === undefined ? `${kind} ${name}` : `${kind} ${place}/${name}`;

  /** Returns the statuses that the operator copied last. */
  function statuses({ manifests }: ResourcePlan): Record<string, unknown> {
    const seen = manifests.find(({ after }) => after?.metadata.name === 'seen')?.after;
    const { data = {} } = seen as ConfigMap;
    const entries = Object.entries(data).map(([name, text]) => {
      const status: unknown = JSON.parse(text.replaceAll(/-[0-9a-f]{10}"/g, '-(hash)"'));
      return [name.replace(`${namespace}.`, ''), status];
    });
    return Object.fromEntries(entries) as Record<string, unknown>;
  }

  const condition = (type: string, reason: string): object => ({
    ...{ type, status: 'True', reason, lastTransitionTime: time, lastUpdateTime: time },
  });
  const deployed = (replicas: number, observedGeneration = 1): object => ({
    ...{ observedGeneration, replicas, updatedReplicas: replicas },
    ...{ readyReplicas: replicas, availableReplicas: replicas },
    conditions: [
      condition('Available', 'MinimumReplicasAvailable'),
      condition('Progressing', 'NewReplicaSetAvailable'),
    ],
  });
  const revision = (name: string): string => `${name}-(hash)`;
  const set = (name: string, replicas: number, [current, updated]: readonly number[]): object => ({
    ...{ observedGeneration: 1, replicas, readyReplicas: replicas, availableReplicas: replicas },
    ...{ currentReplicas: current, updatedReplicas: updated },
    ...{ currentRevision: revision(name), updateRevision: revision(name) },
  });
  const onNodes = (nodes: number, observedGeneration = 1): object => ({
    ...{ observedGeneration, desiredNumberScheduled: nodes, currentNumberScheduled: nodes },
    ...{ numberMisscheduled: 0, updatedNumberScheduled: nodes },
    ...{ numberReady: nodes, numberAvailable: nodes },
  });
  const succeeded = (pods: number, startTime = time): object => ({
    ...{ startTime, completionTime: time, succeeded: pods, ready: 0, terminating: 0 },
    conditions: [
      condition('SuccessCriteriaMet', 'CompletionsReached'),
      condition('Complete', 'CompletionsReached'),
    ],
  });
  const bound = (storage: string): object => ({
    phase: 'Bound',
    accessModes,
    capacity: { storage },
  });
  const inPhase = (phase: string, ready: 'True' | 'False'): object => ({
    ...{ phase, startTime: time },
    conditions: [
      { type: 'PodScheduled', status: 'True', lastTransitionTime: time },
      { type: 'Initialized', status: 'True', lastTransitionTime: time },
      { type: 'ContainersReady', status: ready, lastTransitionTime: time },
      { type: 'Ready', status: ready, lastTransitionTime: time },
    ],
  });
  const qosClass = 'BestEffort';

  it('has the final status of each kind, even if the server cannot default the object', async () => {
    const room = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } };
    const operator = copying([
      ...[deployment('web'), deployment('web-3', { replicas: 3 })],
      deployment('web-paused', { paused: true }),
      ...[statefulSet('db'), statefulSet('db-4', { replicas: 4, ...partition(1) })],
      ...[statefulSet('db-held', { replicas: 2, ...partition(5) }), daemonSet('log')],
      ...[job('one'), job('three', { completions: 3 }), job('two', { parallelism: 2 })],
      ...[job('job-held', { suspend: true }), claim('disk')],
      ...[pod('runs'), pod('ends', { restartPolicy: 'OnFailure' })],
      room,
      ...[deployment('web'), statefulSet('db'), daemonSet('log'), job('one')].map(inNewRoom),
      ...[claim('disk'), pod('runs')].map(inNewRoom),
    ]);
    const result = await plan(operator);
    const rested = [
      ...['Deployment web', 'Deployment web-3', 'StatefulSet db', 'StatefulSet db-4'],
      ...['StatefulSet db-held', 'DaemonSet log', 'Job one', 'Job three', 'Job two'],
      ...['PersistentVolumeClaim disk', 'Pod runs', 'Pod ends'],
      ...['Deployment new/web', 'StatefulSet new/db', 'DaemonSet new/log', 'Job new/one'],
      ...['PersistentVolumeClaim new/disk', 'Pod new/runs'],
    ];
    const held = ['Deployment web-paused', 'Job job-held', 'Namespace new'];
    const [first, second, ...others] = stepsOf(result);
    expect(first?.[0]).to.deep.equal([]);
    expect(first?.[1]).to.have.members(
      ['Yard y', ...rested, ...held, 'ConfigMap seen'].map((each) => `create ${each}`),
    );
    expect(second).to.deep.equal([rested, ['configure ConfigMap seen']]);
    expect(others).to.deep.equal([]);
    const awaited =
      /Job default\/one is complete, .*Claim default\/disk is bound, .*Pod new\/runs is ready:/;
    expect(renderSteps(result, {})).to.match(awaited);
    expect(statuses(result)).to.deep.equal({
      ...{ web: deployed(1), 'web-3': deployed(3), 'web-paused': {} },
      ...{ db: set('db', 1, [1, 1]), 'db-4': set('db-4', 4, [1, 3]) },
      ...{ 'db-held': set('db-held', 2, [2, 0]), log: onNodes(1) },
      ...{ one: succeeded(1), three: succeeded(3) },
      ...{ two: succeeded(2), 'job-held': {}, disk: bound('1Gi') },
      runs: { ...inPhase('Running', 'True'), qosClass },
      ends: { ...inPhase('Succeeded', 'False'), qosClass },
      ...{ 'new.web': deployed(1), 'new.db': set('db', 1, [1, 1]), 'new.log': onNodes(1) },
      ...{ 'new.one': succeeded(1), 'new.disk': bound('1Gi') },
      'new.runs': inPhase('Running', 'True'),
    });
  });

  it('shows rollouts in progress as complete, but not those that have failed or are paused', async () => {
    const seen = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1 };
    const deadline = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' };
    const stuck = { ...seen, unavailableReplicas: 1, conditions: [deadline] };
    const settled = { ...seen, availableReplicas: 1 };
    const startTime = '2024-01-01T00:00:00Z';
    const failures = ['FailureTarget', 'Failed'].map((type) => ({ type, status: 'True' }));
    const failed = { startTime, conditions: failures };
    const nodes = { observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 1 };
    const old = {
      replicas: 2,
      readyReplicas: 2,
      updatedReplicas: 0,
      currentRevision: 'db-old',
      updateRevision: 'db-old',
    };
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const unready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };
    const capacity = (storage: string): object => ({ phase: 'Bound', capacity: { storage } });
    const read = [
      await store(deployment('stuck'), stuck),
      await store(deployment('paused', { paused: true }), seen),
      await store(deployment('slow'), { ...seen, unavailableReplicas: 1 }),
      await store(statefulSet('db', { replicas: 2, ...partition(1) }), { ...seen, ...old }),
      await store(daemonSet('log'), { ...nodes, numberUnavailable: 2 }),
      await store(job('failed'), failed),
      await store(job('runs'), { startTime, active: 1 }),
      await store(claim('lost'), { phase: 'Lost' }),
      await store(claim('unbound'), { phase: 'Pending' }),
      await store(claim('unknown'), { phase: 'Bound' }),
      await store(claim('grows', '2Gi'), capacity('1Gi')),
      await store(claim('fits', '2Gi'), capacity('2048Mi')),
      await store(pod('pod-failed'), { phase: 'Failed' }),
      await store(pod('pod-ended'), { phase: 'Succeeded' }),
      await store(pod('pod-ready'), ready),
      await store(pod('pod-unready'), unready),
    ];
    await store(deployment('web'), settled);
    const failing = [
      await store(deployment('stuck-edited'), stuck),
      await store(job('failed-edited'), failed),
      await store(claim('lost-edited'), { phase: 'Lost' }),
    ];
    const edited = [
      deployment('web', { replicas: 2 }),
      ...[deployment('stuck-edited'), job('failed-edited'), claim('lost-edited')].map(labelled),
    ];
    const result = await plan(copying(edited, read));
    expect(stepsOf(result)).to.deep.equal([
      [
        [],
        [
          ...['create Yard y', 'configure Deployment web', 'configure Deployment stuck-edited'],
          ...['configure Job failed-edited', 'configure PersistentVolumeClaim lost-edited'],
          'create ConfigMap seen',
        ],
      ],
      [
        [
          ...['Deployment slow', 'StatefulSet db', 'DaemonSet log', 'Job runs'],
          ...['PersistentVolumeClaim unbound', 'PersistentVolumeClaim unknown'],
          ...['PersistentVolumeClaim grows', 'Pod pod-unready', 'Deployment web'],
        ],
        ['configure ConfigMap seen'],
      ],
    ]);
    const before = [...read, ...failing].map(({ metadata: { name = '' }, status }) => [
      name,
      status,
    ]);
    expect(statuses(result)).to.deep.equal({
      ...(Object.fromEntries(before) as object),
      ...{ web: deployed(2, 2), slow: deployed(1), log: onNodes(3), runs: succeeded(1, startTime) },
      db: { ...set('db', 2, [1, 1]), currentRevision: 'db-old' },
      ...{ unbound: bound('1Gi'), unknown: bound('1Gi'), grows: bound('2Gi') },
      'pod-unready': { ...inPhase('Running', 'True'), qosClass },
    });
  });
});
