import { expect } from 'chai';
import { describeMissing, missingOf } from '../../lib/cache/missing.js';
import { ApiError } from '../../lib/object/api-error.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { Thing } from './fake-server.js';

const forbidden = (verb: string, details = {}): ApiError =>
  new ApiError({ code: 403, reason: 'Forbidden', details }, { verb, kind: 'Thing', status: 403 });

describe('missingOf', () => {
  const permission = { type: 'permission', resource: 'things', group: 'example.com' } as const;
  const kind = { type: 'kind', apiVersion: 'example.com/v1', kind: 'Thing' } as const;
  const cases: readonly (readonly [string, unknown, string | undefined, unknown])[] = [
    [
      'the verb list after a refused list',
      forbidden('list'),
      undefined,
      { ...permission, verb: 'list', namespace: undefined },
    ],
    [
      'the verb watch and the namespace after a refused watch',
      forbidden('watch'),
      'shop',
      { ...permission, verb: 'watch', namespace: 'shop' },
    ],
    [
      'the resource that the answer of the server names',
      forbidden('list', { kind: 'thingies', group: 'g.io' }),
      'shop',
      { type: 'permission', verb: 'list', resource: 'thingies', group: 'g.io', namespace: 'shop' },
    ],
    [
      'the kind after an UnknownKind error',
      new OperatorError('UnknownKind', 'no'),
      undefined,
      kind,
    ],
    [
      'the kind after a 404',
      new ApiError({ code: 404 }, { verb: 'list', kind: 'Thing', status: 404 }),
      undefined,
      kind,
    ],
    [
      'undefined after a lost connection',
      new OperatorError('ConnectionFailed', 'reset'),
      undefined,
      undefined,
    ],
    ['undefined without an error', undefined, undefined, undefined],
  ];
  for (const [title, error, namespace, expected] of cases) {
    it(`returns ${title}`, () => {
      expect(missingOf(error, Thing, namespace)).to.deep.equal(expected);
    });
  }
});

describe('describeMissing', () => {
  it('names the verbs and the namespace of the missing permission, or the kind to install', () => {
    const permission = { type: 'permission', verb: 'watch', group: '', namespace: 'shop' } as const;
    expect(describeMissing({ ...permission, resource: 'pods' })).to.equal(
      'no permission to watch pods: grant list and watch by a Role in namespace shop',
    );
    expect(
      describeMissing({ ...permission, resource: 'a', group: 'b', namespace: undefined }),
    ).to.equal('no permission to watch a.b: grant list and watch by a ClusterRole');
    expect(describeMissing({ type: 'kind', apiVersion: 'b/v1', kind: 'A' })).to.contain(
      'install its CustomResourceDefinition',
    );
  });
});
