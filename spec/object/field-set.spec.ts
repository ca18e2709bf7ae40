import { expect } from 'chai';
import fc from 'fast-check';
import type { FieldPath } from '../../lib/object/field-path.js';
import { fieldPath } from '../../lib/object/field-path.js';
import { FieldSet } from '../../lib/object/field-set.js';
import type { FieldsV1 } from '../../lib/object/kubernetes-object.js';
import { recordings } from '../apiserver/structured-merge/scenarios/recording.js';

// Few elements, so that sets overlap.
const element = fc.constantFrom('f:a', 'f:b', 'k:{"n":"x"}', 'k:{"n":10}', 'k:{"n":9}', 'v:"s"');
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 8 });

/** Returns paths as strings: the model that a set must match. */
const texts = (list: readonly FieldPath[]) => new Set(list.map((each) => each.join('|')));
const members = (set: FieldSet) => texts(set.paths());

const pairs = (check: (a: FieldPath[], b: FieldPath[]) => void) => {
  fc.assert(fc.property(paths, paths, check));
};

describe('FieldSet', () => {
  it('contains exactly the paths from which it was created', () => {
    pairs((a, b) => {
      const set = FieldSet.of(...a);
      expect(members(set)).to.deep.equal(texts(a));
      expect(set.paths().length).to.equal(texts(a).size);
      expect(set.isEmpty).to.equal(a.length === 0);
      for (const each of b) expect(set.has(each)).to.equal(texts(a).has(each.join('|')));
    });
  });

  it('computes union, intersection and difference by path', () => {
    pairs((a, b) => {
      const [left, right] = [FieldSet.of(...a), FieldSet.of(...b)];
      const other = texts(b);
      const filtered = (wanted: boolean) =>
        texts(a.filter((each) => other.has(each.join('|')) === wanted));
      expect(members(left.union(right))).to.deep.equal(texts([...a, ...b]));
      expect(members(left.intersection(right))).to.deep.equal(filtered(true));
      expect(members(left.difference(right))).to.deep.equal(filtered(false));
      expect(left.covers(right)).to.equal(right.difference(left).isEmpty);
    });
  });

  it('subtracts in recursiveDifference also the paths below the paths of the other set', () => {
    pairs((a, b) => {
      const other = texts(b);
      const isBelow = (each: FieldPath) =>
        each.some((_, depth) => other.has(each.slice(0, depth + 1).join('|')));
      const wanted = texts(a.filter((each) => !isBelow(each)));
      const rest = FieldSet.of(...a).recursiveDifference(FieldSet.of(...b));
      expect(members(rest)).to.deep.equal(wanted);
    });
  });

  it('returns its leaves, the paths below which it contains no path', () => {
    pairs((a) => {
      const leaves = a.filter(
        (each) => !a.some((other) => other.length > each.length && startsWith(other, each)),
      );
      expect(members(FieldSet.of(...a).leaves())).to.deep.equal(texts(leaves));
    });
  });

  it('returns the subset below an element', () => {
    pairs((a) => {
      const wanted = a.filter(([first, ...rest]) => first === 'f:a' && rest.length > 0);
      const below = FieldSet.of(...a).below('f:a');
      expect(members(below)).to.deep.equal(texts(wanted.map(([, ...rest]) => rest)));
    });
  });

  it('has the same serialized form in whatever order its paths were added', () => {
    pairs((a, b) => {
      const set = FieldSet.of(...a, ...b);
      const again = FieldSet.of(...b.toReversed()).union(FieldSet.of(...a.toReversed()));
      expect(JSON.stringify(again.toFieldsV1())).to.equal(JSON.stringify(set.toFieldsV1()));
      expect(again.equals(set)).to.equal(true);
      expect(again.equals(set.with(['f:other']))).to.equal(false);
    });
  });

  it('returns the same instance when an operation changes nothing', () => {
    pairs((a, b) => {
      const [set, other] = [FieldSet.of(...a), FieldSet.of(...b)];
      const both = set.union(other);
      expect(both.union(set)).to.equal(both);
      expect(both.difference(FieldSet.empty)).to.equal(both);
      const rest = set.difference(other);
      expect(rest.difference(other)).to.equal(rest);
      expect(both.recursiveDifference(FieldSet.of(['f:other']))).to.equal(both);
    });
  });

  it('can be parsed from its serialized form, even if the members are in another order', () => {
    pairs((a) => {
      const set = FieldSet.of(...a);
      const parsed = JSON.parse(JSON.stringify(set.toFieldsV1())) as FieldsV1;
      if (!set.isEmpty) expect(FieldSet.fromFieldsV1(parsed).toFieldsV1()).to.equal(parsed);
      const shuffled = reversed(parsed);
      const text = JSON.stringify(FieldSet.fromFieldsV1(shuffled).toFieldsV1());
      expect(text).to.equal(JSON.stringify(parsed));
    });
  });

  it('serializes sets like a real server', () => {
    const entries = ['ownership', 'structures', 'custom']
      .flatMap(recordings)
      .flatMap(({ steps }) => steps.map(({ after }) => after))
      .flatMap((after) => (after === 'same' ? [] : (after?.metadata.managedFields ?? [])));
    expect(entries.length).to.be.greaterThan(100);
    for (const { fieldsV1 = {} } of entries) {
      const read = FieldSet.fromFieldsV1(reversed(fieldsV1));
      expect(JSON.stringify(read.toFieldsV1())).to.equal(JSON.stringify(fieldsV1));
    }
  });

  it('lists shorter paths before longer ones', () => {
    const set = FieldSet.of(fieldPath('a', 'b'), fieldPath('c'), fieldPath('a'));
    expect(set.toString()).to.equal('.a\n.c\n.a.b');
  });

  it('normalizes serialized sets that clients wrote', () => {
    const fields = {
      '.': {},
      'x:new': { 'f:a': {} },
      'f:b': { 'x:new': {} },
      'k:{ "b":1, "a":2 }': { '.': {} },
      'k:{"a":2,"b":1}': { 'f:c': {} },
      'f:a': null,
    } as unknown as FieldsV1;
    const expected = '{"f:a":{},"f:b":{},"k:{\\"a\\":2,\\"b\\":1}":{".":{},"f:c":{}}}';
    expect(JSON.stringify(FieldSet.fromFieldsV1(fields).toFieldsV1())).to.equal(expected);
  });

  it('parses the same elements in another order or notation as the same set', () => {
    const port = 'k:{"containerPort":80,"protocol":"TCP"}';
    const plain: FieldsV1 = { 'f:a': { '.': {}, 'f:b': {}, [port]: { '.': {}, 'v:"s"': {} } } };
    expect(FieldSet.fromFieldsV1(plain).toFieldsV1()).to.equal(plain);
    const spaced = 'k:{"protocol":"TCP", "containerPort":80}';
    const others: object[] = [
      reversed(plain),
      { 'f:a': { '.': {}, 'f:b': {}, [spaced]: { '.': {}, 'v:"s"': {} } } },
      { 'f:a': { '.': {}, 'f:b': {}, [spaced]: { 'v:"s"': {} }, [port]: {} } },
      { 'f:a': { '.': {}, 'f:b': null, [port]: { '.': {}, 'v:"s"': { '.': {} } } } },
      { '.': {}, ...plain },
    ];
    for (const fields of others) {
      const read = FieldSet.fromFieldsV1(fields as FieldsV1);
      expect(JSON.stringify(read.toFieldsV1())).to.equal(JSON.stringify(plain));
      expect(read.equals(FieldSet.fromFieldsV1(plain))).to.equal(true);
    }
  });

  for (const fields of [{ spec: {} }, { 'f:a': 5 }, { 'f:a': { 'k:x': {} } }, { 'f:a': [] }]) {
    it(`rejects ${JSON.stringify(fields)}`, () => {
      const read = () => FieldSet.fromFieldsV1(fields as unknown as FieldsV1);
      expect(read).to.throw('path element').with.property('code', 'InvalidValue');
    });
  }

  it('does not contain the empty path, which names the whole object', () => {
    expect(FieldSet.of([]).isEmpty).to.equal(true);
    expect(FieldSet.empty.has([])).to.equal(false);
  });
});

function startsWith(whole: FieldPath, start: FieldPath): boolean {
  return start.every((each, at) => whole[at] === each);
}

function reversed(fields: FieldsV1): FieldsV1 {
  const entries = Object.entries(fields).toReversed();
  return Object.fromEntries(entries.map(([name, below]) => [name, reversed(below)]));
}
