import { expect } from 'chai';
import { desiredDifferences } from '../../lib/apply/index.js';

describe('desiredDifferences', () => {
  const same: readonly [string, object, object][] = [
    ['a default of the live object', { a: 1 }, { a: 1, b: 2 }],
    [
      'one quantity in two notations',
      { cpu: '1000m', memory: '1Gi' },
      { cpu: '1', memory: '1024Mi' },
    ],
    ['empty values, which the server does not store', { env: [], labels: {}, text: '' }, {}],
    [
      'named entries in another order',
      { list: [{ name: 'a' }, { name: 'b' }] },
      { list: [{ name: 'b' }, { name: 'a', x: 1 }] },
    ],
  ];
  for (const [title, desired, live] of same) {
    it(`ignores ${title}`, () => {
      expect(desiredDifferences(desired, live)).to.deep.equal([]);
    });
  }

  const different: readonly [string, object, object, string][] = [
    ['a changed value', { spec: { a: 1 } }, { spec: { a: 2 } }, 'spec.a'],
    ['a missing field', { spec: { a: { b: 1 } } }, { spec: {} }, 'spec.a'],
    ['strings that begin like quantities', { version: '1.2.3' }, { version: '1.2.4' }, 'version'],
    [
      'a changed named entry',
      { c: [{ name: 'a', x: 1 }] },
      { c: [{ name: 'a', x: 2 }] },
      'c[name=a].x',
    ],
    [
      'an undesired named entry',
      { c: [{ name: 'a' }] },
      { c: [{ name: 'a' }, { name: 'b' }] },
      'c[name=b]',
    ],
    ['a changed item', { args: ['a', 'b'] }, { args: ['a', 'c'] }, 'args[1]'],
    ['an undesired item', { args: ['a'] }, { args: ['a', 'b'] }, 'args[1]'],
    ['a changed type', { port: 'http' }, { port: 80 }, 'port'],
    [
      'a changed key with a dot',
      { data: { 'a.conf': '1' } },
      { data: { 'a.conf': '2' } },
      'data["a.conf"]',
    ],
  ];
  for (const [title, desired, live, path] of different) {
    it(`reports ${title}`, () => {
      expect(desiredDifferences(desired, live).map((change) => change.path)).to.deep.equal([path]);
    });
  }
});
