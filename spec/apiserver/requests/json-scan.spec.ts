import { expect } from 'chai';
import fc from 'fast-check';
import { scanJson } from '../../../lib/apiserver/requests/json-text.js';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('scanJson', () => {
  it('finds repeated names in an object, with their paths', () => {
    const text = '{"a":{"b":1,"b":2},"l":[{"x":"}\\"","x":1}],"a":3, "c" : "a"}';
    expect(scanJson(text).duplicates).to.deep.equal(['a.b', 'l[0].x', 'a']);
  });

  it('recognizes a repeated name that is written with escapes', () => {
    expect(scanJson('{"ab":1,"\\u0061b":2}').duplicates).to.deep.equal(['ab']);
  });

  it('returns the depth of any JSON, and no duplicates for the output of JSON.stringify', () => {
    const property = fc.property(fc.jsonValue(), (value) => {
      expect(scanJson(JSON.stringify(value))).to.deep.equal({
        duplicates: [],
        depth: depthOf(value),
      });
    });
    fc.assert(property);
  });

  it('scans JSON of any depth', () => {
    const text = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(scanJson(text).depth).to.equal(200_000);
  });
});
