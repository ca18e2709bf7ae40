import { expect } from 'chai';
import fc from 'fast-check';
import {
  formatLabelSelector,
  labelRequirementsOf,
  matchesLabels,
  parseLabelSelector,
} from '../../lib/object/label-selector.js';
import type { LabelRequirement, LabelSelector } from '../../lib/object/label-selector.js';

const requirement = (
  key: string,
  operator: LabelRequirement['operator'],
  ...values: string[]
): LabelRequirement => ({ key, operator, values });

describe('parseLabelSelector', () => {
  const cases: [string, LabelRequirement[]][] = [
    ['', []],
    [' \t', []],
    ['a', [requirement('a', 'Exists')]],
    ['!a', [requirement('a', 'DoesNotExist')]],
    ['! a', [requirement('a', 'DoesNotExist')]],
    ['a=b', [requirement('a', 'In', 'b')]],
    ['a == b', [requirement('a', 'In', 'b')]],
    ['a=', [requirement('a', 'In', '')]],
    ['a=,b', [requirement('a', 'In', ''), requirement('b', 'Exists')]],
    ['a!=b', [requirement('a', 'NotIn', 'b')]],
    ['a in (c, b,c)', [requirement('a', 'In', 'b', 'c')]],
    ['a in(b)', [requirement('a', 'In', 'b')]],
    ['a in ()', [requirement('a', 'In', '')]],
    ['a in (b,)', [requirement('a', 'In', '', 'b')]],
    ['a in (,,)', [requirement('a', 'In', '')]],
    ['a notin (b)', [requirement('a', 'NotIn', 'b')]],
    ['in', [requirement('in', 'Exists')]],
    ['in in (in,notin)', [requirement('in', 'In', 'in', 'notin')]],
    ['notin=in', [requirement('notin', 'In', 'in')]],
    ['a>1', [requirement('a', 'Gt', '1')]],
    [
      'a=c,a!=b,a',
      [requirement('a', 'In', 'c'), requirement('a', 'NotIn', 'b'), requirement('a', 'Exists')],
    ],
    ['b,a', [requirement('a', 'Exists'), requirement('b', 'Exists')]],
    ['example.com/a=b\n,c', [requirement('c', 'Exists'), requirement('example.com/a', 'In', 'b')]],
  ];
  for (const [text, expected] of cases) {
    it(`parses ${JSON.stringify(text)}`, () => {
      expect(parseLabelSelector(text)).to.deep.equal(expected);
    });
  }

  const bad = ['=', ',', 'a,', ',a', 'a,,b', 'a b', 'a=b c', 'a=b=c', 'a===b', '!a=b', '!', '!!a'];
  const worse = ['a in b', 'a in (b', 'a in (b))', 'a in', 'a in (b c)', 'a in ((b))', 'a notin'];
  const invalid = ['a/b/c', 'a=b/c', 'a>b', 'a>', 'a<1.5', '-a', `a=${'b'.repeat(64)}`, 'a ! b'];
  for (const text of [...bad, ...worse, ...invalid]) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(() => parseLabelSelector(text))
        .to.throw('label selector')
        .with.property('code', 'InvalidSelector');
    });
  }

  it('reports the token found and the one expected', () => {
    expect(() => parseLabelSelector('a in b')).to.throw(
      `selector a in b: unable to parse requirement: found 'b' expected: '('`,
    );
    expect(() => parseLabelSelector('a,')).to.throw(
      `selector a,: found '', expected: identifier after ','`,
    );
  });
});

describe('labelRequirementsOf', () => {
  it('combines matchLabels and matchExpressions', () => {
    const selector = {
      matchLabels: { b: 'x' },
      matchExpressions: [
        { key: 'a', operator: 'In', values: ['z', 'y'] },
        { key: 'c', operator: 'DoesNotExist' },
      ],
    };
    expect(formatLabelSelector(selector)).to.equal('a in (y,z),b=x,!c');
  });

  const invalid = [
    { matchLabels: { 'a b': '' } },
    { matchLabels: { a: '-' } },
    { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] },
    { matchExpressions: [{ key: 'a', operator: 'NotIn', values: [] }] },
    { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
    { matchExpressions: [{ key: 'a', operator: 'DoesNotExist', values: ['b'] }] },
    { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] },
    { matchExpressions: [{ key: 'a', operator: 'toString' }] },
  ];
  for (const selector of invalid) {
    it(`rejects ${JSON.stringify(selector)}`, () => {
      const read = () => labelRequirementsOf(selector);
      expect(read).to.throw().with.property('code', 'InvalidSelector');
    });
  }

  const malformed: readonly [selector: unknown, problem: string][] = [
    [null, 'want a string or an object'],
    [['a'], 'want a string or an object'],
    [{ app: 'web' }, 'unknown field app; put labels into matchLabels or matchExpressions'],
    [{ matchLabels: 'app=web' }, 'matchLabels: want an object'],
    [{ matchLabels: { size: 1 } }, 'matchLabels: want strings as values'],
    [{ matchExpressions: { key: 'a' } }, 'matchExpressions: want a list'],
    [{ matchExpressions: ['a'] }, 'matchExpressions: want objects with key, operator'],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: 'b' }] }, 'a list of strings'],
  ];
  for (const [selector, problem] of malformed) {
    it(`rejects ${JSON.stringify(selector)}, which is not a selector`, () => {
      expect(() => labelRequirementsOf(selector as LabelSelector))
        .to.throw(`label selector ${JSON.stringify(selector)}: `)
        .with.property('code', 'InvalidSelector');
      expect(() => labelRequirementsOf(selector as LabelSelector)).to.throw(problem);
    });
  }
});

