import { expect } from 'chai';
import { validateStructure } from '../../../lib/crd/definition/schema-structure.js';
import { FieldErrors } from '../../../lib/crd/validation/field-errors.js';

type Json = Readonly<Record<string, unknown>>;

/** Returns the problems of a root: fields relative to it, and messages. */
function problemsOfRoot(root: Json, isServer = false): string[] {
  const errors = new FieldErrors();
  validateStructure(root, { field: 'x', errors, isServer });
  return errors.causes.map(({ field = '', message = '' }) => `${field}: ${message}`);
}

/** Returns the problems of a property `a`, with fields relative to it. */
function problemsOf(a: Json, isServer = false): string[] {
  const problems = problemsOfRoot({ type: 'object', properties: { a } }, isServer);
  return problems.map((problem) => problem.replace(/^x\.properties\[a\]\.?/, ''));
}

const text = { type: 'string', maxLength: 5 };
const open = { 'x-kubernetes-preserve-unknown-fields': true };
const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, ...open };
const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

const ruled = (schema: Json, ...rules: readonly Json[]): Json => ({
  ...schema,
  'x-kubernetes-validations': rules,
});
const listed = (items: Json): Json => ({ type: 'array', items, maxItems: 5 });
const same = { rule: 'self == oldSelf' };
const uncorrelated = (at: string) =>
  `${at}.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within x.properties[a]`;
const shown = (rule: string, expression = '') =>
  `Invalid value: {"Rule":${JSON.stringify(rule)},"Message":"","MessageExpression":"${expression}","Reason":null,"FieldPath":"","OptionalOldSelf":null}`;
const first = 'x-kubernetes-validations[0]';
const undeclared = `compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^`;
const noType =
  'x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';

