import type { Comparison } from './comparison.js';

/** Requests that the servers may answer differently. */
export interface ListedDifference {
  /** Matches `SCENARIO: METHOD PATH` of the request. */
  readonly of: RegExp;
  /** Matches the path of the first difference, such as `.body.message`. */
  readonly at: RegExp;
  readonly reason: string;
}

/** The known differences: at most 15, each with a reason. */
export const listedDifferences: readonly ListedDifference[] = [];

/** Returns the entry that allows a comparison's first difference, if one does. */
export function listedFor(
  { scenario, request }: Comparison,
  path: string,
): ListedDifference | undefined {
  const where = `${scenario}: ${request.method} ${request.path}`;
  return listedDifferences.find(({ of, at }) => of.test(where) && at.test(path));
}
