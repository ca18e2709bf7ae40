import { expect } from 'chai';
import { operatorAccess } from '../../../lib/declarative/internal.js';
import { mayWriteStatus } from '../../../lib/declarative/operator/operator-access.js';
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

describe('the permissions that a declarative operator needs for its target', () => {
  it('include writing and deleting objects for an Updater', async () => {
    expect(await accessOf('Updater', 'Secret')).to.deep.equal([
      { type: Secret, verbs: ['get', 'list', 'watch', 'patch', 'create', 'update', 'delete'] },
      { type: Secret, subresource: 'finalizers', verbs: [] },
    ]);
  });

  it('include only patching objects for a Patcher', async () => {
    expect(await accessOf('Patcher', 'Secret')).to.deep.equal([
      { type: Secret, verbs: ['get', 'list', 'watch', 'patch'] },
      { type: Secret, subresource: 'finalizers', verbs: [] },
    ]);
  });

  it('are empty for a target that is a view', async () => {
    expect(await accessOf('Updater', 'Shown')).to.deep.equal([]);
  });
});

describe('a status in the results of a pipeline', () => {
  const project = { '@project': { metadata: '$.metadata' } };
  for (const [pipeline, may] of [
    [undefined, true],
    [[], true],
    [{ '@select': true }, true],
    [project, false],
    [[project, { '@select': true }, { '@unwind': '$.a' }], false],
    [{ '@project': { metadata: '$.metadata', status: '$.b' } }, true],
    [[{ '@project': { status: '$.b' } }, project], false],
    [[project, { '@project': { status: '$.b' } }], true],
    [{ '@project': [{ a: 1 }, { b: 2 }] }, false],
    [{ '@project': [{ a: 1 }, { status: 2 }] }, true],
    [{ '@project': '$.a' }, true],
    [{ '@project': { '@merge': [{ a: 1 }] } }, true],
    [{ '@project': { a: 1, '$.status.ready': true } }, true],
    [{ '@project': { a: 1, '$.spec.status': true } }, false],
    [{ '@project': { '$.': '$' } }, true],
    [[project, { '@gather': ['$.a', '$.spec.a'] }], false],
    [[project, { '@gather': ['$.a', '$.status.a'] }], true],
    [[project, { '@mux': ['$.status', '$.a'] }], false],
    [[project, { '@mux': ['$.a', '$.status'] }], true],
    [[project, { '@gather': '$.status' }], false],
    [[{ '@gather': ['$.a', '$.status'] }, project], false],
  ] as const) {
    it(`is ${may ? 'possible' : 'impossible'} after ${JSON.stringify(pipeline)}`, () => {
      expect(mayWriteStatus({ pipeline })).to.equal(may);
    });
  }
});