const described: readonly (readonly [title: string, a: Json, ...problems: readonly string[]])[] = [
  [
    'a blank rule within oneOf',
    { ...text, oneOf: [ruled({}, { rule: ' ' })] },
    'oneOf[0].x-kubernetes-validations: Forbidden: must be empty to be structural',
    `oneOf[0].${first}.rule: Required value: rule is not specified`,
  ],
  [
    'a blank message deep within anyOf',
    {
      ...{ type: 'object', properties: { b: text } },
      anyOf: [{ properties: { b: { not: ruled({}, { rule: 'x', message: ' ' }) } } }],
    },
    'anyOf[0].properties[b].not.x-kubernetes-validations: Forbidden: must be empty to be structural',
    `anyOf[0].properties[b].not.${first}.message: Invalid value: " ": must be non-empty if specified`,
  ],
  [
    'an unknown reason',
    ruled(text, { rule: 'true', reason: 'Other' }),
    `${first}.reason: Unsupported value: "Other": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
  ],
  [
    'no problem for any known reason',
    ruled(
      text,
      ...['Duplicate', 'Forbidden', 'Invalid', 'Required'].map((reason) => {
        return { rule: 'true', reason: `FieldValue${reason}` };
      }),
    ),
  ],
  [
    'a message with a carriage return',
    ruled(text, { rule: 'true', message: 'a\rb' }),
    `${first}.message: Invalid value: "a\\rb": must not contain line breaks`,
  ],
  [
    'no problem for line breaks at the end of a rule, or beside a message',
    ruled(text, { rule: 'true\n' }, { rule: 'true &&\ntrue', message: 'm' }),
  ],
  [
    'a rule that is not a bool',
    ruled(text, { rule: '1' }),
    `${first}.rule: ${shown('1')}: cel expression must evaluate to a bool`,
  ],
  [
    'a rule that does not compile',
    ruled(text, { rule: 'nope' }),
    `${first}.rule: ${shown('nope')}: ${undeclared}`,
  ],
  [
    'a rule that can only fail',
    ruled(text, { rule: 'int("x") == 1' }),
    `${first}.rule: ${shown('int("x") == 1')}: program instantiation failed: type conversion error from 'string' to 'int'`,
  ],
  [
    'a messageExpression that does not compile',
    ruled(text, { rule: 'true', messageExpression: 'nope' }),
    `${first}.messageExpression: ${shown('true', 'nope')}: messageExpression ${undeclared}`,
  ],
  ['oldSelf in a list', listed(ruled(text, same)), uncorrelated('items')],
  [
    'oldSelf below a list',
    listed({ type: 'object', properties: { b: ruled(text, same) } }),
    uncorrelated('items.properties[b]'),
  ],
  [
    'oldSelf in a set',
    { ...listed(ruled(text, same)), 'x-kubernetes-list-type': 'set' },
    uncorrelated('items'),
  ],
  ['oldSelf in a list of lists', listed(listed(ruled(text, same))), uncorrelated('items.items')],
  [
    'no problem for oldSelf in a list of type map',
    {
      ...listed({
        ...{ type: 'object', required: ['k'] },
        properties: { k: text, b: ruled(text, same) },
      }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
  ],
  [
    'no problem for an optional oldSelf',
    ruled(text, { rule: 'oldSelf.hasValue()', optionalOldSelf: true }),
  ],
  ['rules of a value without a type', ruled(open, { rule: 'true' }), noType],
  ['rules of a list whose items have no type', ruled(listed(open), { rule: 'true' }), noType],
  [
    'paths that do not exist',
    ruled(
      {
        type: 'object',
        properties: { 'a-b': text, m: { type: 'object', additionalProperties: text } },
      },
      ...[".m['x.y']", '.m.x', "['a-b']", '.nope', '.m.x.y', 'm', '.m['].map((fieldPath) => {
        return { rule: 'true', fieldPath };
      }),
    ),
    ...['.nope', '.m.x.y', 'm', '.m['].map((path, index) => {
      return `x-kubernetes-validations[${index + 3}].fieldPath: Invalid value: "${path}": must be a valid path`;
    }),
  ],
  [
    'an unknown map type',
    { type: 'object', 'x-kubernetes-map-type': 'other' },
    'x-kubernetes-map-type: Unsupported value: "other": supported values: "atomic", "granular"',
  ],
  [
    'a map type without a type',
    { ...open, 'x-kubernetes-map-type': 'granular' },
    'type: Required value: must be object if x-kubernetes-map-type is specified',
  ],
  [
    'an unknown list type',
    { ...listed(text), 'x-kubernetes-list-type': 'other' },
    'x-kubernetes-list-type: Unsupported value: "other": supported values: "atomic", "set", "map"',
  ],
  [
    'a list type without a type',
    { ...open, 'x-kubernetes-list-type': 'set' },
    'type: Required value: must be array if x-kubernetes-list-type is specified',
  ],
  [
    'a field without a type',
    { type: 'object', properties: { b: {} } },
    'properties[b].type: Required value: must not be empty for specified object fields',
  ],
  [
    'items without a type',
    { type: 'array', items: {} },
    'items.type: Required value: must not be empty for specified array items',
  ],
  [
    'a list of schemas for items',
    { type: 'array', items: [text] },
    'items: Forbidden: items must be a schema object and not an array',
  ],
  [
    'a default that lacks the kind of an embedded object',
    { ...embedded, default: { apiVersion: 'v1' } },
    'default.kind: Required value',
  ],
  [
    'a default of an embedded object that violates a rule',
    ruled(
      { ...embedded, default: config },
      { rule: 'self.kind == "Secret"' },
      { rule: 'self.metadata.name == "a"' },
    ),
    'default: Invalid value: failed rule: self.kind == "Secret"',
  ],
  [
    'own fields of an embedded object of other types',
    {
      ...embedded,
      properties: { kind: { type: 'integer' }, metadata: text, apiVersion: text },
    },
    'properties[kind].type: Invalid value: "integer": must be string',
    'properties[metadata].type: Invalid value: "string": must be object',
  ],
  [
    'a default of labels of an embedded object, but not of its name',
    {
      ...embedded,
      properties: {
        metadata: {
          type: 'object',
          properties: {
            labels: { type: 'object', additionalProperties: { ...text, default: 'x' } },
            name: { ...text, default: 'n' },
          },
        },
      },
    },
    'properties[metadata].properties[labels].additionalProperties.default: Forbidden: must not be set inside additionalProperties applying to object metadata',
  ],
  [
    'an object in the metadata of an embedded object',
    { ...embedded, properties: { metadata: { type: 'object', properties: { x: embedded } } } },
    'properties[metadata].properties[x].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta',
  ],
  [
    'a default of items of another type',
    { type: 'array', items: { type: 'integer', default: 'x' } },
    'items.default: Invalid value: "string":  in body must be of type integer: "string"',
  ],
  [
    'an item of a default of another type',
    { type: 'array', items: { type: 'integer' }, default: [1, 'x'] },
    'default.[1]: Invalid value: "string": [1] in body must be of type integer: "string"',
  ],
  ['no problem for the default null', { ...text, default: null }],
  [
    'a default that violates rules as an old value and as a new one',
    ruled({ type: 'integer', default: 1 }, { rule: 'oldSelf > 5' }, { rule: 'self > 5' }),
    'default: Invalid value: 1: failed rule: oldSelf > 5',
    'default: Invalid value: 1: failed rule: self > 5',
  ],
  [
    'an item of a default that violates a rule',
    { type: 'array', items: ruled({ type: 'integer' }, { rule: 'self > 5' }), default: [1] },
    'default[0]: Invalid value: 1: failed rule: self > 5',
  ],
  [
    'a field of a default that violates a rule',
    {
      ...{ type: 'object', default: { b: 1 } },
      properties: { b: ruled({ type: 'integer' }, { rule: 'self > 5' }) },
    },
    'default.b: Invalid value: 1: failed rule: self > 5',
  ],
];

const roots: readonly (readonly [title: string, root: Json, ...problems: readonly string[]])[] = [
  [
    'null for the whole object',
    { type: 'object', nullable: true },
    'x.nullable: Forbidden: nullable cannot be true at the root',
  ],
  [
    'a property that is not a schema',
    { type: 'object', properties: { a: 5, b: { type: 'other' } } },
    'x.properties[a]: Invalid value: must be a schema: use s.object(…), s.string(…), …',
  ],
  [
    'the name of a dialect',
    { type: 'object', properties: { a: { ...text, $schema: 'x' } } },
    `x: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`,
  ],
  [
    'defaults of metadata and kind',
    {
      type: 'object',
      properties: {
        kind: { ...text, default: 'x' },
        metadata: { type: 'object', properties: { name: { ...text, default: 'x' } } },
      },
    },
    'x.properties[kind].default: Forbidden: must not be set in top-level kind',
    'x.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata',
  ],
  [
    'an object in the metadata',
    {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { name: embedded } } },
    },
    'x.properties[metadata].properties[name].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta',
  ],
  [
    'restrictions of metadata beside the name',
    { type: 'object', properties: { metadata: { type: 'object', minProperties: 1 } } },
    'x.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
  ],
  [
    'a default without apiVersion and kind',
    { type: 'object', default: { x: 1 }, properties: { x: { type: 'integer' } } },
    'x.default.apiVersion: Required value',
    'x.default.kind: Required value',
  ],
  [
    'a rule that reads labels, but not one that reads names',
    ruled(
      { type: 'object' },
      { rule: 'self.metadata.name + self.metadata.generateName + self.kind != self.apiVersion' },
      { rule: 'has(self.metadata.labels)' },
    ),
    `x.x-kubernetes-validations[1].rule: ${shown('has(self.metadata.labels)')}: compilation failed: ERROR: <input>:1:4: undefined field 'labels'\n | has(self.metadata.labels)\n | ...^`,
  ],
  [
    'restrictions of fields that it lacks',
    {
      ...{ type: 'object', properties: { list: listed({ type: 'object', properties: {} }) } },
      anyOf: [
        { properties: { spec: { minLength: 1 } } },
        { not: { properties: { list: { items: { properties: { b: { minimum: 1 } } } } } } },
      ],
    },
    'x.properties[spec]: Required value: because it is defined in x.anyOf[0].properties[spec]',
    'x.properties[list].items.properties[b]: Required value: because it is defined in x.anyOf[1].not.properties[list].items.properties[b]',
  ],
];

describe('validateStructure on rules, defaults and metadata in a schema', () => {
  for (const [title, a, ...problems] of described) {
    it(`reports ${title}`, () => {
      expect(problemsOf(a)).to.deep.equal(problems);
    });
  }

  for (const [title, root, ...problems] of roots) {
    it(`reports ${title} at the root`, () => {
      expect(problemsOfRoot(root)).to.deep.equal(problems);
    });
  }

  it('checks limits and defaults of maps in a definition, but skips these checks in the server, as real servers do', () => {
    const limits = { type: 'integer', minimum: 0.5, maximum: 2.5, multipleOf: 0.5 };
    const map = { type: 'object', additionalProperties: { type: 'integer', default: 'x' } };
    expect(problemsOf(limits)).to.have.length(3);
    expect(problemsOf(map)).to.deep.equal([
      'additionalProperties.default: Invalid value: "string":  in body must be of type integer: "string"',
    ]);
    expect([...problemsOf(limits, true), ...problemsOf(map, true)]).to.deep.equal([]);
  });
});
