import { expect } from 'chai';
import { s } from '../../../lib/crd/index.js';

type Json = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const anything = { 'x-kubernetes-preserve-unknown-fields': true };
const group = { type: 'object', properties: { b: text } };

const converted: readonly (readonly [title: string, json: Json, schema: Json])[] = [
  [
    'an object whose other fields may be anything',
    { type: 'object', properties: { a: text }, additionalProperties: {} },
    { type: 'object', properties: { a: text }, 'x-kubernetes-preserve-unknown-fields': true },
  ],
  [
    'an object without other fields',
    { type: 'object', properties: { a: text }, additionalProperties: false },
    { type: 'object', properties: { a: text } },
  ],
  [
    'unique items beside a list type',
    { type: 'array', items: text, uniqueItems: true, 'x-kubernetes-list-type': 'atomic' },
    { 'x-kubernetes-list-type': 'atomic', type: 'array', items: text },
  ],
  [
    'items that need not be unique',
    { type: 'array', items: text, uniqueItems: false },
    { type: 'array', items: text },
  ],
  [
    'exclusive limits at the inclusive ones',
    { type: 'integer', minimum: 5, exclusiveMinimum: 5, maximum: 9, exclusiveMaximum: 9 },
    { minimum: 5, maximum: 9, exclusiveMinimum: true, exclusiveMaximum: true, type: 'integer' },
  ],
  [
    'exclusive limits of OpenAPI',
    { type: 'integer', minimum: 5, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
    { minimum: 5, maximum: 9, exclusiveMinimum: true, type: 'integer' },
  ],
  [
    'the limits of an object, and its description in place of its title',
    {
      type: 'object',
      required: ['a'],
      properties: { a: text },
      minProperties: 1,
      maxProperties: 2,
      description: 'D',
      title: 'T',
    },
    {
      description: 'D',
      minProperties: 1,
      maxProperties: 2,
      required: ['a'],
      type: 'object',
      properties: { a: text },
    },
  ],
  [
    'the limits of a text, and its title as its description',
    {
      type: 'string',
      format: 'date',
      minLength: 1,
      maxLength: 2,
      title: 'T',
      default: 'x',
      nullable: true,
    },
    {
      format: 'date',
      default: 'x',
      nullable: true,
      minLength: 1,
      maxLength: 2,
      description: 'T',
      type: 'string',
    },
  ],
  [
    'the limits of a list',
    { type: 'array', items: text, minItems: 1, maxItems: 2 },
    { minItems: 1, maxItems: 2, type: 'array', items: text },
  ],
  [
    'the limits of a number',
    { type: 'number', multipleOf: 2, minimum: 1, maximum: 4 },
    { multipleOf: 2, minimum: 1, maximum: 4, type: 'number' },
  ],
  ['a constant beside an enum', { const: 'a', enum: ['b'] }, { enum: ['a'], type: 'string' }],
  [
    'a pattern beside a known format',
    { type: 'string', format: 'email', pattern: 'a' },
    { format: 'email', type: 'string', pattern: 'a' },
  ],
  [
    'property names that may be anything',
    { type: 'object', propertyNames: {}, additionalProperties: text },
    { type: 'object', additionalProperties: text },
  ],
  [
    'property names that are texts',
    { type: 'object', propertyNames: text, additionalProperties: text },
    { type: 'object', additionalProperties: text },
  ],
  [
    'values that are excluded',
    { type: 'string', not: { enum: ['a'] } },
    { type: 'string', not: { enum: ['a'] } },
  ],
  [
    'an object that must not have a field',
    { type: 'object', properties: { a: text }, not: { required: ['a'] } },
    { type: 'object', properties: { a: text }, not: { required: ['a'] } },
  ],
  [
    'a restriction of another type that is excluded',
    { type: 'string', not: { type: 'integer', minimum: 1 } },
    { type: 'string', not: { minimum: 1 } },
  ],
  ['a reference with escapes', { $ref: '#/$defs/a~1b~0c%20d', $defs: { 'a/b~c d': text } }, text],
  [
    'a restriction beside a reference',
    { $ref: '#/$defs/A', $defs: { A: text }, minLength: 2 },
    { type: 'string', allOf: [{ minLength: 2 }] },
  ],
  [
    'a default and a description beside a reference',
    { $ref: '#/$defs/A', $defs: { A: text }, default: 'x', description: 'D' },
    { description: 'D', default: 'x', type: 'string' },
  ],
  [
    'a reference to a schema of anything',
    { properties: { a: { $ref: '#/$defs/A', description: 'D' } }, $defs: { A: true } },
    {
      type: 'object',
      properties: { a: { description: 'D', 'x-kubernetes-preserve-unknown-fields': true } },
    },
  ],
  [
    'two references to one schema',
    {
      properties: { a: { $ref: '#/$defs/A' }, b: { $ref: '#/$defs/A' } },
      $defs: { A: { type: 'integer' } },
    },
    { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } },
  ],
  [
    'null beside an integer and a text',
    { type: ['integer', 'string', 'null'] },
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, text], nullable: true },
  ],
  [
    'required fields without a type',
    { required: ['a'] },
    { required: ['a'], type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  ],
  [
    'values of a map without a type',
    { additionalProperties: text },
    { type: 'object', additionalProperties: text },
  ],
  ['items without a type', { items: text }, { type: 'array', items: text }],
  [
    'a constant object',
    { enum: [{ a: 1 }] },
    { enum: [{ a: 1 }], type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  ],
  ['a constant boolean', { const: true }, { enum: [true], type: 'boolean' }],
  [
    'keywords that restrict nothing',
    { type: 'object', unevaluatedProperties: true, patternProperties: {} },
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  ],
  [
    'keywords of Kubernetes, but no others',
    { type: 'object', 'x-kubernetes-map-type': 'atomic', 'x-other': 1, $comment: 'c' },
    {
      'x-kubernetes-map-type': 'atomic',
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
    },
  ],
  [
    'base64 beside another format',
    { type: 'string', contentEncoding: 'base64', format: 'binary' },
    { format: 'byte', type: 'string' },
  ],
  ['another encoding than base64', { type: 'string', contentEncoding: 'base16' }, text],
  ['a single alternative', { anyOf: [text] }, text],
  [
    'null among several alternatives',
    { oneOf: [{ type: 'null' }, text, { type: 'string', pattern: 'a' }] },
    { type: 'string', nullable: true },
  ],
  [
    'alternatives without a type beside one',
    { type: 'string', anyOf: [{ minLength: 1 }, { pattern: '^a' }] },
    { type: 'string', anyOf: [{ minLength: 1 }, { pattern: '^a' }] },
  ],
  [
    'a description and a default beside alternatives',
    {
      description: 'D',
      default: 'x',
      title: 'T',
      anyOf: [
        { type: 'string', minLength: 1 },
        { type: 'string', pattern: '^a' },
      ],
    },
    {
      type: 'string',
      description: 'D',
      default: 'x',
      allOf: [{ anyOf: [{ minLength: 1 }, { pattern: '^a' }] }],
    },
  ],
  [
    'alternatives of which one restricts nothing',
    { anyOf: [{ type: 'string', minLength: 1 }, text] },
    text,
  ],
  [
    'several integers and a text as alternatives',
    { oneOf: [{ type: 'integer' }, text, { type: 'integer', minimum: 1 }] },
    { minimum: 1, 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, text] },
  ],
  [
    'alternatives that constants of a list tell apart',
    {
      oneOf: [
        {
          required: ['k'],
          properties: { k: { enum: ['a', 'b'] }, x: { minimum: 1, type: 'integer' } },
        },
        { required: ['k'], properties: { k: { const: 'c' } } },
      ],
    },
    {
      type: 'object',
      properties: { k: text, x: { type: 'integer' } },
      oneOf: [
        { required: ['k'], properties: { k: { enum: ['a', 'b'] }, x: { minimum: 1 } } },
        { required: ['k'], properties: { k: { enum: ['c'] } } },
      ],
    },
  ],
  [
    'alternatives with a constant in common',
    {
      oneOf: [
        { required: ['k'], properties: { k: { enum: ['a', 'b'] } } },
        { required: ['k'], properties: { k: { const: 'b' } } },
      ],
    },
    {
      type: 'object',
      properties: { k: text },
      anyOf: [
        { required: ['k'], properties: { k: { enum: ['a', 'b'] } } },
        { required: ['k'], properties: { k: { enum: ['b'] } } },
      ],
    },
  ],
  [
    'an integer, a text or null',
    { anyOf: [{ type: 'integer' }, text, { type: 'null' }] },
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, text], nullable: true },
  ],
  [
    'a limit beside an integer or a text',
    { description: 'P', minimum: 1, anyOf: [{ type: 'integer' }, text] },
    {
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, text],
      description: 'P',
      allOf: [{ minimum: 1 }],
    },
  ],
  [
    'a default in one of several schemas of allOf',
    {
      allOf: [{ properties: { a: { type: 'string', default: 'x' } } }, { properties: { a: text } }],
    },
    { type: 'object', properties: { a: { type: 'string', default: 'x' } } },
  ],
  [
    'items whose fields are in several schemas of allOf',
    { allOf: [{ items: { properties: { a: text } } }, { items: { properties: { b: text } } }] },
    { type: 'array', items: { type: 'object', properties: { a: text, b: text } } },
  ],
  [
    'maps with the same values in several schemas of allOf',
    { allOf: [{ additionalProperties: text }, { additionalProperties: text }] },
    { type: 'object', additionalProperties: text },
  ],
  [
    'a description and a default beside allOf',
    { description: 'D', default: { a: 'x' }, allOf: [{ properties: { a: text } }] },
    { type: 'object', properties: { a: text }, description: 'D', default: { a: 'x' } },
  ],
  [
    'fields beside allOf',
    { properties: { c: text }, allOf: [{ properties: { a: text } }, { required: ['a'] }] },
    { type: 'object', properties: { c: text, a: text }, allOf: [{ required: ['a'] }] },
  ],
  [
    'an integer or a text within alternatives',
    {
      anyOf: [
        { properties: { p: { type: ['integer', 'string'] } }, required: ['p'] },
        { properties: { q: { type: ['integer', 'string'], minimum: 1 } }, required: ['q'] },
      ],
    },
    {
      type: 'object',
      properties: {
        p: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, text] },
        q: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, text] },
      },
      anyOf: [{ required: ['p'] }, { required: ['q'], properties: { q: { minimum: 1 } } }],
    },
  ],
  [
    'anything or a text',
    { properties: { a: { anyOf: [true, text] }, b: { oneOf: [text, {}, { type: 'null' }] } } },
    { type: 'object', properties: { a: anything, b: { ...anything, nullable: true } } },
  ],
  [
    'alternatives that leave the types of fields and items open',
    {
      anyOf: [
        { properties: { a: { const: 'x' }, b: { type: 'array' } } },
        { properties: { a: { not: { const: 'x' } }, b: { items: text, maxItems: 1 } } },
      ],
    },
    {
      type: 'object',
      properties: { a: anything, b: { type: 'array', items: anything } },
      anyOf: [
        { properties: { a: { enum: ['x'] } } },
        { properties: { a: { not: { enum: ['x'] } }, b: { maxItems: 1 } } },
      ],
    },
  ],
  [
    'fields that only one alternative names, while another one keeps unknown fields',
    {
      anyOf: [
        { properties: { a: { ...text, title: 'A', default: 'x' }, b: group }, required: ['b'] },
        { properties: { c: { type: 'integer' } }, additionalProperties: true, minProperties: 2 },
        { properties: { b: group, d: text }, required: ['d'] },
      ],
    },
    {
      type: 'object',
      properties: {
        a: { ...anything, description: 'A', default: 'x' },
        b: anything,
        c: { type: 'integer' },
        d: anything,
      },
      ...anything,
      anyOf: [{ required: ['b'] }, { minProperties: 2 }, { required: ['d'] }],
    },
  ],
  [
    'fields that only one alternative names, while another one names none',
    { anyOf: [{ properties: { a: text } }, { type: 'object' }] },
    { type: 'object', properties: { a: anything }, ...anything },
  ],
  [
    'fields that only one alternative names, while the other has no further ones',
    { anyOf: [{ properties: { a: text } }, { type: 'object', properties: { b: text } }] },
    { type: 'object', properties: { a: text, b: text } },
  ],
  [
    'Kubernetes keywords beside a reference',
    { $ref: '#/$defs/A', $defs: { A: text }, 'x-kubernetes-validations': [{ rule: 'true' }] },
    { ...text, 'x-kubernetes-validations': [{ rule: 'true' }] },
  ],
  ['anything or a limit beside a type', { type: 'string', anyOf: [true, { minLength: 1 }] }, text],
  [
    'a restriction of fields beside their types',
    { properties: { a: group }, allOf: [{ properties: { a: { not: { required: ['b'] } } } }] },
    {
      type: 'object',
      properties: { a: group },
      allOf: [{ properties: { a: { not: { required: ['b'] } } } }],
    },
  ],
  [
    'the values of a map whose unknown fields are kept',
    { additionalProperties: { type: 'string', minLength: 1 }, ...anything },
    { type: 'object', additionalProperties: { type: 'string', minLength: 1 }, ...anything },
  ],
  ['the default null', { type: 'string', default: null }, text],
  [
    'objects without fields at each depth',
    {
      type: 'object',
      properties: {
        a: { type: 'object' },
        b: { type: 'object', 'x-kubernetes-embedded-resource': true },
        c: { type: 'object', properties: {} },
      },
    },
    {
      type: 'object',
      properties: {
        a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        b: { 'x-kubernetes-embedded-resource': true, type: 'object' },
        c: { type: 'object', properties: {} },
      },
    },
  ],
];

describe('The structural schema that is computed from a JSON Schema', () => {
  for (const [title, json, schema] of converted) {
    it(`is right for ${title}`, () => {
      expect(s.fromJsonSchema(json)).to.deep.equal(schema);
    });
  }
});
