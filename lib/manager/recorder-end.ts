import type { EventRecorder } from '../events/event-recorder.js';
import { Event } from '../object/kinds.js';
import { sleep } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { whenAborted } from '../system/when-aborted.js';
import type { RequiredAccess } from './access/required-access.js';
import type { Runnable } from './runnable.js';

/** What writing events needs. */
export const eventAccess: readonly RequiredAccess[] = [{ type: Event, verbs: ['create', 'patch'] }];

/** Time for the last events of a manager that stops, in milliseconds. */
const graceMs = 2_000;

/**
 * Stops a recorder after the controllers. The reason why an operator stops is often in its last event,
 * so what waits is written before; a server that does not answer must not hold up the stop.
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

/** Writes the events that wait, within a time limit, and stops the recorder. */
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
