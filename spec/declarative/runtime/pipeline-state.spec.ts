import { expect } from 'chai';
import fc from 'fast-check';
import type { Document } from '../../../lib/declarative/document.js';
import { PipelineState } from '../../../lib/declarative/runtime/pipeline-state.js';
import type { DocumentReader } from '../../../lib/declarative/runtime/pipeline-state.js';
import { tries } from '../../sample.js';
import { planOf } from '../engine/pipelines.js';
import { randomSpec, scenario } from '../engine/random-pipelines.js';

/** A source backed by a map. Like a cache, it may change before the pipeline gets the change. */
class Store implements DocumentReader {
  readonly name: string;
  readonly documents: Map<string, Document>;

  constructor(name: string, documents = new Map<string, Document>()) {
    this.name = name;
    this.documents = documents;
  }

  put(name: string, n: number): void {
    this.documents.set(name, { metadata: { name }, n });
  }

  get(key: string) {
    const document = this.documents.get(key);
    return document === undefined ? undefined : { document, origin: document };
  }

  keys(): Iterable<string> {
    return this.documents.keys();
  }
}

const doubled = [{ '@project': { metadata: '$.metadata', n: { '@mul': ['$.n', 2] } } }];

function stateOf(pipeline: unknown, stores: readonly Store[]): PipelineState {
  const names = stores.map(({ name }) => name);
  const options = { targetPath: ['target'], controller: 'shop/web' };
  return new PipelineState(planOf(pipeline, names), stores, options);
}

function numbers(state: PipelineState): object {
  const all = [...state.desired].map(([key, { document }]) => [key, document['n']] as const);
  return Object.fromEntries(all.sort());
}

