import type { Place } from './pass.js';

/** `set v1, resource env, applyCreateChange`; what is not known is left out. */
export function describePlace({ resourceSet, resource, step }: Place): string {
  const set = resourceSet === '' ? [] : [`set ${resourceSet}`];
  const named = resource === '' ? [] : [`resource ${resource}`];
  return [...set, ...named, step].join(', ');
}
