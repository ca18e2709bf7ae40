/** Resources that a manager reads and writes for itself. */
const always: ReadonlySet<string> = new Set([
  ...['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews'],
  ...['subjectaccessreviews', 'localsubjectaccessreviews', 'tokenreviews'],
  ...['leases', 'events'],
]);

/** Resources that a manager reads for itself, but never writes. */
const looked: ReadonlySet<string> = new Set(['customresourcedefinitions']);
const reading: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'event']);

/**
 * Whether a manager itself, outside its reconcilers, sends requests with this verb for this resource: access and token
 * reviews, leases, events, and reads of CustomResourceDefinitions.
 * @param resource - the kind, or the plural.
 */
export function isBookkeeping(verb: string, resource: string): boolean {
  const lower = resource.toLowerCase();
  const plural = lower.endsWith('s') ? lower : `${lower}s`;
  return always.has(plural) || (looked.has(plural) && reading.has(verb));
}
