import { expect } from 'chai';
import { builderAccess, ownVerbs } from '../../../lib/manager/index.js';
import {
  ConfigMap,
  Deployment,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '../../../lib/object/kinds.js';

describe('builderAccess', () => {
  it('grants applying and pruning the owned kinds', () => {
    expect(builderAccess([ConfigMap])).to.deep.equal([{ type: ConfigMap, verbs: ownVerbs }]);
  });

  it('also grants listing the pods of workloads', () => {
    expect(builderAccess([ConfigMap, Deployment]).slice(2)).to.deep.equal([
      { type: Pod, verbs: ['list'] },
    ]);
  });

  it('also grants enlarging the PersistentVolumeClaims of StatefulSets, however the type is given', () => {
    for (const type of [StatefulSet, { apiVersion: 'apps/v1', kind: 'StatefulSet' }]) {
      expect(builderAccess([type]).slice(1)).to.deep.equal([
        { type: Pod, verbs: ['list'] },
        { type: PersistentVolumeClaim, verbs: ['list', 'patch'] },
      ]);
    }
    expect(builderAccess([{ apiVersion: 'other/v1', kind: 'StatefulSet' }])).to.have.length(1);
  });
});
