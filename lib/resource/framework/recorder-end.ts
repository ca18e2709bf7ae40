import type { Runnable } from '../../manager/runnable.js';
import type { OwnRecorder } from './own-recorder.js';

/** Stops a recorder when the manager ends, after the controllers, so that it leaves no timer. */
export function recorderEnd(name: string, recorder: OwnRecorder): Runnable {
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
