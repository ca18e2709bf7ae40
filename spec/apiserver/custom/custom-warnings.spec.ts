import { expect } from 'chai';
import { finalizerWarnings, formatWarnings } from '../../../lib/apiserver/custom/crd.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { Schema } from '../../../lib/object/schema.js';

function widget(...finalizers: string[]): UnstructuredObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', finalizers } };
}

function definition(...schemas: Schema[]): UnstructuredObject {
  const versions = schemas.map((openAPIV3Schema) => ({ schema: { openAPIV3Schema } }));
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    ...{ metadata: { name: 'widgets.example.com' }, spec: { versions } },
  };
}

const unknown = (format: string): Schema => ({ type: 'string', format });
const places: readonly [keyof Schema, Schema][] = [
  ['properties', { properties: { deep: { properties: { deeper: unknown('x') } } } }],
  ['additionalProperties', { additionalProperties: unknown('x') }],
  ['items', { items: unknown('x') }],
  ['allOf', { allOf: [unknown('x')] }],
  ['anyOf', { anyOf: [unknown('x')] }],
  ['oneOf', { oneOf: [unknown('x')] }],
  ['not', { not: unknown('x') }],
];

describe('finalizerWarnings', () => {
  it('warns about finalizers without a domain, once each, sorted by name', () => {
    const said = finalizerWarnings(widget('plain', 'b.example.com', 'a', 'example.com/c', 'a'));
    const names = said.map((text) => text.split('"')[1]);
    expect(names).to.deep.equal(['a', 'b.example.com', 'plain']);
  });

  it('warns about invalid names', () => {
    const [first] = finalizerWarnings(widget('example.com/not a name'));
    expect(first).to.match(/^metadata\.finalizers: "example.com\/not a name": name part must /);
  });

  it('ignores finalizers of Kubernetes, and finalizers that the object had before', () => {
    expect(finalizerWarnings(widget('orphan', 'foregroundDeletion', 'kubernetes'))).to.deep.equal(
      [],
    );
    expect(finalizerWarnings(widget('a', 'b'), widget('a'))).to.have.lengthOf(1);
    expect(finalizerWarnings(widget('a'), widget('b', 'a'))).to.deep.equal([]);
  });
});

describe('formatWarnings', () => {
  for (const [place, schema] of places) {
    it(`warns about unknown formats in ${place}`, () => {
      expect(formatWarnings(definition(schema))).to.deep.equal(['unrecognized format "x"']);
    });
  }

  it('warns about the formats in every version, once for each format', () => {
    const crd = definition(unknown('x'), { properties: { a: unknown('y'), b: unknown('x') } });
    const said = ['unrecognized format "x"', 'unrecognized format "y"'];
    expect(formatWarnings(crd)).to.deep.equal(said);
  });

  it('ignores formats that are checked, and formats that the definition had before', () => {
    expect(formatWarnings(definition(unknown('date-time'), { type: 'string' }))).to.deep.equal([]);
    const added = definition(unknown('x'), unknown('y'));
    const said = formatWarnings(added, definition({ items: unknown('x') }));
    expect(said).to.deep.equal(['unrecognized format "y"']);
  });
});
