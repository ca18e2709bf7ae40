import type { Place } from './pass.js';

/** Formats a place, as in `set v1, resource env, applyCreateChange`. Unknown parts are left out. */
export function describePlace({ resourceSet, resource, step }: Place): string {
  const set = resourceSet === '' ? [] : [`set ${resourceSet}`];
  const named = resource === '' ? [] : [`resource ${resource}`];
  return [...set, ...named, step].join(', ');
}
