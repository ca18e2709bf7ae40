import { expect } from 'chai';
import { defineResource, s } from '../../../lib/crd/index.js';
import type { Schema } from '../../../lib/object/schema.js';
import { OperatorError } from '../../../lib/system/operator-error.js';

/** Defines a resource with a property `a`, and generates its CRD. */
function define(a: unknown) {
  const schema = s.object({ spec: s.object({ a: s.typed<unknown>(a as Schema) }) });
  const resource = defineResource({
    group: 'bad.example.com',
    kind: 'Bad',
    versions: [{ name: 'v1', schema }],
  });
  resource.schema();
  return resource;
}

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof OperatorError) return error.code;
    throw error;
  }
  return 'none';
}

function nested(depth: number, inner: unknown): unknown {
  let value = inner;
  for (let count = 0; count < depth; count++) value = { a: value };
  return value;
}

const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;

const anything = { 'x-kubernetes-preserve-unknown-fields': true };
const base = { apiVersion: 'bad.example.com/v1', kind: 'Bad', metadata: { name: 'a' } };

describe('a kind of defineResource with bad input', () => {
  for (const [title, object] of [
    ['null', null],
    ['a string', 'x'],
    ['a list', []],
    ['an empty object', {}],
    ['a cyclic object', { ...base, spec: { a: cycle } }],
    ['an object with 20,000 levels', { ...base, spec: { a: nested(20_000, 'x') } }],
    ['a function', { ...base, spec: { a: () => 1 } }],
  ] as const) {
    it(`throws InvalidObject when it validates ${title}`, () => {
      const resource = define(anything);
      expect(codeOf(() => resource.validate(object as never))).to.equal('InvalidObject');
      expect(codeOf(() => resource.prune(object as never))).to.equal('InvalidObject');
      expect(codeOf(() => resource.withDefaults(object as never))).to.equal('InvalidObject');
    });
  }

  it('cannot be defined if a schema option is not the required list', () => {
    for (const [act, problem] of [
      [() => s.string({ enum: 'A' as never }), 's.string: enum: want a list, got string'],
      [() => s.integer({ enum: 5 as never }), 's.integer: enum: want a list, got number'],
      [() => s.string({ oneOf: {} as never }), 's.string: oneOf: want a list, got object'],
      [
        () => s.array(s.string(), { listMapKeys: 'name' as never }),
        's.array: listMapKeys: want a list, got string',
      ],
    ] as const) {
      expect(act).to.throw(problem).with.property('code', 'InvalidOption');
    }
  });

  const recursive: Record<string, unknown> = { type: 'object' };
  recursive['properties'] = { again: recursive };
  const junctor: Record<string, unknown> = { type: 'string' };
  junctor['anyOf'] = [junctor];
  let deep: unknown = { type: 'string' };
  for (let count = 0; count < 3000; count++) deep = { type: 'object', properties: { deep } };

  for (const [title, a] of [
    ['a cyclic schema', recursive],
    ['an anyOf that contains its schema', junctor],
    ['a schema with 3,000 levels', deep],
    ['a cyclic default', { ...anything, default: cycle }],
    ['a missing schema', undefined],
    ['an undefined rule', { type: 'string', 'x-kubernetes-validations': [undefined] }],
    ['a misspelt field of a rule', s.string({ rules: [{ rule: 'true', mesage: 'a' } as never] })],
    ['rules that are not a list', { type: 'string', 'x-kubernetes-validations': 'self' }],
    ['a built-in type within allOf', s.object({}, { allOf: [s.builtIn('PodSpec')] as never })],
    ['an unknown built-in type', s.builtIn('Nothing' as never)],
    ['25,000 sums', s.integer({ rules: [`self${' + 1'.repeat(25_000)} > 0`] })],
  ] as const) {
    it(`throws InvalidDefinition for ${title}`, () => {
      expect(codeOf(() => define(a))).to.equal('InvalidDefinition');
    });
  }

  it('refuses a built-in type within allOf, with its path', () => {
    const allOf = [s.object({ template: s.builtIn('PodSpec') })] as never;
    const act = () => define(s.object({}, { allOf }));
    expect(act).to.throw('must not be a built-in type within allOf, anyOf, oneOf or not');
  });

  it('throws InvalidDefinition for an unknown scope', () => {
    const versions = [{ name: 'v1', schema: s.object({}) }] as const;
    const scoped = (scope: unknown) => () =>
      defineResource({ group: 'example.com', kind: 'Toy', scope: scope as 'Cluster', versions });
    for (const scope of ['namespaced', 'cluster', '', null]) {
      expect(scoped(scope)).to.throw('scope: must be Namespaced or Cluster');
    }
  });

  it('throws InvalidDefinition for a missing definition', () => {
    expect(codeOf(() => defineResource({} as never))).to.equal('InvalidDefinition');
    expect(codeOf(() => defineResource(undefined as never))).to.equal('InvalidDefinition');
  });

  it('truncates long strings in messages', () => {
    const rules = [`${'('.repeat(50_000)}true${')'.repeat(50_000)}`];
    const act = () => define(s.string({ rules }));
    expect(act).to.throw(OperatorError).with.property('message').with.length.below(1000);
  });

  it('accepts long chains of &&', () => {
    const rules = [Array.from({ length: 6000 }, () => "self != 'x'").join(' && ')];
    const resource = define(s.string({ rules }));
    expect(resource.validate({ ...base, spec: { a: 'y' } } as never)).to.deep.equal([]);
  });
});
