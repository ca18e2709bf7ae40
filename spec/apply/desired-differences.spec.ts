import { expect } from 'chai';
import { desiredDifferences } from '../../lib/apply/index.js';

describe('desiredDifferences', () => {
  const same: readonly [string, object, object][] = [
    ['a default that only the live object has', { a: 1 }, { a: 1, b: 2 }],
    [
      'one amount written in two ways',
      { cpu: '1000m', memory: '1Gi' },
      { cpu: '1', memory: '1024Mi' },
    ],
    ['what is empty and so not stored', { env: [], labels: {}, text: '' }, {}],
    [
      'named entries in another order',
      { list: [{ name: 'a' }, { name: 'b' }] },
      { list: [{ name: 'b' }, { name: 'a', x: 1 }] },
    ],
  ];
  for (const [title, desired, live] of same) {
    it(`does not count ${title}`, () => {
      expect(desiredDifferences(desired, live)).to.deep.equal([]);
    });
  }

  const different: readonly [string, object, object, string][] = [
    ['a value', { spec: { a: 1 } }, { spec: { a: 2 } }, 'spec.a'],
    ['a field that is missing', { spec: { a: { b: 1 } } }, { spec: {} }, 'spec.a'],
    ['texts that begin like amounts', { version: '1.2.3' }, { version: '1.2.4' }, 'version'],
    ['a named entry', { c: [{ name: 'a', x: 1 }] }, { c: [{ name: 'a', x: 2 }] }, 'c[name=a].x'],
    [
      'a named entry too many',
      { c: [{ name: 'a' }] },
      { c: [{ name: 'a' }, { name: 'b' }] },
      'c[name=b]',
    ],
    ['an item', { args: ['a', 'b'] }, { args: ['a', 'c'] }, 'args[1]'],
    ['an item too many', { args: ['a'] }, { args: ['a', 'b'] }, 'args[1]'],
    ['another type', { port: 'http' }, { port: 80 }, 'port'],
    [
      'a key with a dot',
      { data: { 'a.conf': '1' } },
      { data: { 'a.conf': '2' } },
      'data["a.conf"]',
    ],
  ];
  for (const [title, desired, live, path] of different) {
    it(`names ${title}`, () => {
      expect(desiredDifferences(desired, live).map((change) => change.path)).to.deep.equal([path]);
    });
  }
});
