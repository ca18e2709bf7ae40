import { expect } from 'chai';
import fc from 'fast-check';
import { MvccLog } from '../../../lib/apiserver/storage/mvcc-log.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';

const object = (name: string): UnstructuredObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name },
});

describe('MvccLog', () => {
  it('gives every change the next revision as the resourceVersion of a frozen object', () => {
    const log = new MvccLog({ length: 10 });
    const first = log.commit({ collection: 'things', key: 'a', object: object('a') });
    const second = log.commit({ collection: 'others', key: 'b', object: object('b') });
    expect(second.revision).to.equal(first.revision + 1);
    expect(first.object.metadata.resourceVersion).to.equal(String(first.revision));
    expect(() => (first.object.metadata.name = 'x')).to.throw(TypeError);
  });

  it('keeps the latest changes within its limit of bytes, and always the last change', () => {
    const log = new MvccLog({ length: 1_000, bytes: 1_000 });
    const text = (n: number) => ({ ...object('a'), text: 'x'.repeat(n) });
    const things = log.collection('things');
    for (let n = 0; n < 20; n++) {
      log.commit({ collection: 'things', key: 'a', object: text(200) });
    }
    expect(log.compactedRevision).to.be.within(16, 18);
    expect(things.entryAt(things.positionAfter(log.compactedRevision))).to.not.equal(undefined);
    const last = log.commit({ collection: 'things', key: 'a', object: text(5_000) });
    expect(log.compactedRevision).to.equal(last.revision - 1);
    expect(things.entryAt(things.end - 1)).to.equal(last);
  });

  it('restores every state covered by the log', () => {
    const step = fc.record({ key: fc.constantFrom('a', 'b', 'c'), deleted: fc.boolean() });
    const property = fc.property(fc.array(step), (steps) => {
      const log = new MvccLog({ length: 1000 });
      const collection = log.collection('things');
      const states: [number, string][] = [];
      const shown = (): string =>
        collection
          .keys('')
          .map((key) => collection.get(key)?.metadata.resourceVersion)
          .join();
      for (const { key, deleted } of steps) {
        if (deleted && collection.get(key) === undefined) continue;
        log.commit({ collection: 'things', key, object: object(key), deleted });
        states.push([log.revision, shown()]);
      }
      for (const [revision, state] of states) {
        const before = collection.differencesAt(revision);
        const keys = [...new Set([...collection.keys(''), ...before.keys()])].sort();
        const then = keys.map((key) => (before.has(key) ? before.get(key) : collection.get(key)));
        const versions = then.flatMap((one) => one?.metadata.resourceVersion ?? []);
        expect(versions.join()).to.equal(state);
      }
    });
    fc.assert(property);
  });

  it('discards the oldest changes of all collections, and reports the compacted revision', () => {
    const log = new MvccLog({ length: 3 });
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      log.commit({ collection: key === 'b' ? 'others' : 'things', key, object: object(key) });
    }
    const things = log.collection('things');
    expect(log.compactedRevision).to.equal(log.revision - 3);
    expect(things.lost(0)).to.equal(true);
    const position = things.positionAfter(log.compactedRevision);
    expect(things.lost(position)).to.equal(false);
    expect(things.entryAt(position)?.key).to.equal('c');
    expect(things.keys('')).to.deep.equal(['a', 'c', 'd', 'e']);
  });

  it('notifies listeners in the order of changes, even if a listener commits a change', () => {
    const log = new MvccLog({ length: 10 });
    const heard: number[] = [];
    log.subscribe(({ key }) => {
      if (key === 'a') log.commit({ collection: 'things', key: 'b', object: object('b') });
    });
    log.subscribe(({ revision }) => heard.push(revision));
    log.commit({ collection: 'things', key: 'a', object: object('a') });
    expect(heard)
      .to.deep.equal(heard.toSorted((one, other) => one - other))
      .and.to.have.length(2);
  });
});
