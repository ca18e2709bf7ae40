import groupBy from 'lodash/groupBy.js';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { differences } from './comparison.js';
import type { Comparison } from './comparison.js';
import type { Answer } from './servers.js';

/**
 * The real server's answers to a scenario: each as its code and a digest, or null if the embedded server's answer
 * differs and the difference is listed.
 */
export type RecordedAnswers = readonly (string | null)[];

/** The subjects with recorded answers. Those that wait for the time of watches and of continued lists have none. */
export const recordedSubjects = [
  ...['discovery', 'verbs', 'writes', 'workloads', 'merging', 'custom', 'corners', 'access'],
  ...['deletions', 'evictions', 'scaling', 'resizes', 'odd-verbs', 'addresses', 'services'],
  ...['texts', 'quoting', 'values', 'versions', 'fields'],
] as const;

/** The seed of generated requests with recorded answers. */
export const recordedSeed = 1;

/** Returns the part of the names of namespaces: some answers have a hash of a name. */
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
