import { expect } from 'chai';
import { judgePlay } from '../../../lib/testing/crash-points/cluster-state.js';
import type { ClusterState } from '../../../lib/testing/crash-points/cluster-state.js';
import type { CrashProblem, CrashRequest } from '../../../lib/testing/crash-points/crash-point.js';
import type { Played } from '../../../lib/testing/crash-points/play.js';

const request = (verb: string, name: string, more: Partial<CrashRequest> = {}): CrashRequest => ({
  ...{ step: 'one', request: 1, verb, apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name },
  ...{ write: true, created: true, ...more },
});

/** Returns a state of ConfigMaps by name: their UIDs, and their data. */
function state(
  objects: Record<string, readonly [uid: string, data: object]>,
  metadata: object = {},
) {
  return new Map(
    Object.entries(objects).map(([name, [uid, data]]) => {
      const typeMeta = { apiVersion: 'v1', kind: 'ConfigMap' };
      const live = { ...typeMeta, metadata: { name, uid, ...metadata }, data };
      const comparable = { ...typeMeta, metadata: { name }, data };
      return [` ConfigMap ${name}`, { name: `ConfigMap ${name}`, live, comparable }];
    }),
  ) as ClusterState;
}

interface Run {
  readonly before?: ClusterState;
  readonly after?: ClusterState;
  readonly requests?: readonly CrashRequest[];
  readonly problems?: readonly CrashProblem[];
  readonly interruptedAt?: CrashRequest | undefined;
}

/** Returns a run of the setup and the step `one`. */
function played({ before, after, requests = [], problems = [], ...rest }: Run): Played {
  const empty = state({});
  const at = 'interruptedAt' in rest ? rest.interruptedAt : request('get', 'a');
  return {
    steps: [
      { name: '', requests: [], state: before ?? empty },
      { name: 'one', requests, state: after ?? empty },
    ],
    ...{ requests, interruptedAt: at, writtenKinds: [], problems },
  };
}

describe('The comparison of an interrupted run with an uninterrupted run', () => {
  const kept = state({ a: ['1', { x: '1' }] });
  const own: CrashProblem = { type: 'notConverged', message: 'too late' };
  const cases: readonly (readonly [string, Run, Run, readonly (readonly [string, string])[]])[] = [
    [
      'finds nothing in an equal run',
      { after: kept },
      { after: state({ a: ['9', { x: '1' }] }) },
      [],
    ],
    [
      'keeps the problems that were found during the run',
      { problems: [own] },
      {},
      [['notConverged', 'too late']],
    ],
    [
      'compares nothing if the run was not interrupted',
      { after: kept, interruptedAt: undefined, problems: [own] },
      {},
      [['notConverged', 'too late']],
    ],
    [
      'compares nothing if the step in which the run was interrupted was not completed',
      { after: kept, interruptedAt: request('get', 'a', { step: 'two' }) },
      {},
      [],
    ],
    [
      'names objects that only one of the runs has',
      { after: kept },
      { after: state({ b: ['2', {}] }) },
      [
        ['orphan', 'ConfigMap a exists, but not in the uninterrupted run'],
        ['missing', 'ConfigMap b is missing, but exists in the uninterrupted run'],
      ],
    ],
    [
      'names an object that is held by finalizers',
      {
        after: state({ a: ['1', {}] }, { deletionTimestamp: 'now', finalizers: ['a/b', 'c/d'] }),
      },
      {},
      [['finalizerLeft', 'ConfigMap a is held by a/b, c/d, but is gone in the uninterrupted run']],
    ],
    [
      'reports an object that is being deleted without finalizers like any other object',
      { after: state({ a: ['1', {}] }, { deletionTimestamp: 'now' }) },
      {},
      [['orphan', 'ConfigMap a exists, but not in the uninterrupted run']],
    ],
    [
      'reports an object with finalizers that is not being deleted like any other object',
      { after: state({ a: ['1', {}] }, { finalizers: ['a/b'] }) },
      {},
      [['orphan', 'ConfigMap a exists, but not in the uninterrupted run']],
    ],
    [
      'names fields that differ',
      { after: kept },
      { after: state({ a: ['1', { x: '2' }] }) },
      [['differs', 'ConfigMap a differs from the uninterrupted run: data.x: "2" there, "1" here']],
    ],
    [
      'names an object that was replaced, unless the uninterrupted run replaces it too',
      {
        before: state({ a: ['1', {}], b: ['2', {}], c: ['3', {}] }),
        after: state({ a: ['8', {}], b: ['9', {}], c: ['3', {}] }),
      },
      {
        before: state({ a: ['4', {}], b: ['5', {}], c: ['6', {}] }),
        after: state({ a: ['4', {}], b: ['7', {}], c: ['6', {}] }),
      },
      [['replaced', 'ConfigMap a was deleted and recreated: its UID was 1, now 8']],
    ],
    [
      'names requests that created an object more often than in the uninterrupted run',
      {
        requests: [
          ...[request('create', 'a'), request('create', 'a', { namespace: 'other' })],
          ...[request('create', 'b'), request('create', 'b'), request('create', 'b')],
          ...[request('create', 'c'), request('create', 'c', { created: false })],
          ...[request('create', 'd'), request('create', 'd')],
        ],
      },
      {
        requests: [
          ...[request('create', 'a'), request('create', 'b'), request('create', 'b')],
          ...[request('create', 'd'), request('create', 'd')],
        ],
      },
      [
        [
          'createdTwice',
          'create ConfigMap a made an object 2 times, but 1 times in the uninterrupted run',
        ],
        [
          'createdTwice',
          'create ConfigMap b made an object 3 times, but 2 times in the uninterrupted run',
        ],
      ],
    ],
  ];
  for (const [what, run, whole, wanted] of cases) {
    it(what, () => {
      const problems = judgePlay(played(run), played(whole));
      expect(problems.map(({ type, message }) => [type, message])).to.deep.equal(wanted);
    });
  }
});
