import { expect } from 'chai';
import { readCommandLine, outputOf, usageOf } from '../../lib/operator/command-line.js';
import type { RunPlace } from '../../lib/operator/command-line.js';
import { errorMessage } from '../../lib/system/as-error.js';
import { silentLogger } from '../../lib/system/logger.js';

const write = () => undefined;
const inPod = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };

function place(columns: number | undefined, env: RunPlace['env'] = {}): RunPlace {
  return { stdout: { write, columns }, stderr: { write, columns }, env };
}

describe('Operator.run', () => {
  for (const { at, args = [], where, hasFeed } of [
    { at: 'at a terminal', where: place(80), hasFeed: true },
    { at: 'in a pipe', where: place(undefined), hasFeed: false },
    { at: 'at the terminal of a Pod', where: place(80, inPod), hasFeed: false },
    {
      at: 'with --log-format json at a terminal',
      args: ['--log-format=json'],
      where: place(80),
      hasFeed: false,
    },
    {
      at: 'with --log-format text in a pipe',
      args: ['--log-format', 'text'],
      where: place(undefined),
      hasFeed: true,
    },
  ]) {
    it(`prints ${hasFeed ? 'the feed' : 'JSON lines'} ${at}`, async () => {
      const { feed } = await outputOf({}, readCommandLine(args), where);
      expect(feed !== undefined).to.equal(hasFeed);
    });
  }

  it('uses the option logFormat instead of the command line', async () => {
    const line = readCommandLine(['--log-format=json']);
    expect((await outputOf({ logFormat: 'text' }, line, place(undefined))).feed).to.be.an('object');
  });

  it('uses a logger that is passed, and then prints no feed', async () => {
    const output = await outputOf({ logger: silentLogger }, readCommandLine([]), place(80));
    expect(output).to.deep.equal({ logger: silentLogger });
  });

  it('rejects logFormat together with a logger', async () => {
    const options = { logger: silentLogger, logFormat: 'json' } as const;
    const refused = outputOf(options, readCommandLine([]), place(80));
    const message = await refused.then(() => 'no error', errorMessage);
    expect(message).to.equal(
      'Operator.run: logFormat and logger exclude each other; leave one of them out',
    );
  });

  const unset = {
    ...{ help: false, kubeconfig: undefined, namespace: undefined, leaderElect: undefined },
    ...{ healthPort: undefined, metrics: true, metricsPort: undefined, metricsAuth: undefined },
    ...{ metricsCertDir: undefined, plan: false, webhooks: true, webhookPort: undefined },
    ...{ webhookCertDir: undefined, logLevel: undefined, logFormat: undefined },
  };
  for (const [args, read] of [
    [[], {}],
    [['--help'], { help: true }],
    [
      ['--kubeconfig', 'a', '--namespace=b', '--leader-elect', '--health-port=0'],
      { kubeconfig: 'a', namespace: 'b', leaderElect: true, healthPort: 0 },
    ],
    [
      ['--no-leader-elect', '--no-metrics', '--metrics-port=65535', '--metrics-auth'],
      { leaderElect: false, metrics: false, metricsPort: 65_535, metricsAuth: true },
    ],
    [
      ['--no-metrics-auth', '--metrics-cert-dir=c', '--plan', '--no-webhooks'],
      { metricsAuth: false, metricsCertDir: 'c', plan: true, webhooks: false },
    ],
    [
      ['--webhook-port=9443', '--webhook-cert-dir=d', '--log-level=warn'],
      { webhookPort: 9443, webhookCertDir: 'd', logLevel: 'warn' },
    ],
    ...['debug', 'info', 'error'].map((level) => [[`--log-level=${level}`], { logLevel: level }]),
  ] as [string[], object][]) {
    it(`derives the settings from ${args.join(' ') || 'no options'}`, () => {
      expect(readCommandLine(args)).to.deep.equal({ ...unset, ...read });
    });
  }

  for (const [arg, problem] of [
    ['--log-level=loud', '--log-level: want debug, info, warn, error, got loud'],
    ['--health-port=65536', '--health-port: want 0 to 65535, got 65536'],
    ['--metrics-port=-1', '--metrics-port: want 0 to 65535, got -1'],
    ['--webhook-port=http', '--webhook-port: want 0 to 65535, got http'],
    ['--webhook-port=', '--webhook-port: want 0 to 65535, got '],
  ] as const) {
    it(`rejects the argument ${arg}`, () => {
      expect(() => readCommandLine([arg]))
        .to.throw(problem)
        .with.property('code', 'InvalidOption');
    });
  }

  it('explains each option of the command line', () => {
    const usage = usageOf('shop');
    expect(usage).to.match(/^Usage: shop \[options\]\n/);
    const shown = [...usage.matchAll(/^ {2}--([\w-]+)/gm)].map(([, option]) => option);
    expect(shown).to.deep.equal([
      ...['kubeconfig', 'namespace', 'leader-elect', 'no-leader-elect', 'health-port'],
      ...['metrics-port', 'metrics-auth', 'no-metrics-auth', 'metrics-cert-dir', 'no-metrics'],
      ...['plan', 'webhook-port', 'webhook-cert-dir', 'no-webhooks', 'log-level', 'log-format'],
      'help',
    ]);
  });

  it('rejects an unknown log format', () => {
    const problem = '--log-format: want text, json, got yaml';
    expect(() => readCommandLine(['--log-format=yaml'])).to.throw(problem);
  });
});
