import type { V1LifecycleHandler } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import type { FieldErrors } from './field-errors.js';
import { validateHandler } from './probes.js';

const handlers = ['exec', 'httpGet', 'tcpSocket', 'sleep'] as const;

/**
 * Checks a handler that runs when a container starts or stops.
 * @param graceSeconds - grace period of its pod
 */
export function validateLifecycleHandler(
  given: Wire<V1LifecycleHandler>,
  field: string,
  { graceSeconds, errors }: { readonly graceSeconds: number; readonly errors: FieldErrors },
): void {
  const [handler, ...extra] = handlers.filter((one) => given[one] !== undefined);
  if (handler === undefined) errors.required(field, 'must specify a handler type');
  else if (handler === 'sleep') {
    const seconds = given.sleep?.seconds ?? 0;
    if (seconds < 0 || seconds > graceSeconds) {
      const why = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
      errors.invalid(`${field}.sleep`, seconds, why);
    }
  } else validateHandler(given, `${field}.${handler}`, { handler, errors });
  for (const other of extra) {
    errors.forbidden(`${field}.${other}`, 'may not specify more than 1 handler type');
  }
}
