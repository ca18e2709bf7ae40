import { expect } from 'chai';
import {
  fieldManagerApply,
  fieldManagerUpdate,
} from '../../../lib/apiserver/structured-merge/index.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
const options = { apiVersion: 'v1', schema: undefined, manager: 'kubectl', now: 0 };

function object(data: object, lastApplied?: string): UnstructuredObject {
  const annotations =
    lastApplied === undefined ? {} : { annotations: { [annotation]: lastApplied } };
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x', ...annotations }, data };
}

/** An object written by client-side apply, with `lastApplied` in its annotation. */
function live(lastApplied: string): UnstructuredObject {
  const created = object({ a: '1' }, lastApplied);
  return fieldManagerUpdate(undefined, created, {
    ...options,
    manager: 'kubectl-client-side-apply',
  });
}

const text = (data: object) => JSON.stringify(object(data));

describe('a server-side apply by kubectl after its client-side apply', () => {
  it('takes over the fields of the last-applied annotation whose values are unchanged', () => {
    const next = fieldManagerApply(live(text({ a: '1' })), object({ a: '2' }), options);
    expect(next['data']).to.deep.equal({ a: '2' });
    expect(next.metadata.annotations?.[annotation]).to.equal(
      '{"apiVersion":"v1","data":{"a":"2"},"kind":"Thing","metadata":{"name":"x"}}\n',
    );
  });

  it('writes the annotation sorted, with HTML characters escaped, and without the annotation in itself', () => {
    const applied = object({ b: '<>&', a: '2' }, 'old');
    applied.metadata.annotations!['z'] = 'y';
    const next = fieldManagerApply(live(text({ a: '1' })), applied, { ...options, force: true });
    expect(next.metadata.annotations?.[annotation]).to.equal(
      '{"apiVersion":"v1","data":{"a":"2","b":"\\u003c\\u003e\\u0026"},"kind":"Thing",' +
        '"metadata":{"annotations":{"z":"y"},"name":"x"}}\n',
    );
  });

  it('removes the annotation if it would be too large', () => {
    const applied = object({ a: 'x'.repeat(300_000) });
    const next = fieldManagerApply(live(text({ a: '1' })), applied, options);
    expect(next.metadata.annotations).to.deep.equal({});
  });

  it('does not add the annotation to an object without it', () => {
    const created = { ...options, manager: 'ed' };
    const before = fieldManagerUpdate(undefined, object({ a: '1' }), created);
    const next = fieldManagerApply(before, object({ b: '1' }), options);
    expect(next.metadata.annotations).to.equal(undefined);
  });

  for (const [what, lastApplied] of [
    ['with another value', text({ a: '0' })],
    ['of another version', text({ a: '1' }).replace('"v1"', '"v2"')],
    ['that is not JSON', '{'],
    ['that is not an object', '[]'],
    ['that is empty', ''],
  ] as const) {
    it(`conflicts with an annotation ${what}`, () => {
      const apply = () => fieldManagerApply(live(lastApplied), object({ a: '2' }), options);
      expect(apply).to.throw('conflict with "kubectl-client-side-apply" using v1: .data.a');
    });
  }

  it('conflicts only with fields of other managers', () => {
    const taken = fieldManagerUpdate(
      live(text({ a: '1', b: '1' })),
      object({ a: '1', b: '9' }, text({ a: '1', b: '1' })),
      { ...options, manager: 'ed' },
    );
    const apply = () => fieldManagerApply(taken, object({ a: '2', b: '2' }), options);
    expect(apply).to.throw('Apply failed with 1 conflict: conflict with "ed" using v1: .data.b');
  });

  it('takes over the fields only for the field manager kubectl', () => {
    const other = { ...options, manager: 'op' };
    const apply = () => fieldManagerApply(live(text({ a: '1' })), object({ a: '2' }), other);
    expect(apply).to.throw('conflict');
  });
});
