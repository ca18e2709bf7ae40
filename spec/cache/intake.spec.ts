import { expect } from 'chai';
import fc from 'fast-check';
import { StringPool, newIntake } from '../../lib/cache/intake.js';
import type { Intake, IntakeOptions } from '../../lib/cache/intake.js';
import { deepFreeze } from '../../lib/object/deep-freeze.js';
import type { KubernetesObject, ObjectMeta } from '../../lib/object/kubernetes-object.js';

interface Thing extends KubernetesObject {
  readonly spec: unknown;
}

function intake(options: Partial<IntakeOptions<Thing>> = {}): Intake<Thing> {
  const type = { group: '', version: 'v1', kind: 'O', plural: 'os', namespaced: true };
  return newIntake<Thing>({
    type,
    keepManagedFields: () => false,
    metadataOnly: false,
    freeze: true,
    strings: new StringPool(),
    ...options,
  });
}

function thing(text = 'a text that all have', more: ObjectMeta = {}): Thing {
  const labels = { app: 'the same application' };
  const metadata = { name: 'the name of an object', namespace: 'a-namespace', labels, uid: 'u' };
  const long = 'l'.repeat(60);
  const spec = { list: [text, { short: 'z' }], long, number: 1, nothing: null };
  return { apiVersion: 'v1', kind: 'O', metadata: { ...metadata, ...more }, spec };
}

/** JSON with keys that exist on Object.prototype. */
const values = fc.jsonValue({ maxDepth: 4 }).map((value): unknown => {
  const text = JSON.stringify({ value, constructor: {}, there: 'is a longer text' });
  return JSON.parse(text.replace('"there"', '"__proto__":{},"there"'));
});

function expectFrozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  expect(Object.isFrozen(value)).to.equal(true);
  for (const inner of Object.values(value)) expectFrozen(inner);
}

describe('newIntake, which prepares objects for the cache', () => {
  it('changes no values except dropped fields, whatever version of the object is stored', () => {
    const property = fc.property(values, values, fc.boolean(), (one, other, isSame) => {
      const take = intake();
      const of = (spec: unknown): Thing => ({ ...thing(), spec: structuredClone(spec) });
      const stored = take(of(one));
      const taken = take(of(isSame ? one : other), stored);
      expect(JSON.stringify(taken)).to.equal(JSON.stringify(of(isSame ? one : other)));
      expectFrozen(taken);
    });
    fc.assert(property);
  });

  it('shares every unchanged part with the stored version of the object', () => {
    const take = intake();
    const stored = take(thing('a text', { resourceVersion: '1', generation: 1 }));
    const changed = thing('another text', { resourceVersion: '2', generation: 1 });
    const { metadata, spec } = take(changed, stored) as Thing & { spec: { list: unknown[] } };
    expect(metadata.labels).to.equal(stored.metadata.labels);
    expect(spec.list[1]).to.equal((stored.spec as typeof spec).list[1]);
    expect(spec).to.deep.equal(thing('another text').spec);
  });

  it('does not share a part in which fields were added or removed', () => {
    const take = intake();
    const labels = { app: 'web', tier: 'front' };
    const [few, many] = [thing('', { labels: { app: 'web' } }), thing('', { labels })];
    const stored = take(structuredClone(many));
    expect(take(structuredClone(few), stored)).to.deep.equal(few);
    expect(take(structuredClone(many), take(structuredClone(few)))).to.deep.equal(many);
    expect(take({ ...thing(), spec: ['a'] }, take({ ...thing(), spec: { 0: 'a' } })).spec).to.eql([
      'a',
    ]);
  });

  it('drops managedFields in any place of the metadata, and the last-applied annotation', () => {
    const managedFields = [{ manager: 'm' }];
    const last = 'kubectl.kubernetes.io/last-applied-configuration';
    const take = intake();
    expect(take(thing('', { managedFields }))).to.deep.equal(thing(''));
    const early = { ...thing(''), metadata: { managedFields, ...thing().metadata } };
    expect(take(early)).to.deep.equal(thing(''));
    const annotations = { [last]: '{}', kept: 'yes' };
    const taken = take(thing('', { annotations, managedFields }));
    expect(taken).to.deep.equal(thing('', { annotations: { kept: 'yes' } }));
  });

  it('leaves a frozen object unchanged, since another store may share it', () => {
    const managedFields = [{ manager: 'm' }];
    const object = deepFreeze(thing('', { managedFields }));
    expect(intake()(object)).to.deep.equal(thing(''));
    expect(object).to.deep.equal(thing('', { managedFields }));
  });

  it('accepts frozen objects with shared strings, and checks the depth of transformed objects', () => {
    const take = intake();
    for (const name of ['the first object', 'the second object']) {
      expect(take(deepFreeze(thing('', { name })))).to.deep.equal(thing('', { name }));
    }
    const deep = JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`) as unknown;
    const deepening = intake({ transform: (object) => ({ ...object, spec: deep }) });
    expect(() => deepening(deepFreeze(thing())))
      .to.throw()
      .with.property('code', 'TooDeep');
  });

  for (const field of ['name', 'namespace', 'resourceVersion']) {
    it(`refuses a transform that changes ${field}, or that returns no metadata`, () => {
      const problem = 'transform must keep metadata.name, namespace and resourceVersion';
      const changing = intake({
        transform: ({ metadata, ...rest }) => ({
          ...rest,
          metadata: { ...metadata, [field]: '7' },
        }),
      });
      expect(() => changing(thing('', { resourceVersion: '1' }))).to.throw(problem);
      for (const made of [{}, undefined]) {
        const without = intake({ transform: () => made as Thing });
        expect(() => without(thing('', { resourceVersion: '1' }))).to.throw(problem);
      }
    });
  }

  it('shares no part between versions that are not frozen', () => {
    const take = intake({ freeze: false });
    const stored = take(thing());
    expect(take(thing(), stored).metadata.labels).to.not.equal(stored.metadata.labels);
  });

  it('does not share strings that are short, long or unique', () => {
    const strings = new StringPool();
    intake({ strings })(thing());
    // The label, the namespace and the string in the spec.
    expect(strings.size).to.equal(3);
  });

  it('stops sharing strings in a field whose strings all differ, and continues in other fields', () => {
    const strings = new StringPool();
    const take = intake({ strings });
    for (let n = 0; n < 5_000; n++) take(thing(`a text of object ${n}`));
    const { size } = strings;
    take(thing('a text that is new'));
    expect(strings.size).to.equal(size);
    take(thing('', { labels: { other: 'another application' } }));
    expect(strings.size).to.equal(size + 1);
  });
});

describe('StringPool', () => {
  it('returns the first copy of a string that it has', () => {
    const pool = new StringPool();
    expect(pool.shared('text')).to.equal(undefined);
    expect(pool.shared('text')).to.equal('text');
  });

  it('keeps a limited number of strings, including the recently used ones', () => {
    const pool = new StringPool();
    for (let n = 0; n < 100_000; n++) {
      pool.shared(`text ${n}`);
      expect(pool.shared('used') === undefined).to.equal(n === 0);
    }
    expect(pool.size).to.be.at.most(2 * 4_096 + 1);
  });
});
