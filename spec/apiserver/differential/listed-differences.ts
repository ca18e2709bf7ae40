import type { Comparison } from './comparison.js';

/** Requests that the servers may answer differently. */
export interface ListedDifference {
  /** Matches `SCENARIO: METHOD PATH` of the request, with ` as ACCEPT` if it asks for a media type. */
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
    of: / as application\/yaml$/,
    at: /^\.type$/,
    reason: 'Answers in YAML: the embedded server has no YAML encoder, and answers 406 or JSON.',
  },
  {
    of: /v1 Node: /,
    at: /^\.body(?:\.items\.\d+|\.rows\.\d+\.object)?\.spec\.taints/,
    reason:
      'A new Node has no taint not-ready: without a node controller, nothing would remove the taint.',
  },
  {
    of: /fields of resource\.k8s\.io.*: POST /,
    at: /^\.code$/,
    reason: 'Claims for devices are checked by their schema only: nothing allocates devices.',
  },
  {
    of: /life of v1 Service: POST /,
    at: /^\.body\.details\.causes\.0\.field$/,
    reason:
      'A Service with an invalid name is refused for its name, not for the address that its name cannot hold.',
  },
  {
    of: /patches: PATCH .*\/one$/,
    at: /^\.warning$/,
    reason: 'A JSON patch that replaces the whole object has no warning about its metadata.',
  },
  {
    of: /: GET \/api\/v1\/componentstatuses/,
    at: /^\.body\.(?:metadata\.resourceVersion|details\.kind)$/,
    reason: 'ComponentStatuses, deprecated since v1.19, are an empty collection like others.',
  },
  {
    of: /: GET \/$/,
    at: /^\.type$/,
    reason:
      'The list of all paths of a server is not served: it names the parts of the real program.',
  },
];

/** Returns the entry that allows a comparison's first difference, if one does. */
export function listedFor(
  { scenario, request }: Comparison,
  path: string,
): ListedDifference | undefined {
  const { method, path: target, accept } = request;
  const where = `${scenario}: ${method} ${target}${accept === undefined ? '' : ` as ${accept}`}`;
  return listedDifferences.find(({ of, at }) => of.test(where) && at.test(path));
}
