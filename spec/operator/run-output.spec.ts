import { expect } from 'chai';
import { readCommandLine, outputOf } from '../../lib/operator/command-line.js';
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

  it('prefers the option logFormat to the command line', async () => {
    const line = readCommandLine(['--log-format=json']);
    expect((await outputOf({ logFormat: 'text' }, line, place(undefined))).feed).to.be.an('object');
  });

  it('uses a given logger and prints no feed', async () => {
    const output = await outputOf({ logger: silentLogger }, readCommandLine([]), place(80));
    expect(output).to.deep.equal({ logger: silentLogger });
  });

  it('rejects logFormat together with a logger', async () => {
    const options = { logger: silentLogger, logFormat: 'json' } as const;
    const refused = outputOf(options, readCommandLine([]), place(80));
    const message = await refused.then(() => 'no error', errorMessage);
    expect(message).to.equal('Operator.run: logFormat beside a logger; leave one of them out');
  });

  it('rejects an unknown log format', () => {
    const problem = '--log-format: want text, json, got yaml';
    expect(() => readCommandLine(['--log-format=yaml'])).to.throw(problem);
  });
});
