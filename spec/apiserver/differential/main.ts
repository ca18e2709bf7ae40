// Compares the embedded server with a real one:
// npm run differential -- [--subject NAME]… [--seed N] [--steps N] [--kind KIND]… [--json FILE] [--record]
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compare } from './comparison.js';
import type { Comparison, Servers } from './comparison.js';
import { compareRandomWrites, sequenceText } from './random/random-writes.js';
import { recordAnswers, recordedRun, unrecordedSubjects } from './recorded-answers.js';
import { isClean, reportOf, reportText, totalText } from './report.js';
import type { Report } from './report.js';
import { startEmbedded, startReal } from './servers.js';
import { subjects } from './subjects/index.js';

/** The subject of random writes, which runs after the others. */
const random = 'random';

const { values } = parseArgs({
  options: {
    subject: { type: 'string', multiple: true },
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '10000' },
    kind: { type: 'string', multiple: true },
    json: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  const { json } = values;
  const servers = { embedded: await startEmbedded(), real: await startReal() };
  const reports: Report[] = [];
  try {
    for (const subject of values.subject ?? [...Object.keys(subjects), random]) {
      const compared = await comparisons(subject, servers);
      const report = reportOf(subject, compared);
      process.stdout.write(`${reportText(report)}\n`);
      reports.push(report);
      const isRecorded = subject !== random && !unrecordedSubjects.includes(subject);
      if (values.record && isRecorded && isClean(report)) recordAnswers(subject, compared);
    }
  } finally {
    await servers.embedded.stop();
    await servers.real.stop();
  }
  process.stdout.write(`${totalText(reports)}\n`);
  const unlisted = reports.flatMap((report) => report.unlisted);
  if (json !== undefined) writeFileSync(json, JSON.stringify(unlisted, null, 2));
  process.exitCode = reports.every(isClean) ? 0 : 1;
}

/** Compares both servers for a subject: with random writes, or with the scenarios of the subject. */
async function comparisons(subject: string, servers: Servers): Promise<readonly Comparison[]> {
  const seed = Number(values.seed);
  if (subject === random) {
    const options = { steps: Number(values.steps), seed, kinds: values.kind };
    const { comparisons, failure } = await compareRandomWrites(servers, options);
    if (failure !== undefined) {
      process.stdout.write(`shortest sequence that differs:\n${sequenceText(failure)}\n`);
    }
    return comparisons;
  }
  const scenarios = subjects[subject];
  if (scenarios === undefined) throw new Error(`no subject ${subject}`);
  return compare(servers, scenarios(seed), values.record ? recordedRun(subject) : undefined);
}

await main();
