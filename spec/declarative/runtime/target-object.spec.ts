import { expect } from 'chai';
import type { Document } from '../../../lib/declarative/document.js';
import {
  scopeProblem,
  targetObject,
  viewOf,
} from '../../../lib/declarative/runtime/target-object.js';
import type { TargetKey } from '../../../lib/declarative/runtime/target-object.js';
import { added, listed, object, pipelineOf } from '../engine/pipelines.js';

const type = { group: 'apps', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };
const views = { ...type, group: 'op.view.dcontroller.io', version: 'v1alpha1' };
const namespaced: TargetKey = { type, key: { namespace: 'ns', name: 'a' } };
const clustered: TargetKey = { type: { ...type, namespaced: false }, key: { name: 'a' } };
const view: TargetKey = { type: views, key: { namespace: 'ns', name: 'a' } };

/** The object of `namespaced` with these members. */
function thing(metadata: object = {}, more: object = {}): object {
  const identity = { name: 'a', namespace: 'ns' };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Thing', metadata: { ...identity, ...metadata } },
    ...more,
  };
}

const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: null };

describe('The object that is written for a document', () => {
  for (const [what, document, desired] of [
    ['nothing but its key', {}, { object: thing() }],
    [
      'labels, annotations, finalizers and owners',
      {
        metadata: {
          ...{ name: 'b', namespace: 'other', generation: 7, resourceVersion: '9' },
          ...{ labels: { a: 'x', b: null }, annotations: { c: '' } },
          ...{ finalizers: ['example.com/f'], ownerReferences: [owner] },
        },
      },
      {
        object: thing({
          ...{ labels: { a: 'x' }, annotations: { c: '' }, finalizers: ['example.com/f'] },
          ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }],
        }),
        nulls: { metadata: { labels: { b: null } } },
      },
    ],
    [
      'labels only of the copied metadata of another object',
      {
        metadata: {
          ...{ uid: 'u', labels: { a: 'x' }, annotations: {} },
          ...{ finalizers: ['example.com/f'], ownerReferences: [owner] },
        },
      },
      { object: thing({ labels: { a: 'x' } }) },
    ],
    [
      'no metadata of null members, or of a text',
      { metadata: { labels: null, annotations: null, finalizers: null, ownerReferences: null } },
      {
        object: thing(),
        nulls: {
          metadata: { labels: null, annotations: null, finalizers: null, ownerReferences: null },
        },
      },
    ],
    ['no metadata of a text', { metadata: 'text' }, { object: thing() }],
    [
      'its own apiVersion and kind, and all other members without nulls',
      {
        ...{ apiVersion: 'v9', kind: 'Other', spec: { a: null, b: [{ c: null, d: 1 }] } },
        ...{ data: null, list: [null], text: 'x', absent: undefined },
      },
      {
        object: thing({}, { spec: { b: [{ d: 1 }] }, list: [null], text: 'x' }),
        nulls: { spec: { a: null }, data: null },
      },
    ],
    [
      'its status beside the object',
      { spec: {}, status: { ready: true, gone: null } },
      {
        object: thing({}, { spec: {} }),
        nulls: { status: { gone: null } },
        status: { ready: true },
      },
    ],
    ['a status that is a list', { status: [] }, { object: thing(), status: [] }],
    ['no empty status', { status: {} }, { object: thing() }],
    ['no status null', { status: null }, { object: thing(), nulls: { status: null } }],
  ] as const) {
    it(`has ${what}`, () => {
      expect(targetObject(namespaced, document)).to.deep.equal({ nulls: undefined, ...desired });
    });
  }

  it('contains the data of a Secret in base64', () => {
    const secrets = { ...type, group: '', kind: 'Secret' };
    const { object } = targetObject({ ...namespaced, type: secrets }, { data: { a: 'x' } });
    expect(object['data']).to.deep.equal({ a: 'eA==' });
    const other = targetObject(namespaced, { data: { a: 'x' } });
    expect(other.object['data']).to.deep.equal({ a: 'x' });
  });

  it('has no namespace if its kind is cluster-scoped', () => {
    const { object } = targetObject(clustered, {});
    expect(object).to.deep.equal({ ...thing(), metadata: { name: 'a' } });
  });

  for (const [document, problem] of [
    [{ metadata: { labels: ['a'] } }, 'metadata.labels: want a map of strings'],
    [{ metadata: { annotations: 'a' } }, 'metadata.annotations: want a map of strings'],
    [
      { metadata: { labels: { a: 'x', 'b.c/d': 1 } } },
      'metadata.labels["b.c/d"]: want a string (@string makes one)',
    ],
  ] as const) {
    it(`is refused: ${problem}`, () => {
      const made = (): unknown => targetObject(namespaced, document);
      expect(made).to.throw(`Thing ns/a: ${problem}`).with.property('code', 'InvalidObject');
      expect(() => viewOf(view, document)).to.throw(`Thing ns/a: ${problem}`);
    });
  }

  it('is refused if it has a namespace but its kind is cluster-scoped, or the reverse', () => {
    const unplaced = { type, key: { name: 'a' } };
    const placed = { type: clustered.type, key: { namespace: 'ns', name: 'a' } };
    const problems = [
      'Thing a: Thing is namespaced, and the document has no namespace: set metadata.namespace',
      'Thing ns/a: Thing is cluster-scoped, and the document has the namespace ns: leave metadata.namespace out',
    ];
    expect([unplaced, placed].map(scopeProblem)).to.deep.equal(problems);
    for (const target of [unplaced, placed]) {
      expect(() => targetObject(target, {})).to.throw(scopeProblem(target) ?? 'none');
    }
    const free = [namespaced, clustered, view, { type: views, key: { name: 'a' } }];
    expect(free.map(scopeProblem)).to.deep.equal([undefined, undefined, undefined, undefined]);
  });

  it('has at most 1.5 MiB if it is a view, and otherwise any size', () => {
    // `{"text":""}` has 11 bytes.
    const most = { text: 'x'.repeat(1_572_864 - 11) };
    expect(targetObject(view, most).object['text']).to.equal(most.text);
    const more = { text: `${most.text}x` };
    expect(() => targetObject(view, more)).to.throw(
      'Thing ns/a: a view has at most 1.5 MiB, got 1572865 bytes; split it into several',
    );
    expect(targetObject(namespaced, more).object['text']).to.equal(more.text);
  });
});

