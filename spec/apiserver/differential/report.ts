import groupBy from 'lodash/groupBy.js';
import { differences } from './comparison.js';
import type { Comparison, Difference } from './comparison.js';
import { isListed, listedDifferences } from './listed-differences.js';
import type { ListedDifference } from './listed-differences.js';

/** A comparison whose answers differ in at least one part that is not listed. */
export interface Disagreement {
  readonly comparison: Comparison;
  /** The parts that are not listed. */
  readonly differences: readonly Difference[];
}

/** The comparisons of a subject. */
export interface Report {
  readonly subject: string;
  readonly requests: number;
  readonly agreed: number;
  /** Number of requests whose differences are all listed. */
  readonly listed: number;
  /** Number of requests that differed in the first run of their scenario, and agreed in the second. */
  readonly agreedLater: number;
  /** For each entry, the number of requests with a difference that it lists. */
  readonly uses: ReadonlyMap<ListedDifference, number>;
  /** Comparisons with differences that no entry lists: the run fails if there are any. */
  readonly unlisted: readonly Disagreement[];
  /** Entries for the subject that match no difference: the run fails if there are any. */
  readonly unused: readonly ListedDifference[];
}

/** Sorts the comparisons of a subject into agreements, listed differences and others. */
export function reportOf(
  subject: string,
  comparisons: readonly Comparison[],
  entries: readonly ListedDifference[] = listedDifferences,
): Report {
  const own = entries.filter(({ subjects }) => subjects.includes(subject));
  const uses = new Map<ListedDifference, number>();
  const unlisted: Disagreement[] = [];
  let [agreed, agreedLater] = [0, 0];
  for (const comparison of comparisons) {
    const parts = differences(comparison.embedded, comparison.real);
    if (parts.length === 0) agreed++;
    if (parts.length === 0 && comparison.differedBefore === true) agreedLater++;
    const entriesOf = parts.map((part) => own.find((entry) => isListed(comparison, part, entry)));
    for (const entry of new Set(entriesOf)) {
      if (entry !== undefined) uses.set(entry, (uses.get(entry) ?? 0) + 1);
    }
    const others = parts.filter((_, index) => entriesOf[index] === undefined);
    if (others.length > 0) unlisted.push({ comparison, differences: others });
  }
  const requests = comparisons.length;
  const listed = requests - agreed - unlisted.length;
  const unused = own.filter((entry) => !uses.has(entry));
  return { subject, requests, agreed, listed, agreedLater, uses, unlisted, unused };
}

/** Returns true if the list of known differences has each difference that was found, and no other for the subject. */
export function isClean({ unlisted, unused }: Report): boolean {
  return unlisted.length === 0 && unused.length === 0;
}

/** Returns the text of a report, with differences grouped by the place of the first. */
export function reportText(report: Report): string {
  const { subject, requests, agreed, listed, agreedLater, uses, unlisted, unused } = report;
  const lines = [
    `${subject}: ${requests} requests, ${agreed} agreed, ${listed} listed, ${unlisted.length} differ`,
    ...(agreedLater > 0 ? [`  differed in the first of two runs: ${agreedLater} requests`] : []),
    ...[...uses].map(([{ reason }, count]) => `  listed, ${count} requests: ${reason}`),
    ...unused.map(({ reason }) => `  unused entry, remove it: ${reason}`),
  ];
  const groups = Object.entries(groupBy(unlisted, groupOf));
  const bySize = groups.sort(([, one], [, other]) => other.length - one.length);
  for (const [group, members] of bySize) {
    lines.push(
      '',
      `${members.length} × ${group}`,
      ...members.slice(0, 3).flatMap(disagreementLines),
    );
  }
  return lines.join('\n');
}

/** Returns the sums of reports, in a line. */
export function totalText(reports: readonly Report[]): string {
  const sum = (count: (report: Report) => number): number =>
    reports.reduce((total, report) => total + count(report), 0);
  const agreed = sum((report) => report.agreed);
  const differ = sum(({ unlisted }) => unlisted.length);
  const unused = sum((report) => report.unused.length);
  return `total: ${sum(({ requests }) => requests)} requests, ${agreed} agreed, ${sum(({ listed }) => listed)} listed, ${differ} differ, ${unused} unused entries`;
}

function groupOf({ comparison, differences: [first] }: Disagreement): string {
  const { request, embedded, real } = comparison;
  const place = first?.path.replace(/\.\d+(?=\.|$)/g, '[]') ?? '';
  return `${request.method} ${embedded.code}/${real.code} ${place}`;
}

/** Returns the request and the values of the first parts that differ, cut to readable lengths. */
function disagreementLines({ comparison, differences: parts }: Disagreement): string[] {
  const { scenario, request } = comparison;
  return [
    `  ${scenario}: ${request.method} ${request.path} ${cut(request.body)}`,
    ...parts
      .slice(0, 3)
      .flatMap(({ path, embedded, real }) => [
        `    at ${path}`,
        `    embedded ${cut(embedded)}`,
        `    real     ${cut(real)}`,
      ]),
    ...(parts.length > 3 ? [`    and ${parts.length - 3} more`] : []),
  ];
}

function cut(value: unknown): string {
  const text = value === undefined ? '' : JSON.stringify(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
