import { expect } from 'chai';
import { validateRules } from '../../../lib/crd/rules/validate-rules.js';
import { FieldErrors } from '../../../lib/crd/validation/field-errors.js';

type Json = Readonly<Record<string, unknown>>;

interface Update {
  readonly old?: unknown;
  readonly isUpdate?: boolean;
}

/** Returns the causes of a value at `a`, and the warnings. */
function verdictOf(schema: Json, value: unknown, update: Update = {}): object {
  const errors = new FieldErrors();
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  validateRules(value, {
    schema: schema,
    path: 'a',
    errors,
    warn,
    old: undefined,
    ...update,
  });
  const causes = errors.causes.map(
    ({ reason, field, message }) => `${reason} ${field}: ${message}`,
  );
  return { causes, warnings };
}

const causesOf = (schema: Json, value: unknown, update?: Update): unknown =>
  (verdictOf(schema, value, update) as { readonly causes: unknown }).causes;

const integer = { type: 'integer' };
const text = { type: 'string' };
const ruled = (schema: Json, ...rules: readonly (string | Json)[]): Json => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});
const positive = ruled(integer, 'self > 0');
const isNegative = (at: string) =>
  `FieldValueInvalid ${at}: Invalid value: -1: failed rule: self > 0`;
const objectOf = (properties: Json): Json => ({ type: 'object', properties });