describe('A view that is stored without copying its document', () => {
  const stored = (document: Document) => viewOf(view, document)?.object;
  const viewThing = (metadata: object, more: object = {}): object => ({
    ...thing(metadata, more),
    apiVersion: 'op.view.dcontroller.io/v1alpha1',
  });

  it('has labels, annotations and all members of the document', () => {
    const list = [{ a: 1 }];
    const document = {
      ...{ apiVersion: 'v9', kind: 'Other', list, status: { ready: true } },
      metadata: { name: 'b', labels: { a: 'x' }, annotations: { b: 'y' }, generation: 3 },
    };
    expect(stored(document)).to.deep.equal(
      viewThing({ labels: { a: 'x' }, annotations: { b: 'y' } }, { list, status: { ready: true } }),
    );
    expect(stored(document)?.['list']).to.equal(list);
    expect(stored({ status: {}, text: 'x' })).to.deep.equal(viewThing({}, { text: 'x' }));
  });

  it('can be made only if the document has content, labels or annotations', () => {
    expect(stored({ metadata: { name: 'a' }, status: {} })).to.equal(undefined);
    for (const metadata of [{ labels: { a: 'x' } }, { annotations: { a: 'x' } }]) {
      expect(stored({ metadata })).to.deep.equal(viewThing(metadata));
    }
    expect(stored({ status: { a: 1 } })).to.deep.equal(viewThing({}, { status: { a: 1 } }));
  });

  it('cannot be made of a document with finalizers, owners, nulls, deep nesting or more than 1.5 MiB', () => {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
    const text = 'x';
    for (const document of [
      { text, metadata: { finalizers: ['example.com/f'] } },
      { text, metadata: { ownerReferences: [owner] } },
      { text, spec: { a: null } },
      { text, date: Number.NaN },
      { text, deep: deep(101) },
      { text: 'x'.repeat(1.5 * 1024 ** 2) },
    ]) {
      expect(stored(document)).to.equal(undefined);
    }
    const copied = { uid: 'u', finalizers: ['example.com/f'], ownerReferences: [owner] };
    expect(stored({ text, metadata: copied, deep: deep(90) })).to.deep.equal(
      viewThing({}, { text, deep: deep(90) }),
    );
  });

  it('cannot be made if a long list of @gather in the document is too large or has nulls', () => {
    const gathered = (valueOf: (n: number) => unknown): Document => {
      const pipeline = pipelineOf([{ '@gather': ['$.metadata.namespace', '$.list'] }]);
      const members = Array.from({ length: 100 }, (_, n) =>
        object(`ns/${100 + n}`, { list: valueOf(n) }),
      );
      pipeline.push('Pod', added(...members));
      const more = object('ns/200', { list: valueOf(100) });
      pipeline.push('Pod', added(more));
      const [document] = listed(pipeline.snapshot());
      return document ?? {};
    };
    const text = 'x'.repeat(1_000);
    const bytes = viewOf(
      view,
      gathered((n) => `${text}${100 + n}`),
    )?.bytes;
    expect(bytes).to.be.within(101 * 1_003, 101 * 1_020 + 1_000);
    expect(stored(gathered((n) => text.repeat(20) + String(n)))).to.equal(undefined);
    expect(stored(gathered((n) => ({ n, none: n === 100 ? null : 1 })))).to.equal(undefined);
    expect(stored(gathered((n) => ({ n, none: n === 7 ? null : 1 })))).to.equal(undefined);
  });

  it('has an estimated size that includes the metadata that the server adds', () => {
    const bytes = (document: Document): number => viewOf(view, document)?.bytes ?? 0;
    const one = bytes({ text: 'x' });
    expect(one).to.be.within(500, 700);
    expect(bytes({ text: 'x'.repeat(1_001) })).to.equal(one + 1_000);
  });
});
