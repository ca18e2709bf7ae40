import type { EventRecorder } from '../../events/event-recorder.js';
import type { Runnable } from '../../manager/runnable.js';

/** Stops a recorder when the manager ends, after the controllers, so that it leaves no timer. */
export function recorderEnd(name: string, recorder: EventRecorder): Runnable {
  return {
    name: `${name}: events`,
    phase: 'server',
    run: async ({ signal, ready }) => {
      ready();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await recorder.stop();
    },
  };
}
