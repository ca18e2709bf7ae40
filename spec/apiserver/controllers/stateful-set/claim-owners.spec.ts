import { expect } from 'chai';
import { claimOwnerReferences } from '../../../../lib/apiserver/controllers/stateful-set-plan.js';
import { ownedBy, pod, statefulSet } from '../workload-objects.js';

const bySet = { controller: true, blockOwnerDeletion: true };

function setWith(whenDeleted: string, whenScaled: string) {
  const policy = { whenDeleted, whenScaled };
  const set = statefulSet('db', { persistentVolumeClaimRetentionPolicy: policy });
  return { ...set, metadata: { ...set.metadata, uid: 'set-uid' } };
}

const db0 = pod('db-0', {}, { uid: 'pod-uid' });

describe('claimOwnerReferences', () => {
  const cases: readonly [deleted: string, scaled: string, scaledDown: boolean, owner: string][] = [
    ['Retain', 'Retain', false, 'no owner'],
    ['Retain', 'Retain', true, 'no owner'],
    ['Delete', 'Retain', false, 'the set'],
    ['Delete', 'Retain', true, 'the set'],
    ['Retain', 'Delete', false, 'no owner'],
    ['Retain', 'Delete', true, 'the pod'],
    ['Delete', 'Delete', false, 'the set'],
    ['Delete', 'Delete', true, 'the pod'],
  ];
  for (const [deleted, scaled, scaledDown, owner] of cases) {
    const situation = scaledDown ? 'scaled down' : 'in use';
    it(`return ${owner} for whenDeleted ${deleted} and whenScaled ${scaled} when ${situation}`, () => {
      const set = setWith(deleted, scaled);
      const wanted = { 'the set': [ownedBy(set, bySet)], 'the pod': [ownedBy(db0, bySet)] }[owner];
      for (const before of [[], [ownedBy(set, bySet)], [ownedBy(db0, bySet)]]) {
        const references = claimOwnerReferences(before, { set, pod: db0, scaledDown });
        expect(references).to.deep.equal(wanted ?? []);
      }
    });
  }

  it('keep the owners of a claim of an earlier set with the same name', () => {
    const stale = [{ ...ownedBy(setWith('Delete', 'Delete'), bySet), uid: 'older' }];
    const owners = { set: setWith('Delete', 'Retain'), pod: db0, scaledDown: false };
    expect(claimOwnerReferences(stale, owners)).to.equal(stale);
  });

  it('keep the owners of a claim with another controller', () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true };
    const owners = { set: setWith('Delete', 'Delete'), pod: db0, scaledDown: false };
    expect(claimOwnerReferences([other], owners)).to.deep.equal([other]);
  });
});
