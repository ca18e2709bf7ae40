import { expect } from 'chai';
import {
  daysOf,
  durationMsOf,
  helpExamples,
  managerOptionsOf,
  namespacedNameOf,
  namespacesOf,
  portOf,
  watchedNamespacesOf,
} from '../../lib/cli/options.js';

describe('Options of the command line', () => {
  for (const [name, parse, texts, refused, message] of [
    [
      'ports',
      portOf,
      { '0': 0, '65535': 65_535 },
      ['65536', '-1', '1.5', '', 'a'],
      'Want a port, 0 to 65535.',
    ],
    ['days', daysOf, { '1': 1, '99999': 99_999 }, ['0', '01', '-1', '100000', ''], 'Want a number'],
    [
      'durations',
      durationMsOf,
      { '90m': 5_400_000, '1.5s': 1500, '1us': 0.001 },
      ['0s', '-1s', '5', ''],
      'Want a duration above 0, for example 90m or 24h.',
    ],
    [
      'namespaced names',
      namespacedNameOf,
      { 'shop/operator.v1': { namespace: 'shop', name: 'operator.v1' } },
      ['shop', 'shop/', '/a', 'a/b/c', 'A/b', 'a/B', 'a.b/c'],
      'Want a namespace and a name, such as shop/operator.',
    ],
    [
      'namespaces',
      (text: string) => namespacesOf(text, ['a']),
      { 'b, a,b': ['a', 'b'], '*': ['a', '*'] },
      ['', 'b,', 'B'],
      'Want names, separated by commas.|The namespace "B" must',
    ],
    [
      'namespaces to watch',
      (text: string) => watchedNamespacesOf(text),
      { 'b,a': ['b', 'a'] },
      ['*', 'a,*'],
      'Want names of namespaces; without the option, all namespaces are watched.',
    ],
  ] as const) {
    it(`accept ${name}, and refuse other texts`, () => {
      const given = Object.keys(texts).map((text) => [text, parse(text)] as const);
      expect(Object.fromEntries(given)).to.deep.equal(texts);
      for (const text of refused) {
        expect(() => parse(text), text).to.throw(new RegExp(message.replaceAll('*', '\\*')));
      }
    });
  }

  it('serve health checks and metrics only on ports that are given', () => {
    const leaderElection = { namespace: 'shop', name: 'operator' };
    expect(managerOptionsOf({})).to.deep.equal({
      ...{ health: false, metrics: false, leaderElection: undefined },
    });
    expect(managerOptionsOf({ healthPort: 0, metricsPort: 1, leaderElection })).to.deep.equal({
      ...{ health: { port: 0 }, metrics: { port: 1 }, leaderElection },
    });
  });

  it('have examples in the help text', () => {
    expect(helpExamples({ 'a -b': 'Does A.', c: 'Does C.' })).to.equal(
      '\nExamples:\n  $ a -b\n      Does A.\n  $ c\n      Does C.',
    );
  });
});
