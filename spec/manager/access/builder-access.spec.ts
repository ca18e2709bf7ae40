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
  it('is to apply and prune what is owned', () => {
    expect(builderAccess([ConfigMap])).to.deep.equal([{ type: ConfigMap, verbs: ownVerbs }]);
  });

  it('is to look at the pods of workloads, too', () => {
    expect(builderAccess([ConfigMap, Deployment]).slice(2)).to.deep.equal([
      { type: Pod, verbs: ['list'] },
    ]);
  });

  it('is to grow the claims of StatefulSets, too, by whatever name they are given', () => {
    for (const type of [StatefulSet, { apiVersion: 'apps/v1', kind: 'StatefulSet' }]) {
      expect(builderAccess([type]).slice(1)).to.deep.equal([
        { type: Pod, verbs: ['list'] },
        { type: PersistentVolumeClaim, verbs: ['list', 'patch'] },
      ]);
    }
    expect(builderAccess([{ apiVersion: 'other/v1', kind: 'StatefulSet' }])).to.have.length(1);
  });
});
