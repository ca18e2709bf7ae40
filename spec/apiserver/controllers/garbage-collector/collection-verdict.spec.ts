import { expect } from 'chai';
import { collectionVerdict } from '../../../../lib/apiserver/controllers/garbage-collector.js';
import type {
  CollectionVerdict,
  OwnerState,
} from '../../../../lib/apiserver/controllers/garbage-collector.js';
import { configMap } from '../workload-objects.js';

/** Returns the verdict on an object with owners in `states`, whose uids are 0, 1, …. */
function verdict(
  states: readonly OwnerState[],
  more: { readonly finalizers?: string[]; readonly dependents?: object[] } = {},
): CollectionVerdict {
  const ownerReferences = states.map((_, n) => {
    return { apiVersion: 'v1', kind: 'ConfigMap', name: `owner-${n}`, uid: String(n) };
  });
  const { finalizers = [], dependents = [] } = more;
  return collectionVerdict({
    object: configMap('dependent', { ownerReferences, finalizers }),
    stateOf: ({ uid }) => states[Number(uid)]!,
    dependents: dependents.map((metadata, n) => configMap(`below-${n}`, metadata)),
  });
}

const background = { type: 'delete', propagationPolicy: 'Background', unblock: false };
const foreground = { type: 'delete', propagationPolicy: 'Foreground', unblock: false };

describe('collectionVerdict', () => {
  const cases: readonly [owners: OwnerState[], expected: object][] = [
    [[], { type: 'keep' }],
    [['solid'], { type: 'keep' }],
    [['solid', 'solid'], { type: 'keep' }],
    [['dangling'], background],
    [['dangling', 'dangling'], background],
    [['solid', 'dangling'], { type: 'dropReferences', uids: ['1'] }],
    [['waiting', 'solid'], { type: 'dropReferences', uids: ['0'] }],
    [['waiting'], background],
    [['waiting', 'dangling'], background],
  ];
  for (const [owners, expected] of cases) {
    it(`returns ${JSON.stringify(expected)} for owners ${owners.join(', ') || '(none)'}`, () => {
      expect(verdict(owners)).to.deep.equal(expected);
    });
  }

  it('returns a foreground deletion if an owner waits for the deletion of an object that has dependents', () => {
    expect(verdict(['waiting'], { dependents: [{}] })).to.deep.equal(foreground);
    expect(verdict(['dangling'], { dependents: [{}] })).to.deep.equal(background);
  });

  it('unblocks a cycle of objects that wait for each other', () => {
    const waits = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] };
    expect(verdict(['waiting'], { dependents: [waits] })).to.deep.equal({
      ...foreground,
      unblock: true,
    });
  });

  it('uses the policy of a finalizer on the object', () => {
    const orphan = verdict(['dangling'], { finalizers: ['orphan'] });
    expect(orphan).to.include({ propagationPolicy: 'Orphan' });
    const waiting = verdict(['dangling'], { finalizers: ['foregroundDeletion'] });
    expect(waiting).to.include({ propagationPolicy: 'Foreground' });
  });
});
