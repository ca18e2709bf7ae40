import type { Cancellation } from '../resource-context.js';

/** `database (the dump goes on), backups`. */
export function describeKeepers(keepers: readonly Cancellation[]): string {
  return keepers
    .map(({ resource, step, reason }) => {
      const who = resource === '' ? step : resource;
      return reason === '' ? who : `${who} (${reason})`;
    })
    .join(', ');
}
