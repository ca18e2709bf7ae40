import { expect } from 'chai';
import fc from 'fast-check';
import {
  formatLabelSelector,
  labelRequirementsOf,
  matchesLabels,
  parseLabelSelector,
} from '../../lib/object/label-selector.js';
import type { LabelRequirement, LabelSelector } from '../../lib/object/label-selector.js';
import type { OperatorError } from '../../lib/system/operator-error.js';

const requirement = (
  key: string,
  operator: LabelRequirement['operator'],
  ...values: string[]
): LabelRequirement => ({ key, operator, values });

function errorOf(act: () => unknown): object {
  try {
    act();
  } catch (error) {
    const { code, message, cause } = error as OperatorError;
    return { code, message, cause: (cause as Error).message };
  }
  return {};
}

const badName =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const badValue =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

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

  const start = "expected: !, identifier, or 'end of string'";
  const next = "expected: ',' or 'end of string'";
  const operators = 'expected: in, notin, =, ==, !=, gt, lt';
  const integer = "for 'Gt', 'Lt' operators, the value must be an integer";
  const refused: readonly (readonly [text: string, problem: string])[] = [
    ['=', `found '=', ${start}`],
    [',', `found ',', ${start}`],
    [',a', `found ',', ${start}`],
    ['a,', "found '', expected: identifier after ','"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['a=b c', `found 'c', ${next}`],
    ['a=b=c', `found '=', ${next}`],
    ['!a=b', `found '=', ${next}`],
    ['a in (b))', `found ')', ${next}`],
  ];
  const refusedRequirements: readonly (readonly [text: string, problem: string])[] = [
    ['a b', `found 'b', ${operators}`],
    ['a ! b', `found '!', ${operators}`],
    ['a===b', "found '=', expected: identifier"],
    ['!', "found '', expected: identifier"],
    ['!!a', "found '!', expected: identifier"],
    ['a in b', "found 'b' expected: '('"],
    ['a notin', "found '' expected: '('"],
    ['a in (b', "found '', expected: ',' or ')'"],
    ['a in (', "found '', expected: ',', ')' or identifier"],
    ['a in ((b))', "found '(', expected: ',', ')' or identifier"],
    ['a in (b c)', "found 'c', expected: ',' or ')'"],
    ['a in (,,', "found '', expected: ',', or identifier"],
    ['-a', `<nil>: Invalid value: "-a": ${badName}`],
    ['a=b/c', `values[0][a]: Invalid value: "b/c": ${badValue}`],
    ['a in (a,-)', `values[0][a]: Invalid value: "-": ${badValue}`],
    ['a>b', `values[0]: Invalid value: "b": ${integer}`],
    ['a>', `values[0]: Invalid value: "": ${integer}`],
    ['a<1.5', `values[0]: Invalid value: "1.5": ${integer}`],
    [
      'a<-',
      `[values[0]: Invalid value: "-": ${integer}, values[0][a]: Invalid value: "-": ${badValue}]`,
    ],
    [
      `a=${'b'.repeat(64)}`,
      `values[0][a]: Invalid value: "${'b'.repeat(64)}": must be no more than 63 bytes`,
    ],
  ];
  const prefixed = refusedRequirements.map(
    ([text, problem]) => [text, `unable to parse requirement: ${problem}`] as const,
  );
  for (const [text, problem] of [...refused, ...prefixed]) {
    it(`rejects ${JSON.stringify(text)} with the message of the API server`, () => {
      expect(errorOf(() => parseLabelSelector(text))).to.deep.equal({
        code: 'InvalidSelector',
        message: `label selector ${text}: ${problem}`,
        cause: problem,
      });
    });
  }
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

  const counted = "Invalid value: for 'in', 'notin' operators, values set can't be empty";
  const uncounted = 'Invalid value: values set must be empty for exists and does not exist';
  const wanted = 'want In, NotIn, Exists or DoesNotExist';
  const invalid: readonly (readonly [selector: LabelSelector, problem: string])[] = [
    [{ matchLabels: { 'a b': '' } }, `key: Invalid value: "a b": ${badName}`],
    [{ matchLabels: { a: '-' } }, `values[0][a]: Invalid value: "-": ${badValue}`],
    ...[
      [{ key: 'a', operator: 'In', values: [] }, `values: ${counted}`] as const,
      [{ key: 'a', operator: 'NotIn' }, `values: ${counted}`] as const,
      [{ key: 'a', operator: 'Exists', values: ['b'] }, `values: ${uncounted}`] as const,
      [{ key: 'a', operator: 'DoesNotExist', values: ['b'] }, `values: ${uncounted}`] as const,
      [{ key: 'a', operator: 'Gt', values: ['1'] }, `operator Gt of a: ${wanted}`] as const,
      [{ key: 'a', operator: 'toString' }, `operator toString of a: ${wanted}`] as const,
    ].map(([expression, problem]) => [{ matchExpressions: [expression] }, problem] as const),
    [
      { matchExpressions: [{ key: '-', operator: 'Exists', values: ['-'] }] },
      `[key: Invalid value: "-": ${badName}, values: ${uncounted}, values[0][-]: Invalid value: "-": ${badValue}]`,
    ],
  ];
  for (const [selector, problem] of invalid) {
    const text = JSON.stringify(selector);
    it(`rejects ${text} with the message of the API server`, () => {
      expect(errorOf(() => labelRequirementsOf(selector))).to.deep.equal({
        code: 'InvalidSelector',
        message: `label selector ${text}: ${problem}`,
        cause: problem,
      });
    });
  }

  const badExpressions =
    'matchExpressions: want objects with key, operator and a list of strings as values';
  const malformed: readonly [selector: unknown, problem: string][] = [
    [null, 'want a string or an object'],
    [['a'], 'want a string or an object'],
    [{ app: 'web' }, 'unknown field app; put labels into matchLabels or matchExpressions'],
    [{ matchLabels: 'app=web' }, 'matchLabels: want an object'],
    [{ matchLabels: { size: 1 } }, 'matchLabels: want strings as values, got number for size'],
    [{ matchExpressions: { key: 'a' } }, 'matchExpressions: want a list'],
    [{ matchExpressions: ['a'] }, badExpressions],
    [{ matchExpressions: [{ operator: 'Exists' }] }, badExpressions],
    [{ matchExpressions: [{ key: 'a' }] }, badExpressions],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: 'b' }] }, badExpressions],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: [1] }] }, badExpressions],
  ];
  for (const [selector, problem] of malformed) {
    it(`rejects ${JSON.stringify(selector)}, which is not a selector`, () => {
      expect(errorOf(() => labelRequirementsOf(selector as LabelSelector))).to.deep.equal({
        code: 'InvalidSelector',
        message: `label selector ${JSON.stringify(selector)}: ${problem}`,
        cause: problem,
      });
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
    // The message names the value, because the selector in it is JSON, which leaves undefined out.
    expect(() => matchesLabels({ matchLabels: { app: undefined } } as object, {})).to.throw(
      'want strings as values, got undefined for app',
    );
    const empty: object = { matchLabels: null, matchExpressions: null };
    expect(labelRequirementsOf(empty)).to.deep.equal([]);
  });

  it('refuses values that have no JSON form', () => {
    const cycle: Record<string, unknown> = { matchLabels: {} };
    cycle['matchExpressions'] = [cycle];
    for (const selector of [{ matchLabels: { size: 1n } }, cycle] as object[]) {
      expect(() => labelRequirementsOf(selector))
        .to.throw('label selector ')
        .with.property('code', 'InvalidSelector');
    }
  });

  it('matches everything with an empty selector, and nothing if the selector is undefined', () => {
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

  it('returns a selector that is a text as it is', () => {
    expect(formatLabelSelector('b , a')).to.equal('b , a');
  });

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
