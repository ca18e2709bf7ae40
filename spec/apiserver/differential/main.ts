// Compares the embedded server with a real one:
// npm run differential -- [--subject NAME]… [--seed N] [--steps N] [--kind KIND]… [--json FILE]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compare } from './comparison.js';
import type { Comparison, Servers } from './comparison.js';
import { compareRandomWrites, sequenceText } from './random/random-writes.js';
import { reportOf, reportText } from './report.js';
import { startEmbedded, startReal } from './servers.js';
import { subjects } from './subjects/index.js';

const { values } = parseArgs({
  options: {
    subject: { type: 'string', multiple: true },
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '10000' },
    kind: { type: 'string', multiple: true },
    json: { type: 'string' },
  },
});

async function main(): Promise<void> {
  const { json } = values;
  const servers = { embedded: await startEmbedded(), real: await startReal() };
  try {
    const report = reportOf(await comparisons(servers));
    process.stdout.write(`${reportText(report)}\n`);
    if (json !== undefined) writeFileSync(json, JSON.stringify(report.unlisted, null, 2));
    process.exitCode = report.unlisted.length > 0 ? 1 : 0;
  } finally {
    await servers.embedded.stop();
    await servers.real.stop();
  }
}

/** Compares the chosen subjects, by default all of them; `random` is the subject of random writes. */
async function comparisons(servers: Servers): Promise<Comparison[]> {
  const seed = Number(values.seed);
  const { subject = [...Object.keys(subjects), 'random'] } = values;
  const chosen = subject.flatMap((name) => subjects[name]?.(seed) ?? []);
  const results = await compare(servers, chosen);
  if (!subject.includes('random')) return results;
  const options = { steps: Number(values.steps), seed, kinds: values.kind };
  const { comparisons: random, failure } = await compareRandomWrites(servers, options);
  if (failure !== undefined) {
    process.stdout.write(`shortest sequence that differs:\n${sequenceText(failure)}\n`);
  }
  return [...results, ...random];
}

await main();
