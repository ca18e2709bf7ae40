import groupBy from 'lodash/groupBy.js';
import { firstDifference } from './comparison.js';
import type { Comparison, Difference } from './comparison.js';
import { listedFor } from './listed-differences.js';
import type { ListedDifference } from './listed-differences.js';

/** A comparison whose answers differ. */
export interface Disagreement extends Difference {
  readonly comparison: Comparison;
}

/** The result of a run. */
export interface Report {
  readonly requests: number;
  readonly agreed: number;
  readonly listed: ReadonlyMap<ListedDifference, number>;
  /** Differences that are not listed: the run fails if there are any. */
  readonly unlisted: readonly Disagreement[];
}

/** Sorts the comparisons of a run into agreements, listed differences and others. */
export function reportOf(comparisons: readonly Comparison[]): Report {
  const listed = new Map<ListedDifference, number>();
  const unlisted: Disagreement[] = [];
  for (const comparison of comparisons) {
    const difference = firstDifference(comparison.embedded, comparison.real);
    if (difference === undefined) continue;
    const entry = listedFor(comparison, difference.path);
    if (entry === undefined) unlisted.push({ ...difference, comparison });
    else listed.set(entry, (listed.get(entry) ?? 0) + 1);
  }
  const allowed = [...listed.values()].reduce((sum, count) => sum + count, 0);
  const agreed = comparisons.length - unlisted.length - allowed;
  return { requests: comparisons.length, agreed, listed, unlisted };
}

/** Returns the text of a report, with differences grouped by their place. */
export function reportText({ requests, agreed, listed, unlisted }: Report): string {
  const lines = [`${requests} requests, ${agreed} agreed, ${unlisted.length} differ`];
  for (const [{ reason }, count] of listed) lines.push(`  listed, ${count} requests: ${reason}`);
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

function groupOf({ comparison, path }: Disagreement): string {
  const { request, embedded, real } = comparison;
  const place = path.replace(/\.\d+(?=\.|$)/g, '[]');
  return `${request.method} ${embedded.code}/${real.code} ${place}`;
}

/** Returns the request and both values, cut to readable lengths. */
function disagreementLines({ comparison, embedded, real, path }: Disagreement): string[] {
  const { scenario, request } = comparison;
  return [
    `  ${scenario}: ${request.method} ${request.path} ${cut(request.body)}`,
    `    at ${path}`,
    `    embedded ${cut(embedded)}`,
    `    real     ${cut(real)}`,
  ];
}

function cut(value: unknown): string {
  const text = value === undefined ? '' : JSON.stringify(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
