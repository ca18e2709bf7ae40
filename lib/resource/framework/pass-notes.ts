import type { Cancellation, ResourceContext } from '../resource-context.js';

type Place = Pick<ResourceContext, 'resourceSet' | 'resource' | 'step'>;

/** `set v1, resource env, applyCreateChange`. */
export function describePlace({ resourceSet, resource, step }: Place): string {
  const named = resource === '' ? [] : [`resource ${resource}`];
  return [`set ${resourceSet}`, ...named, step].join(', ');
}

/** `database (the dump goes on), backups`. */
export function describeKeepers(keepers: readonly Cancellation[]): string {
  return keepers
    .map(({ resource, step, reason }) => {
      const who = resource === '' ? step : resource;
      return reason === '' ? who : `${who} (${reason})`;
    })
    .join(', ');
}
