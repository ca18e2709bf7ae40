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
export const listedDifferences: readonly ListedDifference[] = [
  {
    of: /[lL]abelSelector=|fieldSelector=/,
    at: /^\.body\.message$/,
    reason: 'The message about a malformed selector names the position in other words.',
  },
  {
    of: /: GET .*fieldSelector=%3D$/,
    at: /^\.code$/,
    reason:
      'A field selector without a field is refused: the real server selects everything by it.',
  },
  {
    of: /: GET .*watch=true/,
    at: /^\.type$/,
    reason: 'The refusal of a watch in YAML is JSON: the embedded server has no YAML encoder.',
  },
  {
    of: /v1 Node: /,
    at: /^\.body(?:\.items\.\d+|\.rows\.\d+\.object)?\.spec\.taints/,
    reason:
      'A new Node has no taint not-ready: without a node controller, nothing would remove the taint.',
  },
  {
    of: /(?:fields|applies|life) of resource\.k8s\.io/,
    at: /./,
    reason:
      'Claims for devices (dynamic resource allocation) are checked by their schema only: nothing allocates devices.',
  },
  {
    of: /APIService: /,
    at: /^\.body\.(?:status|metadata\.managedFields)/,
    reason: 'An APIService has no condition Available: no controller asks its service.',
  },
];

/** Returns the entry that allows a comparison's first difference, if one does. */
export function listedFor(
  { scenario, request }: Comparison,
  path: string,
): ListedDifference | undefined {
  const where = `${scenario}: ${request.method} ${request.path}`;
  return listedDifferences.find(({ of, at }) => of.test(where) && at.test(path));
}
