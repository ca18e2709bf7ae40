import { expect } from 'chai';
import { defineResource, InvalidDefinitionError, s } from '../../../lib/crd/index.js';
import type { VersionDefinition } from '../../../lib/crd/index.js';

const spec = s.object({ a: s.string() });
const status = s.object({ phase: s.optional(s.string()) });

/** Returns the problems of a definition with one version. */
function problemsOf(version: Partial<VersionDefinition>, more: object = {}): string[] {
  const one = { name: 'v1', schema: s.object({ spec }), ...version };
  const definition = { group: 'example.com', kind: 'Shop', versions: [one] as const, ...more };
  try {
    expect(defineResource(definition).crd.spec.group).to.equal(definition.group);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidDefinitionError)) throw error;
    return error.problems.map(({ field, message }) => `${field}: ${message}`);
  }
}

const either = s.object(
  { spec: s.optional(spec), other: s.optional(spec) },
  { oneOf: [{ required: ['spec'] }, { required: ['other'] }] },
);

describe('defineResource with a definition that API servers refuse', () => {
  it('refuses oneOf at the root of a schema with a status', () => {
    expect(problemsOf({ schema: either, status })).to.deep.equal([
      'versions[0].schema: has oneOf, which the API server refuses together with a status: move it to spec, or use rules',
    ]);
    expect(problemsOf({ schema: either })).to.deep.equal([]);
  });

  it('accepts rules and a description at the root of a schema with a status', () => {
    const options = { rules: ['has(self.spec.a)'], description: 'A shop' };
    expect(problemsOf({ schema: s.object({ spec }, options), status })).to.deep.equal([]);
  });

  it('refuses a schema for metadata.labels, but accepts a maximum length of metadata.name', () => {
    const withMetadata = (metadata: object) => ({
      schema: s.object({ spec, metadata: s.object(metadata as never) }),
    });
    expect(problemsOf(withMetadata({ labels: s.map(s.string()) }))).to.deep.equal([
      'versions[0].schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ]);
    const name = s.optional(s.string({ maxLength: 5 }));
    expect(problemsOf(withMetadata({ name }))).to.deep.equal([]);
  });

  it('refuses a kind of an embedded object that is not a string', () => {
    const template = s.embeddedResource({ properties: { kind: s.integer() } });
    expect(problemsOf({ schema: s.object({ spec: s.object({ template }) }) })).to.deep.equal([
      'versions[0].schema.properties[spec].properties[template].properties[kind].type: Invalid value: "integer": must be string',
    ]);
  });

  it('refuses an unknown format of a printer column', () => {
    const column = { name: 'A', type: 'string', jsonPath: '.spec.a', format: 'zz' } as const;
    expect(problemsOf({ printerColumns: [column] })).to.deep.equal([
      'versions[0].printerColumns[0].format: must be one of byte, date, date-time, double, float, int32, int64, password, got zz',
    ]);
    expect(problemsOf({ printerColumns: [{ ...column, format: 'date' }] })).to.deep.equal([]);
  });

  it('refuses a printer column without a name, with an unknown type or without a path', () => {
    const column = { name: '', type: 'text', priority: '1' } as never;
    const at = 'versions[0].printerColumns[0]';
    expect(problemsOf({ printerColumns: [column] })).to.deep.equal([
      `${at}.name: must be the title of the column`,
      `${at}.priority: must be a whole number, got "1"`,
      `${at}.type: must be one of string, integer, number, boolean, date, got text`,
      `${at}.jsonPath: must begin with a dot, such as .spec.replicas`,
    ]);
  });

  it('refuses selectable fields that repeat another one, or that are in list items or metadata', () => {
    const selectableFields = ['.spec.a', '.spec.a', '.spec.a[0]', '.metadata.name'];
    expect(problemsOf({ selectableFields })).to.deep.equal([
      'versions[0].selectableFields[1]: .spec.a is already in the list: remove it',
      'versions[0].selectableFields[2]: .spec.a[0] must not have brackets: name fields only, such as .spec.node',
      'versions[0].selectableFields[3]: .metadata.name is metadata: name a field of yours',
    ]);
  });

  it('refuses selectable fields without a schema, lists of built-in types, and more than eight', () => {
    const open = s.object({ a: s.array(s.string()) }, { preserveUnknownFields: true });
    const schema = s.object({ spec, open, pod: s.builtIn('PodSpec') });
    const ofAll = ['.open.any', '.open.a', '.pod.containers', '.pod.nope', '.pod.nodeName'];
    expect(problemsOf({ schema, selectableFields: ofAll })).to.deep.equal([
      'versions[0].selectableFields[0]: .open.any is not declared, only preserved: declare it',
      'versions[0].selectableFields[1]: .open.a is not a string, whole number or boolean: select another field',
      'versions[0].selectableFields[2]: .pod.containers is not a string, whole number or boolean: select another field',
      'versions[0].selectableFields[3]: .pod.nope is not a field of the schema: correct the path',
    ]);
    const names = Array.from({ length: 9 }, (_, index) => `f${index}`);
    const many = s.object(Object.fromEntries(names.map((name) => [name, s.string()])));
    const selectableFields = names.map((name) => `.spec.${name}`);
    expect(problemsOf({ schema: s.object({ spec: many }), selectableFields })).to.deep.equal([
      'versions[0].selectableFields: are more than 8: remove some',
    ]);
  });

  it('refuses upper-case letters in all names except kind and listKind', () => {
    const names = { plural: 'Shops', singular: 'Shop', shortNames: ['SH'], categories: ['All'] };
    const problems = problemsOf({}, { ...names, listKind: 'ShopList' });
    expect(problems.map((problem) => problem.replace(/:.*/, ''))).to.deep.equal([
      ...['plural', 'singular', 'shortNames[0]', 'categories[0]'],
    ]);
  });

  for (const [what, deprecated, problem] of [
    ['is empty', '', 'must not be empty: give a string, or true'],
    ['has two lines', 'use\nv2', 'must be one line of printable characters'],
    ['is long', 'é'.repeat(129), 'must not be longer than 256 bytes'],
  ] as const) {
    it(`refuses a deprecation warning that ${what}`, () => {
      expect(problemsOf({ deprecated })).to.deep.equal([`versions[0].deprecated: ${problem}`]);
    });
  }

  it('accepts a deprecation warning of 256 bytes in any language', () => {
    expect(problemsOf({ deprecated: 'Ämter: 使用 v2 🚀!'.padEnd(256 - 7, '.') })).to.deep.equal([]);
  });

  it('refuses limits such as NaN, which JSON cannot express', () => {
    const limited = {
      ...{ minimum: s.integer({ minimum: NaN }), maximum: s.number({ maximum: NaN }) },
      multipleOf: s.integer({ multipleOf: NaN }),
      ...{ minLength: s.string({ minLength: NaN }), maxLength: s.string({ maxLength: NaN }) },
      minItems: s.array(s.string(), { minItems: NaN }),
      maxItems: s.array(s.string(), { maxItems: NaN }),
      minProperties: s.map(s.string(), { minProperties: NaN }),
      maxProperties: s.map(s.string(), { maxProperties: NaN }),
    };
    for (const [limit, a] of Object.entries(limited)) {
      const schema = s.object({ spec: s.object({ a }) });
      expect(problemsOf({ schema })).to.deep.equal([
        `versions[0].schema.properties[spec].properties[a].${limit}: contains NaN, which is not a JSON number`,
      ]);
    }
  });

  it('refuses limits of integers with which no value is valid', () => {
    const size = s.integer({ minimum: 0.5, multipleOf: 1.5 });
    const port = s.integer({ format: 'int32', maximum: 2 ** 31 });
    const share = s.number({ minimum: 0.5 });
    const at = 'versions[0].schema.properties[spec].properties';
    const schema = s.object({ spec: s.object({ size, port, share }) });
    expect(problemsOf({ schema })).to.deep.equal([
      `${at}[size].minimum: Invalid value: 0.5: must be of type integer, or API servers refuse every value`,
      `${at}[size].multipleOf: Invalid value: 1.5: must be of type integer, or API servers refuse every value`,
      `${at}[port].maximum: Invalid value: 2147483648: must be of type integer with format int32, or API servers refuse every value`,
    ]);
  });

  it('refuses a group that ends in k8s.io or kubernetes.io without the approval annotation', () => {
    const group = 'shops.k8s.io';
    expect(problemsOf({}, { group })).to.deep.equal([
      'annotations[api-approved.kubernetes.io]: is missing: shops.k8s.io belongs to Kubernetes, use a domain of yours, or give the URL of the approval or "unapproved"',
    ]);
    const annotations = { 'api-approved.kubernetes.io': 'unapproved' };
    expect(problemsOf({}, { group, annotations })).to.deep.equal([]);
    expect(problemsOf({}, { group: 'shops.x-k8s.io' })).to.deep.equal([]);
  });

  it('refuses a default that repeats an item of a list of type set, since every object with it is invalid', () => {
    const tags = s.defaulted(s.array(s.string(), { listType: 'set' }), ['a', 'a']);
    const [problem] = problemsOf({ schema: s.object({ spec: s.object({ tags }) }) });
    expect(problem).to.match(/default\.\[1\]: Duplicate value: "a"$/);
  });
});
