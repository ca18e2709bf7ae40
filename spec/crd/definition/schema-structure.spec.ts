import { expect } from 'chai';
import { validateStructure } from '../../../lib/crd/definition/schema-structure.js';
import { FieldErrors } from '../../../lib/crd/validation/field-errors.js';
import type { Schema } from '../../../lib/object/schema.js';

/** Returns the problems of a property `a`: fields relative to it, and messages. */
function problemsOf(a: unknown): string[] {
  const errors = new FieldErrors();
  const schema = { type: 'object', properties: { a } } as Schema;
  validateStructure(schema, { field: 'x', errors });
  return errors.causes.map(({ field = '', message = '' }) => {
    return `${field.replace(/^x\.properties\[a\]\.?/, '')}: ${message}`;
  });
}

const text = { type: 'string' };
const keyed = { type: 'object', properties: { k: text }, required: ['k'] };
const mapList = { type: 'array', 'x-kubernetes-list-type': 'map' };
const keys = 'x-kubernetes-list-map-keys';

// Messages of the real server (v1.36).
const refused: readonly (readonly [title: string, a: unknown, ...problems: readonly string[]])[] = [
  [
    'a default below the minimum',
    { type: 'integer', minimum: 5, default: 1 },
    'default: Invalid value: 1:  in body should be greater than or equal to 5',
  ],
  [
    'a default of another type',
    { ...text, default: 1 },
    'default: Invalid value: "integer":  in body must be of type string: "integer"',
  ],
  [
    'a default outside the enum',
    { ...text, enum: ['a'], default: 'b' },
    'default: Unsupported value: "b": supported values: "a"',
  ],
  [
    'a default with an unknown field',
    { type: 'object', properties: { x: text }, default: { y: 1 } },
    'default: Invalid value: {"y":1}: must not have unknown fields',
  ],
  ['a default without a required field', { ...keyed, default: {} }, 'default.k: Required value'],
  [
    'a default that violates a rule',
    { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 3' }] },
    'default: Invalid value: 1: failed rule: self > 3',
  ],
  [
    'a pattern that Go does not support',
    { ...text, pattern: '^(?!x).*$' },
    'pattern: Invalid value: "^(?!x).*$": must be a valid regular expression, but isn\'t: error parsing regexp: invalid or unsupported Perl syntax: `(?!`',
  ],
  [
    'a type in anyOf',
    { ...text, anyOf: [{ type: 'string' }] },
    'anyOf[0].type: Forbidden: must be empty to be structural',
  ],
  [
    'a default within anyOf',
    { type: 'object', properties: { x: text }, anyOf: [{ properties: { x: { default: 'x' } } }] },
    'anyOf[0].properties[x].default: Forbidden: must be undefined to be structural',
  ],
  [
    'null in not',
    { ...text, not: { nullable: true } },
    'not.nullable: Forbidden: must be false to be structural',
  ],
  [
    'rules in oneOf',
    { ...text, oneOf: [{ 'x-kubernetes-validations': [{ rule: 'true' }] }] },
    'oneOf[0].x-kubernetes-validations: Forbidden: must be empty to be structural',
  ],
  [
    'a map list of strings',
    { ...mapList, [keys]: ['k'], items: text },
    'items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
  ],
  [
    'a duplicate key',
    { ...mapList, [keys]: ['k', 'k'], items: keyed },
    `${keys}: Invalid value: ["k","k"]: must not contain duplicate entries`,
  ],
  [
    'a nullable key',
    {
      ...mapList,
      [keys]: ['k'],
      items: { ...keyed, properties: { k: { ...text, nullable: true } } },
    },
    'items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
  ],
  [
    'keys without a map list',
    { type: 'array', items: keyed, [keys]: ['k'] },
    'x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty',
  ],
  [
    'a set of granular objects',
    { type: 'array', items: keyed, 'x-kubernetes-list-type': 'set' },
    'items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
  ],
  [
    'a map type of a list',
    { type: 'array', items: text, 'x-kubernetes-map-type': 'atomic' },
    'type: Invalid value: "array": must be object if x-kubernetes-map-type is specified',
  ],
  [
    'uniqueItems',
    { type: 'array', items: text, uniqueItems: true },
    'uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
  ],
  [
    'preserved unknown fields with x-kubernetes-int-or-string',
    { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true },
    'x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
  ],
  [
    'an embedded resource without fields',
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    'properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
  ],
  ['references', { $ref: '#/x' }, '$ref: Forbidden: $ref is not supported'],
];

describe('validateStructure', () => {
  for (const [title, a, ...problems] of refused) {
    it(`refuses ${title}`, () => {
      expect(problemsOf(a)).to.deep.equal(problems);
    });
  }

  it('accepts an integer or string in anyOf or in the first allOf', () => {
    const anyOf = [{ type: 'integer' }, { type: 'string' }];
    expect(problemsOf({ 'x-kubernetes-int-or-string': true, anyOf })).to.deep.equal([]);
    expect(problemsOf({ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf }] })).to.deep.equal(
      [],
    );
  });
});
