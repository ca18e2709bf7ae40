import { expect } from 'chai';
import groupBy from 'lodash/groupBy.js';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { answersOf, differences } from './comparison.js';
import type { Comparison } from './comparison.js';
import { embeddedInProcess } from './servers.js';
import type { Answer, Server } from './servers.js';
import { subjects } from './subjects/index.js';

/**
 * The real server's answers to a scenario: each as its code and a digest, or null if the embedded server's answer
 * differs and the difference is listed.
 */
export type RecordedAnswers = readonly (string | null)[];

/** The subjects with recorded answers, by the spec file that asks the embedded server. */
export const recordedSubjects = {
  verbs: ['verbs', 'odd-verbs'],
  custom: ['custom', 'versions', 'discovery'],
  fields: ['fields', 'changes'],
  parts: ['jobs', 'pod-parts', 'cluster-parts', 'extension-parts', 'columns', 'workload-parts'],
  objects: [
    ...[
      'writes',
      'workloads',
      'merging',
      'corners',
      'forms',
      'access',
      'deletions',
      'evictions',
      'scaling',
    ],
    ...['resizes', 'addresses', 'services', 'texts', 'quoting', 'values', 'options'],
  ],
} as const;

/** The subjects without recorded answers, because their watches and continued lists take real time. */
export const unrecordedSubjects: readonly string[] = ['reads', 'watches'];

/** The seed of generated requests with recorded answers. */
export const recordedSeed = 1;

/** Returns a constant part of the names of a subject's namespaces, because some answers contain a hash of a name. */
export function recordedRun(subject: string): string {
  return `recorded-${subject}`;
}

/** Returns the code and a digest of a normalised answer. */
export function digestOf({ code, type, warning, body }: Answer): string {
  const whole = JSON.stringify([type, warning, body]);
  return `${code} ${createHash('sha256').update(whole).digest('base64url').slice(0, 8)}`;
}

/** Writes the recording of a subject: a line for each scenario. */
export function recordAnswers(subject: string, comparisons: readonly Comparison[]): void {
  const scenarios = Object.entries(groupBy(comparisons, ({ scenario }) => scenario));
  const lines = scenarios.map(([title, steps]) => JSON.stringify([title, ...steps.map(recorded)]));
  writeFileSync(recordingUrl(subject), `${lines.join('\n')}\n`);
}

function recorded({ embedded, real }: Comparison): string | null {
  return differences(embedded, real).length > 0 ? null : digestOf(real);
}

/** Returns the recording of a subject by the titles of its scenarios. */
export function recordedAnswers(subject: string): ReadonlyMap<string, RecordedAnswers> {
  const lines = readFileSync(recordingUrl(subject), 'utf8').trim().split('\n');
  return new Map(
    lines.map((line) => {
      const [title, ...answers] = JSON.parse(line) as [string, ...RecordedAnswers];
      return [title, answers];
    }),
  );
}

function recordingUrl(subject: string): URL {
  return new URL(`recorded/${subject}.jsonl`, import.meta.url);
}

/** Declares a spec for each subject: the embedded server answers as recorded. */
export function itAnswersAsRecorded(names: readonly string[]): void {
  for (const subject of names) {
    it(`the embedded server gives the recorded answers about ${subject}`, async () => {
      const server = embeddedInProcess();
      const problems = await problemsOf(subject, server);
      await server.stop();
      const remedy = `npm run differential -- --subject ${subject}`;
      expect(problems, `${remedy} shows the differences`).to.deep.equal([]);
    });
  }
}

/** Returns a line for each answer that is not the recorded one. */
async function problemsOf(subject: string, server: Server): Promise<readonly string[]> {
  const scenarios = subjects[subject]?.(recordedSeed) ?? [];
  const recorded = recordedAnswers(subject);
  expect([...recorded.keys()]).to.deep.equal(scenarios.map(({ title }) => title));
  const answers = await answersOf(server, scenarios, recordedRun(subject));
  return scenarios.flatMap(({ title, requests }, index) => {
    const given = (answers[index] ?? []).map(digestOf);
    const wanted = recorded.get(title) ?? [];
    const steps = requests.slice(0, Math.max(given.length, wanted.length));
    return steps.flatMap(({ method, path }, step) => {
      const { [step]: got = 'none' } = given;
      const { [step]: want = 'none' } = wanted;
      const problem = `${title}, ${step}: ${method} ${path}: got ${got}, want ${want}`;
      return wanted[step] === null || got === want ? [] : [problem];
    });
  });
}
