import { expect } from 'chai';
import fc from 'fast-check';
import jsonpatch from 'fast-json-patch';
import { deepFreeze } from '../../lib/object/deep-freeze.js';
import { applyJsonPatch, JsonPatchError } from '../../lib/object/json-patch.js';
import type { JsonPatchOperation } from '../../lib/object/json-patch.js';

const document = deepFreeze({ a: { b: 1, c: null }, list: [1, 2, 3], 'x/y': { '~': 0 }, '': 'e' });

const apply = (...operations: JsonPatchOperation[]): unknown =>
  applyJsonPatch(document, operations);

describe('applyJsonPatch', () => {
  it('adds members and list entries', () => {
    expect(apply({ op: 'add', path: '/a/d', value: [] })).to.have.deep.nested.property('a.d', []);
    expect(apply({ op: 'add', path: '/a/b', value: 2 })).to.have.nested.property('a.b', 2);
    expect(apply({ op: 'add', path: '/list/0', value: 0 })).to.have.deep.property(
      'list',
      [0, 1, 2, 3],
    );
    expect(apply({ op: 'add', path: '/list/3', value: 4 })).to.have.deep.property(
      'list',
      [1, 2, 3, 4],
    );
    expect(apply({ op: 'add', path: '/list/-', value: 4 })).to.have.deep.property(
      'list',
      [1, 2, 3, 4],
    );
    expect(apply({ op: 'add', path: '', value: 'all' })).to.equal('all');
  });

  it('removes, replaces, copies and moves', () => {
    expect(apply({ op: 'remove', path: '/a/c' })).to.have.deep.property('a', { b: 1 });
    expect(apply({ op: 'remove', path: '/list/1' })).to.have.deep.property('list', [1, 3]);
    expect(apply({ op: 'replace', path: '/list/1', value: 9 })).to.have.deep.property(
      'list',
      [1, 9, 3],
    );
    expect(apply({ op: 'copy', from: '/a', path: '/z' })).to.have.deep.property('z', document.a);
    expect(apply({ op: 'move', from: '/list/0', path: '/list/2' })).to.have.deep.property(
      'list',
      [2, 3, 1],
    );
    expect(apply({ op: 'move', from: '/a', path: '/a' })).to.deep.equal(document);
  });

  it('returns null if it removes the whole document', () => {
    expect(apply({ op: 'remove', path: '' })).to.equal(null);
  });

  it('limits the total number of values that copy operations create', () => {
    const list = { a: Array.from({ length: 600_000 }, () => null) };
    const copy = { op: 'copy', from: '/a', path: '/b' } as const;
    expect(applyJsonPatch(list, [copy])).to.deep.equal({ ...list, b: list.a });
    expect(() => applyJsonPatch(list, [copy, copy])).to.throw('operation 1: copy: the copies have');
    const many = { a: { list: [Array.from({ length: 1_000_000 }, () => 1)] } };
    expect(() => applyJsonPatch(many, [copy])).to.throw('operation 0: copy: the copies have');
  });

  it('rejects unknown options', () => {
    const options = { dialekt: 'rfc6902' } as object;
    expect(() => applyJsonPatch({}, [], options)).to.throw('dialekt');
  });

  it('decodes ~1 and ~0 in a pointer, each only once', () => {
    expect(apply({ op: 'replace', path: '/x~1y/~0', value: 1 })).to.have.deep.property('x/y', {
      '~': 1,
    });
    expect(apply({ op: 'add', path: '/~01', value: 1 })).to.have.property('~1', 1);
    expect(apply({ op: 'test', path: '/', value: 'e' })).to.equal(document);
  });

  it('compares the value in a test operation, even null', () => {
    expect(apply({ op: 'test', path: '/a', value: { c: null, b: 1 } })).to.equal(document);
    expect(apply({ op: 'test', path: '/a/c', value: null })).to.equal(document);
  });

  const failures: [JsonPatchOperation | object, JsonPatchError['problem'], string][] = [
    [{ op: 'test', path: '/a/b', value: '1' }, 'test-failed', 'test /a/b: the value differs'],
    [{ op: 'test', path: '/no', value: null }, 'missing-path', '/no: /no does not exist'],
    [{ op: 'remove', path: '/a/no' }, 'missing-path', '/a/no: /a/no does not exist'],
    [{ op: 'replace', path: '/a/no', value: 1 }, 'missing-path', '/a/no does not exist'],
    [{ op: 'add', path: '/no/b/c', value: 1 }, 'missing-path', '/no/b/c: /no does not exist'],
    [{ op: 'add', path: '/a/b/c', value: 1 }, 'missing-path', '/a/b/c: /a/b does not exist'],
    [{ op: 'add', path: '/list/4', value: 1 }, 'missing-path', '4 is not an index of a list of 3'],
    [
      { op: 'add', path: '/list/01', value: 1 },
      'missing-path',
      '01 is not an index of a list of 3',
    ],
    [{ op: 'add', path: '/list/-1', value: 1 }, 'missing-path', '-1 is not an index'],
    [{ op: 'remove', path: '/list/-' }, 'missing-path', '- is not an index'],
    [{ op: 'replace', path: '/list/3', value: 1 }, 'missing-path', '3 is not an index'],
    [{ op: 'copy', from: '/no', path: '/x' }, 'missing-path', '/no does not exist'],
    [{ op: 'move', from: '/a', path: '/a/b' }, 'malformed', "/a can't move into itself"],
    [{ op: 'test', path: '', value: 1 }, 'test-failed', 'test (root): the value differs'],
    [{ op: 'move', from: '', path: '/a' }, 'malformed', "move: (root) can't move into itself"],
    [{ op: 'add', path: 'a', value: 1 }, 'malformed', 'path a is not a JSON pointer'],
    [{ op: 'add', path: '/~2', value: 1 }, 'malformed', 'path /~2 is not a JSON pointer'],
    [{ op: 'add', path: '/x' }, 'malformed', 'add has no value'],
    [{ op: 'copy', path: '/x' }, 'malformed', 'from is missing'],
    [{ op: 'spam', path: '/x' }, 'malformed', 'unknown op "spam"'],
  ];
  for (const [operation, problem, message] of failures) {
    it(`rejects ${JSON.stringify(operation)}`, () => {
      const patch = [{ op: 'test', path: '', value: document }, operation] as JsonPatchOperation[];
      expect(() => applyJsonPatch(document, patch))
        .to.throw(JsonPatchError, message)
        .that.deep.includes({ problem, index: 1, code: 'InvalidPatch' });
    });
  }

  it('treats __proto__ and constructor as data', () => {
    const path = '/__proto__/polluted';
    expect(() => apply({ op: 'add', path, value: 1 })).to.throw(JsonPatchError, 'does not exist');
    expect(() =>
      apply({ op: 'add', path: '/constructor/prototype/polluted', value: 1 }),
    ).to.throw();
    const added = apply({ op: 'add', path: '/__proto__', value: { polluted: 1 } }) as object;
    expect(Object.keys(added)).to.include('__proto__');
    expect(added).not.to.have.property('polluted');
    expect({}).not.to.have.property('polluted');
    expect(applyJsonPatch(added, [{ op: 'remove', path: '/__proto__' }])).to.deep.equal(document);
  });

  // Seen on kube-apiserver v1.36.3.
  describe('in the dialect of kube-apiserver', () => {
    const lax = (...operations: object[]): unknown =>
      applyJsonPatch(document, operations as JsonPatchOperation[], { dialect: 'kubernetes' });

    it('adds a member that a replace operation does not find', () => {
      const result = lax({ op: 'replace', path: '/a/no', value: 1 });
      expect(result).to.have.deep.property('a', { b: 1, c: null, no: 1 });
    });

    it('treats an absent member as null in a test operation', () => {
      expect(lax({ op: 'test', path: '/a/no', value: null })).to.equal(document);
      expect(lax({ op: 'test', path: '/a/no' })).to.equal(document);
      expect(lax({ op: 'test', path: '/a/c', value: null })).to.equal(document);
      expect(() => lax({ op: 'test', path: '/a/b', value: null })).to.throw('the value differs');
      expect(() => lax({ op: 'test', path: '', value: null })).to.throw('the value differs');
      expect(() => lax({ op: 'test', path: '/no/no', value: null })).to.throw('does not exist');
      expect(() => lax({ op: 'test', path: '/list/3', value: null })).to.throw('not an index');
    });

    it('treats an absent member as null in a copy operation', () => {
      const result = lax({ op: 'copy', from: '/a/no', path: '/a/d' });
      expect(result).to.have.deep.property('a', { b: 1, c: null, d: null });
      expect(() => lax({ op: 'copy', from: '/no/no', path: '/d' })).to.throw('does not exist');
      expect(() => lax({ op: 'move', from: '/a/no', path: '/d' })).to.throw('does not exist');
    });

    it('treats an operation without a value as one with the value null', () => {
      expect(lax({ op: 'add', path: '/a/d' })).to.have.nested.property('a.d', null);
    });

    it('counts negative list indices from the end, and accepts leading zeros in an index', () => {
      const remove = lax({ op: 'remove', path: '/list/-1' });
      expect(remove).to.have.deep.property('list', [1, 2]);
      const add = lax({ op: 'add', path: '/list/-1', value: 4 });
      expect(add).to.have.deep.property('list', [1, 2, 3, 4]);
      const replace = lax({ op: 'replace', path: '/list/01', value: 9 });
      expect(replace).to.have.deep.property('list', [1, 9, 3]);
      expect(() => lax({ op: 'remove', path: '/list/-4' })).to.throw('not an index');
    });

    it('still rejects the removal of an absent member', () => {
      expect(() => lax({ op: 'remove', path: '/a/no' })).to.throw('/a/no does not exist');
    });
  });

  it('returns a document that shares its unchanged parts with the original', () => {
    const result = apply({ op: 'replace', path: '/list/0', value: 9 }) as typeof document;
    expect(result.a).to.equal(document.a);
  });

  it('agrees with fast-json-patch on patches between random documents', () => {
    const key = fc.constantFrom('a', 'b/c', 'd~e', '');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.constant(null), fc.string(), tie('node')),
      node: fc.oneof(
        fc.dictionary(key, tie('tree'), { noNullPrototype: true }),
        fc.array(tie('tree'), { maxLength: 4 }),
      ),
    }));
    const root = fc.dictionary(key, tree, { noNullPrototype: true });
    const property = fc.property(root, root, (from, to) => {
      const operations = jsonpatch.compare(from, to);
      const result = applyJsonPatch(
        deepFreeze(structuredClone(from)),
        operations as JsonPatchOperation[],
      );
      expect(result).to.deep.equal(to);
    });
    fc.assert(property);
  });
});