describe('validateRules', () => {
  it('evaluates rules of fields, list items, map values and allOf, and names the path of each', () => {
    const schema = {
      ...objectOf({
        member: positive,
        list: { type: 'array', items: positive },
        map: { type: 'object', additionalProperties: positive },
        own: integer,
      }),
      allOf: [{ properties: { own: ruled({}, 'self > 0') } }],
    };
    const value = { member: -1, list: [1, -1], map: { 'x.y': -1, z: null }, own: -1, other: -1 };
    expect(causesOf(schema, value)).to.have.members(
      ['a.own', 'a.member', 'a.list[1]', 'a.map[x.y]'].map(isNegative),
    );
    expect(causesOf(schema, { member: 1, list: [], map: {}, own: 1 })).to.deep.equal([]);
    expect([null, undefined].map((none) => causesOf(positive, none))).to.deep.equal([[], []]);
  });

  it('reports a failed rule with its reason and its fieldPath', () => {
    const rule = (reason: string | undefined, fieldPath?: string) => ({
      rule: 'false',
      message: ' no ',
      ...{ reason, fieldPath },
    });
    const reasons = ['FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate', undefined];
    expect(causesOf(ruled(integer, ...reasons.map((one) => rule(one))), 1)).to.deep.equal([
      'FieldValueForbidden a: Forbidden: no',
      'FieldValueRequired a: Required value: no',
      'FieldValueDuplicate a: Duplicate value: 1',
      'FieldValueInvalid a: Invalid value: 1: no',
    ]);
    const map = { type: 'object', additionalProperties: text };
    const object = objectOf({ b: map });
    const rules = reasons.map((one) => rule(one, '.b'));
    expect(causesOf(ruled(object, ...rules, rule(undefined, ".b['x.y']")), {})).to.deep.equal([
      'FieldValueForbidden a.b: Forbidden: no',
      'FieldValueRequired a.b: Required value: no',
      'FieldValueDuplicate a.b: Duplicate value',
      'FieldValueInvalid a.b: Invalid value: no',
      'FieldValueInvalid a.b[x.y]: Invalid value: no',
    ]);
    const list = ruled({ type: 'array', items: text }, rule('FieldValueDuplicate'));
    expect(causesOf(list, [])).to.deep.equal(['FieldValueDuplicate a: Duplicate value']);
    expect(causesOf(ruled(map, rule(undefined, "['k']")), {})).to.deep.equal([
      'FieldValueInvalid a[k]: Invalid value: no',
    ]);
  });

  it('reports the text of messageExpression instead of the message, unless the text is not usable', () => {
    const said = (messageExpression: string, message?: string) =>
      causesOf(ruled(text, { rule: ' self == "" ', messageExpression, message }), 'x');
    const cause = (message: string) => [`FieldValueInvalid a: Invalid value: "x": ${message}`];
    expect(said('" got " + self + " "')).to.deep.equal(cause('got x'));
    expect(said('" "', 'fixed')).to.deep.equal(cause('fixed'));
    expect(said('"a\\nb"', 'fixed')).to.deep.equal(cause('fixed'));
    expect(said('"a".substring(5)', 'fixed')).to.deep.equal(cause('fixed'));
    expect(said('"a".substring(5)')).to.deep.equal(cause('failed rule: self == ""'));
    const long = (count: number) => `"${'é'.repeat(count)}"`;
    expect(said(long(2560))).to.deep.equal(cause('é'.repeat(2560)));
    expect(said(long(2561), 'fixed')).to.deep.equal(cause('fixed'));
  });

  it('reports rules that fail, do not compile, or read a value that does not fit the schema', () => {
    const cause = (message: string) => [`FieldValueInvalid a: Invalid value: "string": ${message}`];
    const failing = { rule: 'self.substring(5) == ""', message: ' no ' };
    expect(causesOf(ruled(text, failing), 'x')).to.deep.equal(
      cause('index out of range: 5 evaluating rule: no'),
    );
    expect(causesOf(ruled(text, 'dyn(1).contains("a")'), 'x')).to.deep.equal(
      cause(
        '\'no such overload\': call arguments did not match a supported operator, function or macro signature for rule: dyn(1).contains("a")',
      ),
    );
    expect(causesOf(ruled(text, '1'), 'x')).to.deep.equal(
      cause('rule compile error: cel expression must evaluate to a bool'),
    );
    expect(causesOf(ruled(text, 'true', 'self == ""'), 5)).to.deep.equal(
      cause('invalid data, expected string, got number evaluating rule: self == ""'),
    );
    expect(causesOf(ruled({}, 'true'), 5)).to.deep.equal([
      'FieldValueInvalid a: Invalid value: "": rule compile error: failed to convert to declType for CEL validation rules',
    ]);
  });

  it('stops evaluating at a messageExpression that costs too much', () => {
    const loop = 'self.all(x, self.all(y, self.all(z, x + y + z >= 0))) ? "a" : "b"';
    const list = ruled(
      { type: 'array', items: integer },
      { rule: 'false', messageExpression: loop },
      'false',
    );
    const numbers = Array.from({ length: 150 }, (_, index) => index);
    expect(causesOf(list, numbers)).to.deep.equal([
      'FieldValueInvalid a: Invalid value: failed rule: false',
    ]);
  });

  it('evaluates transition rules only with an old value, unless oldSelf is optional', () => {
    const rule = 'self >= oldSelf';
    const schema = ruled(integer, rule);
    expect(causesOf(schema, 1)).to.deep.equal([]);
    expect(causesOf(schema, 1, { old: null })).to.deep.equal([]);
    expect(causesOf(schema, 1, { old: 2 })).to.deep.equal([
      `FieldValueInvalid a: Invalid value: 1: failed rule: ${rule}`,
    ]);
    const optional = ruled(integer, { rule: 'oldSelf.hasValue()', optionalOldSelf: true });
    expect(causesOf(optional, 1, { old: 2 })).to.deep.equal([]);
    expect(causesOf(optional, 1)).to.deep.equal([
      'FieldValueInvalid a: Invalid value: 1: failed rule: oldSelf.hasValue()',
    ]);
  });

  it('passes rules the old value of fields, map values and list entries with a key', () => {
    const growing = ruled(integer, 'self >= oldSelf');
    const schema = objectOf({
      member: growing,
      map: { type: 'object', additionalProperties: growing },
      entries: {
        ...{ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
        items: objectOf({ k: text, n: growing }),
      },
      list: { type: 'array', items: growing },
    });
    const old = {
      member: 2,
      map: { x: 2, y: 1 },
      entries: [
        { k: 'x', n: 1 },
        { k: 'y', n: 2 },
      ],
      list: [2],
    };
    const value = {
      member: 1,
      map: { x: 1, y: 1, toString: 0 },
      entries: [
        { k: 'y', n: 1 },
        { k: 'x', n: 1 },
        { k: 'z', n: 0 },
      ],
      list: [1],
    };
    expect(causesOf(schema, value, { old })).to.deep.equal(
      ['a.member', 'a.map[x]', 'a.entries[0].n'].map(
        (field) => `FieldValueInvalid ${field}: Invalid value: 1: failed rule: self >= oldSelf`,
      ),
    );
    expect(causesOf(schema, value, { old: 5 })).to.deep.equal([]);
    expect(
      causesOf(schema, value, { old: { ...old, list: 2, entries: {}, map: [] } }),
    ).to.have.length(1);
  });

  it('warns about unchanged parts of an update that violate a rule instead of refusing them, except for transition rules', () => {
    const schema = objectOf({
      n: ruled(integer, 'self > 0', 'oldSelf > 0'),
      map: { type: 'object', additionalProperties: positive },
      list: { type: 'array', items: positive },
      entries: {
        ...{ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
        items: objectOf({ k: text, n: positive }),
      },
    });
    const old = { n: -1, map: { x: -1, y: 1 }, list: [-1], entries: [{ k: 'x', n: -1 }] };
    const warning = (at: string) => `${at}: Invalid value: -1: failed rule: self > 0`;
    const transition = 'FieldValueInvalid a.n: Invalid value: -1: failed rule: oldSelf > 0';
    const changed = {
      ...old,
      map: { x: -1, y: -1 },
      list: [-1, 1],
      entries: [{ k: 'y', n: -1 }, ...old.entries],
    };
    expect(verdictOf(schema, changed, { old, isUpdate: true })).to.deep.equal({
      causes: [transition, ...['a.map[y]', 'a.list[0]', 'a.entries[0].n'].map(isNegative)],
      warnings: ['a.n', 'a.map[x]', 'a.entries[1].n'].map(warning),
    });
    expect(verdictOf(schema, old, { old, isUpdate: true })).to.deep.equal({
      causes: [transition],
      warnings: ['a.n', 'a.map[x]', 'a.list[0]', 'a.entries[0].n'].map(warning),
    });
    expect(verdictOf(schema, old, { old })).to.deep.equal({
      causes: [
        isNegative('a.n'),
        transition,
        ...['a.map[x]', 'a.list[0]', 'a.entries[0].n'].map(isNegative),
      ],
      warnings: [],
    });
  });

  it('passes rules the names and values of maps and objects, and escapes the names of declared fields', () => {
    const map = { type: 'object', additionalProperties: integer };
    const object = objectOf({
      'a-b': integer,
      c__d: integer,
      '1': integer,
      namespace: integer,
      n: { ...integer, nullable: true },
    });
    for (const [schema, value, rule] of [
      [map, { 'a-b': 1, in: 2 }, 'self.all(k, k == "a-b" || k == "in") && self["a-b"] == 1'],
      [map, { x: 1 }, '!("y" in self) && self.size() == 1'],
      [
        object,
        { 'a-b': 1, c__d: 2, namespace: 3 },
        'self.a__dash__b == 1 && self.c__underscores__d == 2 && self.__namespace__ == self.namespace',
      ],
      [object, { n: null }, '!has(self.n)'],
      [
        { ...map, additionalProperties: { ...integer, nullable: true } },
        { x: null },
        '"x" in self && dyn(self.x) == null',
      ],
    ] as const) {
      expect(causesOf(ruled(schema, rule), value), rule).to.deep.equal([]);
    }
  });
});