describe('matchesLabels', () => {
  const labels = { app: 'web', tier: '', size: '10' };
  const selecting = ['', 'app', 'app=web', 'tier=', 'app in (a,web)', '!none', 'none!=x', 'app!=x'];
  const integers = ['size>9', 'size<11', 'size>0'];
  for (const selector of [...selecting, 'none notin (x)', ...integers]) {
    it(`matches ${JSON.stringify(selector)}`, () => {
      expect(matchesLabels(selector, labels)).to.equal(true);
    });
  }
  const other = ['none', 'none=', 'app=x', 'app notin (web)', '!app', 'app!=web', 'app,none'];
  for (const selector of [...other, 'size>10', 'size<10', 'app>1', 'none<1', 'toString']) {
    it(`does not match ${JSON.stringify(selector)}`, () => {
      expect(matchesLabels(selector, labels)).to.equal(false);
    });
  }

  it('refuses values that are not strings, and accepts null for an absent member', () => {
    const wrong: readonly object[] = [
      { matchLabels: { app: undefined } },
      { matchLabels: { app: 1 } },
      { matchExpressions: [{ key: 'app', operator: 'In', values: 'web' }] },
      { matchExpressions: [{ key: 'app', operator: 'In', values: [undefined] }] },
    ];
    for (const selector of wrong) {
      expect(() => matchesLabels(selector, { app: '1' }))
        .to.throw(/want strings as values|list of strings as values/)
        .with.property('code', 'InvalidSelector');
    }
    // JSON has no undefined, so the quoted selector alone would not tell.
    expect(() => matchesLabels({ matchLabels: { app: undefined } } as object, {})).to.throw(
      'want strings as values, got undefined for app',
    );
    const empty: object = { matchLabels: null, matchExpressions: null };
    expect(labelRequirementsOf(empty)).to.deep.equal([]);
  });

  it('refuses values without JSON', () => {
    const cycle: Record<string, unknown> = { matchLabels: {} };
    cycle['matchExpressions'] = [cycle];
    for (const selector of [{ matchLabels: { size: 1n } }, cycle] as object[]) {
      expect(() => labelRequirementsOf(selector))
        .to.throw('label selector ')
        .with.property('code', 'InvalidSelector');
    }
  });

  it('matches everything with an empty selector and nothing with undefined', () => {
    expect(matchesLabels({}, labels)).to.equal(true);
    expect(matchesLabels({}, undefined)).to.equal(true);
    expect(matchesLabels(undefined, labels)).to.equal(false);
  });
});

describe('formatLabelSelector', () => {
  for (const text of ['', 'a', '!a', 'a=', 'a!=b', 'a in (,b)', 'a notin (b,c)', 'a>1', 'a<2']) {
    it(`formats the parsed ${JSON.stringify(text)} as the same text`, () => {
      expect(formatLabelSelector(parseLabelSelector(text))).to.equal(text);
    });
  }

  const word = fc.stringMatching(/^[a-z0-9]([-a-z0-9_.]{0,8}[a-z0-9])?$/);
  const values = fc.uniqueArray(fc.oneof(word, fc.constant('')), { minLength: 1, maxLength: 4 });
  const requirements = fc.uniqueArray(
    fc.oneof(
      fc.record({ key: word, operator: fc.constantFrom('In', 'NotIn'), values }),
      fc.record({
        key: word,
        operator: fc.constantFrom('Exists', 'DoesNotExist'),
        values: fc.constant([]),
      }),
    ),
    { selector: ({ key }) => key, maxLength: 5 },
  );

  it('produces text that parses to the same requirements', () => {
    const property = fc.property(requirements, (matchExpressions) => {
      const expected = labelRequirementsOf({ matchExpressions });
      expect(parseLabelSelector(formatLabelSelector(expected))).to.deep.equal(expected);
    });
    fc.assert(property);
  });
});
