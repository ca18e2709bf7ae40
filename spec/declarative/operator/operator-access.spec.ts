import { expect } from 'chai';
import { operatorAccess } from '../../../lib/declarative/internal.js';
import { ConfigMap, Secret } from '../../../lib/object/kinds.js';

const kinds = {
  resourceType: ({ kind }: { readonly kind: string }) =>
    Promise.resolve(kind === 'Secret' ? Secret : ConfigMap),
  hasStatus: () => false,
};

function accessOf(type: 'Updater' | 'Patcher', kind: string) {
  const controller = {
    name: 'copy',
    sources: [],
    pipeline: [{ '@project': { metadata: '$.metadata' } }],
    target: { ...(kind === 'Shown' ? {} : { apiGroup: '' }), kind, type },
  };
  return operatorAccess(
    [{ name: 'op', spec: { controllers: [controller] } }] as never,
    kinds as never,
  );
}

describe('the access of a declarative operator to its target', () => {
  it('writes and deletes the objects of an Updater', async () => {
    expect(await accessOf('Updater', 'Secret')).to.deep.equal([
      { type: Secret, verbs: ['get', 'list', 'watch', 'patch', 'create', 'update', 'delete'] },
      { type: Secret, subresource: 'finalizers', verbs: [] },
    ]);
  });

  it('only patches the objects of a Patcher', async () => {
    expect(await accessOf('Patcher', 'Secret')).to.deep.equal([
      { type: Secret, verbs: ['get', 'list', 'watch', 'patch'] },
      { type: Secret, subresource: 'finalizers', verbs: [] },
    ]);
  });

  it('is empty for a target that is a view', async () => {
    expect(await accessOf('Updater', 'Shown')).to.deep.equal([]);
  });
});
