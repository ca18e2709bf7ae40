import { expect } from 'chai';
import { s } from '../../../lib/crd/index.js';

type Json = Readonly<Record<string, unknown>>;

const text = { type: 'string' };

const refused: readonly (readonly [title: string, json: Json, message: string])[] = [
  [
    'unique objects',
    {
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'object' }, uniqueItems: true } },
    },
    'JSON Schema at properties.a: uniqueItems needs plain values: use x-kubernetes-list-type',
  ],
  [
    'unique lists',
    { type: 'array', items: { type: 'array', items: text }, uniqueItems: true },
    'JSON Schema: uniqueItems needs plain values: use x-kubernetes-list-type',
  ],
  [
    'an enum that is not a list',
    { type: 'object', properties: { a: { enum: 'a' } } },
    'JSON Schema at properties.a: enum is not a list',
  ],
  ['an allOf that is not a list', { allOf: {} }, 'JSON Schema: allOf is not a list'],
  ['an anyOf that is not a list', { anyOf: 'x' }, 'JSON Schema: anyOf is not a list'],
  [
    'a pattern that is not a text',
    { type: 'string', pattern: 5 },
    'JSON Schema: pattern is not a regular expression of Go: not a string',
  ],
  [
    'a pattern that Go does not have beside an unknown format',
    { type: 'string', format: 'zz', pattern: '(?=a)' },
    'JSON Schema: pattern is not a regular expression of Go: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
  ],
  [
    'a pattern of property names',
    {
      type: 'object',
      properties: { a: { type: 'object', propertyNames: { type: 'string', pattern: 'a' } } },
    },
    'JSON Schema at properties.a: propertyNames has no counterpart in structural schemas: use a CEL rule',
  ],
  [
    'a pattern of property names without a type',
    { propertyNames: { pattern: 'a' } },
    'JSON Schema: propertyNames has no counterpart in structural schemas: use a CEL rule',
  ],
  [
    'property names that are integers',
    { type: 'object', propertyNames: { type: 'integer' } },
    'JSON Schema: propertyNames has no counterpart in structural schemas: use a CEL rule',
  ],
  [
    'the exclusion of everything',
    { type: 'string', not: true },
    'JSON Schema at not: restricts no values: leave not out, or use another type',
  ],
  [
    'the exclusion of nothing',
    { type: 'string', not: false },
    'JSON Schema at not: accepts no value: leave the field out',
  ],
  ['a reference that is not a text', { $ref: 5 }, 'JSON Schema: $ref is not a string'],
  [
    'a reference to another document',
    { $ref: 'other.json' },
    'JSON Schema: other.json refers to nothing in this schema',
  ],
  [
    'a reference to an anchor',
    { $ref: '#foo' },
    'JSON Schema: #foo refers to nothing in this schema',
  ],
  [
    'a reference to a member of the prototype',
    { $ref: '#/constructor' },
    'JSON Schema: #/constructor refers to nothing in this schema',
  ],
  [
    'recursion over several schemas',
    {
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: {
        A: { properties: { b: { $ref: '#/$defs/B' } } },
        B: { items: { $ref: '#/$defs/A' } },
      },
    },
    'JSON Schema at properties.a.properties.b.items: #/$defs/A contains itself: recursive schemas have no CRD',
  ],
  ['the type null', { type: ['null'] }, 'JSON Schema: accepts null only: leave the field out'],
  [
    'null as the only constant',
    { enum: [null] },
    'JSON Schema: accepts null only: leave the field out',
  ],
  ['the constant null', { const: null }, 'JSON Schema: accepts null only: leave the field out'],
  [
    'a boolean or a text',
    { enum: [true, 'a'] },
    'JSON Schema: a value has one type, got boolean and string',
  ],
  [
    'a property that is not a schema',
    { type: 'object', properties: { a: 5 } },
    'JSON Schema at properties.a: is not a schema',
  ],
  [
    'a list that accepts no item',
    { type: 'array', items: false },
    'JSON Schema at items: accepts no value: leave the field out',
  ],
  [
    'the keyword if',
    { type: 'string', if: { minLength: 1 } },
    'JSON Schema: if has no counterpart in structural schemas: use a CEL rule',
  ],
  [
    'fields that depend on others',
    { type: 'object', dependentRequired: { a: ['b'] } },
    'JSON Schema: dependentRequired has no counterpart in structural schemas: use a CEL rule',
  ],
  [
    'unevaluated properties',
    { type: 'object', unevaluatedProperties: false },
    'JSON Schema: unevaluatedProperties has no counterpart in structural schemas: use a CEL rule',
  ],
  [
    'an allOf of two types',
    { allOf: [text, { type: 'integer' }] },
    'JSON Schema: alternatives have the types string and integer: a field has one type',
  ],
  [
    'an allOf with two defaults',
    {
      allOf: [
        { properties: { a: { type: 'string', default: 'x' } } },
        { properties: { a: { type: 'string', default: 'y' } } },
      ],
    },
    'JSON Schema: alternatives at a differ in the default: a field has one default',
  ],
  [
    'items of two types',
    { allOf: [{ items: text }, { items: { type: 'integer' } }] },
    'JSON Schema: alternatives at [] have the types string and integer: a field has one type',
  ],
  [
    'fields of two types in alternatives',
    {
      anyOf: [
        { properties: { a: { properties: { b: text } } } },
        { properties: { a: { properties: { b: { type: 'integer' } } } } },
      ],
    },
    'JSON Schema: alternatives at a.b have the types string and integer: a field has one type',
  ],
  [
    'fields of items of two types in alternatives',
    {
      anyOf: [
        { items: { properties: { b: text } } },
        { items: { properties: { b: { type: 'integer' } } } },
      ],
    },
    'JSON Schema: alternatives at [].b have the types string and integer: a field has one type',
  ],
  [
    'maps of anything and of texts in alternatives',
    { anyOf: [{ additionalProperties: true }, { additionalProperties: text }] },
    'JSON Schema: alternatives differ in additionalProperties: the values of a map have one schema',
  ],
  [
    'fields beside values of a map whose unknown fields are kept',
    {
      properties: { a: text },
      additionalProperties: text,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    'JSON Schema: has properties and additionalProperties: keep one of them',
  ],
];

describe('A JSON Schema that cannot become a structural schema', () => {
  for (const [title, json, message] of refused) {
    it(`is refused for ${title}, with the path`, () => {
      expect(() => s.fromJsonSchema(json))
        .to.throw(Error)
        .with.include({ code: 'InvalidDefinition', message });
    });
  }
});
