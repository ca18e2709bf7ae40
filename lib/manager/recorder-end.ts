import type { EventRecorder } from '../events/event-recorder.js';
import { Event } from '../object/kinds.js';
import { sleep, whenAborted } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import type { RequiredAccess } from './access/required-access.js';
import type { Runnable } from './runnable.js';

/** Access that writing Events needs. */
export const eventAccess: readonly RequiredAccess[] = [{ type: Event, verbs: ['create', 'patch'] }];

/** Time to write the last Events at a stop, in milliseconds. */
const graceMs = 2_000;

/**
 * Returns a runnable that stops a recorder after the controllers. The last Event often explains why an
 * operator stops, so pending Events are written first, for a limited time in case the server does not answer.
 */
export function recorderEnd(
  name: string,
  recorder: Pick<EventRecorder, 'flush' | 'stop'>,
  clock: Clock,
): Runnable {
  return {
    name: `${name}: events`,
    phase: 'server',
    run: async ({ signal, ready }) => {
      ready();
      await whenAborted(signal);
      await endRecorder(recorder, clock);
    },
  };
}

/** Writes pending Events within a time limit, then stops the recorder. */
export async function endRecorder(
  recorder: Pick<EventRecorder, 'flush' | 'stop'>,
  clock: Clock,
): Promise<void> {
  const flushed = new AbortController();
  const late = sleep(clock, graceMs, flushed.signal).catch(() => undefined);
  await Promise.race([recorder.flush(), late]);
  flushed.abort();
  await recorder.stop();
}
