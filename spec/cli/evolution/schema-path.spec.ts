import { expect } from 'chai';
import { schemaAt } from '../../../lib/cli/evolution/schema-path.js';
import type { Schema } from '../../../lib/object/index.js';

describe('The schema at a JSON path', () => {
  const text: Schema = { type: 'string' };
  const open: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const root: Schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          open,
          list: { type: 'array', items: { type: 'object', properties: { name: text } } },
          map: { type: 'object', additionalProperties: text },
          any: { type: 'object', additionalProperties: true },
          closed: { type: 'object', additionalProperties: false },
        },
      },
    },
  };
  const anything = { type: 'string', 'x-kubernetes-preserve-unknown-fields': true };

  for (const [path, wanted] of [
    ['.spec.list', root.properties?.['spec']?.properties?.['list']],
    ['.spec.list[*].name', text],
    ['.spec.list[0].name', text],
    ['.spec.list[?(@.name=="a")].name', text],
    ['.spec.list[0].none', undefined],
    ['.spec.map.a', text],
    ['.spec.map[*]', text],
    ['.spec.map.constructor', text],
    ['.spec.constructor', undefined],
    ['.spec.any.a.b', anything],
    ['.spec.any.a', anything],
    ['.spec.closed.a', undefined],
    ['.spec.closed..a', anything],
    ['.spec.open', open],
    ['.spec.open.a.b', anything],
    ['.metadata.labels.a', anything],
    ['.kind', anything],
    ['.apiVersion', anything],
    ['.spec.metadata', undefined],
    ['.status', undefined],
  ] as const) {
    it(`${path} is ${wanted === undefined ? 'unknown' : JSON.stringify(wanted)}`, () => {
      expect(schemaAt(root, path)).to.deep.equal(wanted);
    });
  }
});
