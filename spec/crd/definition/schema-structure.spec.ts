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

const setOf = (items: object) => ({ type: 'array', items, 'x-kubernetes-list-type': 'set' });
const embedded = {
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
};
/** Returns an object whose only rule has these members. */
const ruled = (members: object) => ({
  ...keyed,
  'x-kubernetes-validations': [{ rule: 'true', ...members }],
});
const firstRule = 'x-kubernetes-validations[0]';
const supportedTypes =
  'supported values: "array", "boolean", "integer", "number", "object", "string"';

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
    'a whole object with x-kubernetes-int-or-string',
    { 'x-kubernetes-int-or-string': true, 'x-kubernetes-embedded-resource': true },
    'type: Required value: must be object if x-kubernetes-embedded-resource is true',
    'properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    'x-kubernetes-embedded-resource: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
  ],
  [
    'an embedded resource without fields',
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    'properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
  ],
  ['references', { $ref: '#/x' }, '$ref: Forbidden: $ref is not supported'],
  ['a list without items', { type: 'array' }, 'items: Required value: must be specified'],
  [
    'unknown fields that are explicitly not preserved',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
    'x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
  ],
  [
    'the type null',
    { type: 'null' },
    'type: Forbidden: type cannot be set to null, use nullable as an alternative',
    `type: Unsupported value: "null": ${supportedTypes}`,
  ],
  ['an unknown type', { type: 'text' }, `type: Unsupported value: "text": ${supportedTypes}`],
  [
    'an embedded resource without a type',
    embedded,
    'type: Required value: must be object if x-kubernetes-embedded-resource is true',
  ],
  [
    'an embedded list',
    { ...embedded, type: 'array', items: text },
    'type: Invalid value: "array": must be object if x-kubernetes-embedded-resource is true',
  ],
  [
    'an embedded map',
    { ...embedded, type: 'object', additionalProperties: text },
    'additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set',
  ],
  [
    'additionalProperties beside properties',
    { ...keyed, additionalProperties: text },
    'additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
  ],
  [
    'keys of a set',
    { type: 'array', items: text, 'x-kubernetes-list-type': 'set', [keys]: ['k'] },
    'x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty',
  ],
  [
    'a set of sets',
    { type: 'array', 'x-kubernetes-list-type': 'set', items: setOf(text) },
    'items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set',
  ],
  [
    'a set with null',
    setOf({ ...text, nullable: true }),
    'items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set',
  ],
  [
    'a map list of another type',
    { ...mapList, type: 'string', [keys]: ['k'] },
    'type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
    'items: Required value: must have a schema if x-kubernetes-list-type is map',
  ],
  [
    'a map list with null',
    { ...mapList, [keys]: ['k'], items: { ...keyed, nullable: true } },
    'items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map',
  ],
  [
    'a map list without keys',
    { ...mapList, items: keyed },
    `${keys}: Required value: must not be empty if x-kubernetes-list-type is map`,
  ],
  [
    'a key that is not a property',
    { ...mapList, [keys]: ['z'], items: keyed },
    `${keys}: Invalid value: ["z"]: entries must all be names of item properties`,
  ],
  [
    'a key that is a list',
    { ...mapList, [keys]: ['k'], items: { ...keyed, properties: { k: setOf(text) } } },
    'items.properties[k].type: Invalid value: "object": must be a scalar type if parent array\'s x-kubernetes-list-type is map',
  ],
  [
    'an optional key without a default',
    { ...mapList, [keys]: ['k'], items: { type: 'object', properties: { k: text } } },
    'items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
  ],
  [
    'metadata in anyOf',
    { ...text, anyOf: [{ properties: { metadata: { minLength: 1 } } }] },
    'anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context',
  ],
  [
    'the type of items in anyOf',
    { type: 'array', items: text, anyOf: [{ items: { type: 'string' } }] },
    'anyOf[0].items.type: Forbidden: must be empty to be structural',
  ],
  [
    'a blank message of a rule',
    ruled({ message: ' ' }),
    `${firstRule}.message: Invalid value: " ": must be non-empty if specified`,
  ],
  [
    'a message with a line break',
    ruled({ message: 'a\nb' }),
    `${firstRule}.message: Invalid value: "a\\nb": must not contain line breaks`,
  ],
  [
    'a rule with a line break and no message',
    ruled({ rule: 'true ||\nfalse' }),
    `${firstRule}.message: Required value: message must be specified if rule contains line breaks`,
  ],
  [
    'a blank messageExpression',
    ruled({ messageExpression: ' ' }),
    `${firstRule}.messageExpression: Required value: messageExpression must be non-empty if specified`,
  ],
  [
    'a messageExpression of another type',
    ruled({ messageExpression: '1' }),
    `${firstRule}.messageExpression: Invalid value: {"Rule":"true","Message":"","MessageExpression":"1","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string`,
  ],
  [
    'a blank fieldPath',
    ruled({ fieldPath: ' ' }),
    `${firstRule}.fieldPath: Invalid value: " ": must be non-empty if specified`,
    `${firstRule}.fieldPath: Invalid value: " ": must be a valid path`,
  ],
  [
    'a fieldPath with a line break',
    ruled({ fieldPath: '.k\n' }),
    `${firstRule}.fieldPath: Invalid value: ".k\\n": must not contain line breaks`,
    `${firstRule}.fieldPath: Invalid value: ".k\\n": must be a valid path`,
  ],
  [
    'optionalOldSelf in a rule without oldSelf',
    ruled({ optionalOldSelf: true }),
    `${firstRule}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
  ],
];

describe('validateStructure, which checks that a schema is structural', () => {
  for (const [title, a, ...problems] of refused) {
    it(`refuses ${title}`, () => {
      expect(problemsOf(a)).to.deep.equal(problems);
    });
  }

  const roots: readonly (readonly [title: string, root: Schema, problem: string])[] = [
    [
      'a list',
      { type: 'array', items: { type: 'string' } },
      'x.type: Invalid value: "array": must be object at the root',
    ],
    ['no type', {}, 'x.type: Required value: must not be empty at the root'],
    [
      'additionalProperties',
      { type: 'object', additionalProperties: { type: 'string' } },
      'x.additionalProperties: Forbidden: must not be used at the root',
    ],
  ];
  for (const [title, root, problem] of roots) {
    it(`refuses ${title} at the root`, () => {
      const errors = new FieldErrors();
      validateStructure(root, { field: 'x', errors });
      const problems = errors.causes.map(({ field = '', message = '' }) => `${field}: ${message}`);
      expect(problems).to.deep.equal([problem]);
    });
  }

  const forbidden: Readonly<Record<string, readonly [value: unknown, why: string]>> = {
    additionalProperties: [text, 'must be undefined'],
    title: ['A', 'must be empty'],
    description: ['An object', 'must be empty'],
    'x-kubernetes-preserve-unknown-fields': [true, 'must be false'],
    'x-kubernetes-embedded-resource': [true, 'must be false'],
    'x-kubernetes-int-or-string': [true, 'must be false'],
    'x-kubernetes-list-map-keys': [['k'], 'must be empty'],
    'x-kubernetes-list-type': ['atomic', 'must be undefined'],
    'x-kubernetes-map-type': ['atomic', 'must be undefined'],
  };
  for (const [keyword, [value, why]] of Object.entries(forbidden)) {
    it(`refuses ${keyword} in allOf`, () => {
      expect(problemsOf({ ...text, allOf: [{ [keyword]: value }] })).to.include(
        `allOf[0].${keyword}: Forbidden: ${why} to be structural`,
      );
    });
  }

  it('refuses a title at each depth of allOf, anyOf and oneOf', () => {
    const anyOf = [{ title: 'A' }];
    const problem = 'Forbidden: must be empty to be structural';
    expect(problemsOf({ ...text, allOf: [{ anyOf }] })).to.deep.equal([
      `allOf[0].anyOf[0].title: ${problem}`,
    ]);
    expect(problemsOf({ ...text, oneOf: [{ anyOf }, { allOf: [{ anyOf }] }] })).to.deep.equal([
      `oneOf[0].anyOf[0].title: ${problem}`,
      `oneOf[1].allOf[0].anyOf[0].title: ${problem}`,
    ]);
  });

  it('accepts an integer or string in anyOf or in the first allOf', () => {
    const anyOf = [{ type: 'integer' }, { type: 'string' }];
    expect(problemsOf({ 'x-kubernetes-int-or-string': true, anyOf })).to.deep.equal([]);
    expect(problemsOf({ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf }] })).to.deep.equal(
      [],
    );
  });
});
