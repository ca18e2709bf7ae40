import type { CoreV1ResourceClaim, V1PodResourceClaim } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { labelProblems, subdomainProblems } from '../../object/index.js';
import type { Wire } from '../../object/index.js';

type PodClaim = Wire<V1PodResourceClaim>;
type Use = Wire<CoreV1ResourceClaim>;

/** Checks the resource claims of a pod, such as those for devices. */
export function validatePodClaims(claims: readonly PodClaim[], errors: FieldErrors): void {
  const names = new Set<string>();
  errors.each('', claims, (claim, errors) => {
    const { name } = claim;
    if (name === '') errors.required('name');
    else if (names.has(name)) errors.duplicate('name', name);
    else errors.invalidEach('name', name, labelProblems(name));
    names.add(name);
    validateSource(claim, errors);
  });
}

function validateSource(claim: PodClaim, errors: FieldErrors): void {
  const sources = ['resourceClaimName', 'resourceClaimTemplateName'] as const;
  const given = sources.filter((member) => claim[member] !== undefined);
  if (given.length !== 1) {
    const why =
      given.length === 0
        ? 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'
        : 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
    errors.invalid('', claim, why);
  }
  for (const member of given) {
    const { [member]: name = '' } = claim;
    errors.invalidEach(member, name, subdomainProblems(name));
  }
}

/** Returns the names by which the containers of a pod can use its claims. */
export function claimNames(claims: readonly PodClaim[]): ReadonlySet<string> {
  return new Set(claims.map(({ name }) => name).filter((name) => name !== ''));
}

/** Checks the claims that a container uses. @param known - the names of the pod's claims */
export function validateUsedClaims(
  uses: readonly Use[],
  known: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  const seen = new Map<string, Set<string>>();
  const which = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
  errors.each('', uses, ({ name, request = '' }, errors) => {
    if (name === '') {
      errors.required('');
      return;
    }
    const before = seen.get(name) ?? new Set();
    validateUse({ name, request }, before, errors);
    seen.set(name, before.add(request));
    if (known.has(name)) return;
    errors.notFound('', name, `must be one of the names in pod.spec.resourceClaims${which}`);
  });
}

/**
 * Checks that containers do not use a request of a resource claim twice. An empty `request` uses the whole claim.
 * @param before - the requests of the claim that are used already
 */
function validateUse(
  { name, request }: Required<Use>,
  before: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  if (before.has('')) {
    errors.duplicate('', name);
    return;
  }
  if (request === '') {
    // The whole claim includes each request that is already used, so each of them is a duplicate.
    for (let count = before.size; count > 0; count--) errors.duplicate('', name);
    return;
  }
  errors.invalidEach('request', request, labelProblems(request));
  if (before.has(request)) errors.duplicate('', `${name}/${request}`);
}
