import type { Comparison, Difference } from './comparison.js';

/**
 * Requests that the two servers may answer differently: in the parts that `at` matches, or as a whole, with the
 * status codes of `codes`. The report of a subject fails if none of its requests differs in this way.
 */
export interface ListedDifference {
  readonly subjects: readonly string[];
  /** Matches `SCENARIO: METHOD PATH` of the request, with ` as ACCEPT` if it asks for a media type. */
  readonly of: RegExp;
  /** Matches the path of each part that may differ, such as `.body.message`. */
  readonly at?: RegExp;
  /** Pairs of codes of answers that may differ as a whole. */
  readonly codes?: readonly StatusCodes[];
  readonly reason: string;
}

/** The status codes of two answers. */
export interface StatusCodes {
  readonly embedded: number;
  readonly real: number;
}

/** The known differences: at most 15, each with a reason. */
export const listedDifferences: readonly ListedDifference[] = [
  {
    subjects: ['fields', 'changes'],
    of: /(?:fields|changes) of resource\.k8s\.io.*: (?:POST|PUT) /,
    codes: [
      { embedded: 201, real: 422 },
      { embedded: 200, real: 422 },
    ],
    reason: 'Claims for devices are checked by their schema only: nothing allocates devices.',
  },
  {
    subjects: ['changes'],
    of: /changes of discovery\.k8s\.io\/v1 EndpointSlice: PUT /,
    at: /^\.body\.metadata\.generation$/,
    reason: 'A deprecatedTopology, which this version drops, does not count as a change.',
  },
  {
    subjects: ['verbs'],
    of: /life of v1 Service: POST /,
    at: /^\.body\.(?:message|details\.causes\.0\.(?:field|message))$/,
    reason:
      'A Service with an invalid name is refused for its name, not for the address that its name cannot hold.',
  },
  {
    subjects: ['writes'],
    of: /patches: PATCH .*\/one$/,
    at: /^\.warning$/,
    reason: 'A JSON patch that replaces the whole object has no warning about its metadata.',
  },
  {
    subjects: ['discovery'],
    of: /: GET \/api\/v1\/componentstatuses/,
    at: /^\.body\.(?:metadata\.resourceVersion|message|details\.kind)$/,
    reason: 'ComponentStatuses, deprecated since v1.19, are an empty collection like others.',
  },
  {
    subjects: ['discovery'],
    of: /: GET \/$/,
    at: /^\.body\.paths/,
    reason:
      'The list of all paths of a server names the parts of the program, such as its start-up hooks.',
  },
];

/** Returns whether an entry allows that a part of two answers differs. */
export function isListed(
  { scenario, request, embedded, real }: Comparison,
  { path }: Difference,
  { of, at, codes = [] }: ListedDifference,
): boolean {
  const { method, path: target, accept } = request;
  const where = `${scenario}: ${method} ${target}${accept === undefined ? '' : ` as ${accept}`}`;
  const isWhole = codes.some((pair) => pair.embedded === embedded.code && pair.real === real.code);
  return of.test(where) && (isWhole || at?.test(path) === true);
}