describe('PipelineState', () => {
  it('reads a document when it processes it, so that several changes count as one', () => {
    const store = new Store('A');
    const state = stateOf(doubled, [store]);
    for (const n of [1, 2, 3]) {
      store.put('a', n);
      state.changed(0, 'a');
    }
    expect(state.work(100)?.keys).to.deep.equal([{ name: 'a' }]);
    expect(numbers(state)).to.deep.equal({ a: 6 });
    store.put('b', 1);
    state.changed(0, 'b');
    store.documents.delete('b');
    expect(state.work(100)?.keys).to.deep.equal([]);
  });

  it('processes at most the given number of changes, oldest first', () => {
    const store = new Store('A');
    const state = stateOf(doubled, [store]);
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      store.put(name, 1);
      state.changed(0, name);
    }
    const slices: (string[] | undefined)[] = [];
    while (!state.isIdle) slices.push(state.work(2)?.keys.map(({ name }) => name));
    expect(slices).to.deep.equal([['a', 'b'], ['c', 'd'], ['e']]);
    expect(state.work(2)).to.equal(undefined);
  });

  it('returns the event of a document only if no other event came since the document was processed', () => {
    const store = new Store('A');
    const state = stateOf(doubled, [store]);
    const object = { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' } };
    const event = { type: 'added', object, isInInitialList: false } as const;
    store.put('a', 1);
    state.changed(0, 'a', event);
    expect(state.work(100)?.event).to.equal(event);
    store.put('a', 2);
    state.changed(0, 'a', event);
    state.changed(0, 'a', event);
    expect(state.work(100)?.event).to.equal(undefined);
  });

  it('finds all changed documents after a call of allChanged, without a call for each document', () => {
    const store = new Store('A');
    const state = stateOf(doubled, [store]);
    for (const name of ['a', 'b']) {
      store.put(name, 1);
      state.changed(0, name);
    }
    state.work(100);
    store.put('a', 2);
    store.documents.delete('b');
    store.put('c', 1);
    state.allChanged();
    expect(state.work(100)?.keys.map(({ name }) => name)).to.have.members(['a', 'b', 'c']);
    expect(numbers(state)).to.deep.equal({ a: 4, c: 2 });
  });

  it('returns the documents of its sources, not copies', () => {
    const store = new Store('A');
    const state = stateOf([], [store]);
    store.put('a', 1);
    state.changed(0, 'a');
    state.work(100);
    expect(state.desired.get('a')?.document).to.equal(store.documents.get('a'));
  });

  it('joins all pairs of 400 objects that are in two sources', () => {
    const store = new Store('A');
    const other = new Store('B', store.documents);
    const pair = { name: { '@concat': ['$.A.metadata.name', '-', '$.B.metadata.name'] } };
    const state = stateOf([{ '@join': true }, { '@project': { metadata: pair } }], [store, other]);
    for (let n = 0; n < 400; n++) store.put(`a${n}`, n);
    state.allChanged();
    let keys = 0;
    while (!state.isIdle) keys += state.work(400)?.keys.length ?? 0;
    expect(keys).to.equal(160_000);
    expect(state.desired.size).to.equal(160_000);
  });

  it('applies a change of an object to all sources that contain the object at once', () => {
    const [one, other] = [new Store('A'), new Store('B')];
    const same = { '@join': { '@eq': ['$.A.n', '$.B.n'] } };
    const state = stateOf(
      [same, { '@project': { metadata: '$.A.metadata', n: '$.B.n' } }],
      [one, other],
    );
    const put = (n: number): void => {
      one.put('a', n);
      other.documents.set('a', one.documents.get('a') ?? {});
      for (const place of [0, 1]) state.changed(place, 'a');
    };
    put(1);
    state.work(100);
    expect(numbers(state)).to.deep.equal({ a: 1 });
    put(2);
    state.work(1);
    expect([state.isIdle, numbers(state)]).to.deep.equal([true, { a: 2 }]);
    for (const store of [one, other]) store.documents.clear();
    for (const place of [0, 1]) state.changed(place, 'a');
    state.work(1);
    expect([state.isIdle, numbers(state)]).to.deep.equal([true, {}]);
  });

  for (const sources of [1, 2, 3]) {
    it(`reaches the same result in whatever slices and order it processes changes of ${sources} sources`, () => {
      const change = fc.record({
        place: fc.nat(sources - 1),
        name: fc.constantFrom('a', 'b', 'c'),
        document: fc.option(fc.record({ namespace: fc.constantFrom('n', 'm'), spec: randomSpec })),
        // Whether the predicate lets the change pass. If not, the pipeline gets it with the next full reconcile.
        isSeen: fc.boolean(),
        slice: fc.option(fc.integer({ min: 1, max: 3 })),
      });
      const isShared = fc.boolean();
      const property = fc.property(
        scenario(sources),
        fc.array(change),
        isShared,
        ({ kinds, stages }, changes, shares) => {
          const one = new Store('');
          const stores = kinds.map((kind) => new Store(kind, shares ? one.documents : undefined));
          const state = stateOf(stages, stores);
          for (const { place, name, document, isSeen, slice } of changes) {
            if (document === null) stores[place]?.documents.delete(name);
            else {
              const { namespace, spec } = document;
              stores[place]?.documents.set(name, { metadata: { namespace, name }, spec });
            }
            const seen = shares ? stores.keys() : [place];
            for (const each of isSeen ? seen : []) state.changed(each, name);
            if (slice !== null) state.work(slice);
          }
          state.allChanged();
          while (!state.isIdle) state.work(2);
          const fresh = stateOf(stages, stores);
          fresh.allChanged();
          while (!fresh.isIdle) fresh.work(100);
          expect(state.desired).to.deep.equal(fresh.desired);
          expect(failed(state)).to.deep.equal(failed(fresh));
        },
      );
      fc.assert(property, { numRuns: tries(200) });
    });
  }
});

function failed(state: PipelineState): string[] {
  return [...state.failures()].map(({ subject, error }) => `${subject} ${error.message}`).sort();
}
