import { expect } from 'chai';
import { namespaceConditions } from '../../../../lib/apiserver/controllers/namespace-controller.js';

const none = { resources: new Map(), finalizers: new Map(), failures: [] };
const start = Date.UTC(2026, 0, 1);

describe('namespaceConditions', () => {
  it('lists remaining resources in alphabetical order', () => {
    const resources = new Map([
      ['secrets.', 2],
      ['deployments.apps', 1],
    ]);
    const said = namespaceConditions([], { ...none, resources }, start);
    const remaining = said.find(({ type }) => type === 'NamespaceContentRemaining');
    expect(remaining!.message).to.equal(
      'Some resources are remaining: deployments.apps has 1 resource instances, secrets. has 2 resource instances',
    );
  });

  it('keeps lastTransitionTime of unchanged conditions, and all conditions of other types', () => {
    const other = { type: 'Other', status: 'True' };
    const first = namespaceConditions([other], none, start);
    const failures = ['pods.v1 p: no'];
    const later = namespaceConditions(first, { ...none, failures }, start + 5_000);
    const times = later.map(({ type, status, lastTransitionTime = '' }) => {
      return `${type} ${status} ${lastTransitionTime.slice(17, 19)}`;
    });
    expect(times).to.deep.equal([
      'Other True ',
      'NamespaceDeletionDiscoveryFailure False 00',
      'NamespaceDeletionGroupVersionParsingFailure False 00',
      'NamespaceDeletionContentFailure True 05',
      'NamespaceContentRemaining False 00',
      'NamespaceFinalizersRemaining False 00',
    ]);
  });
});
