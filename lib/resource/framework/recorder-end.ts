import type { Runnable } from '../../manager/runnable.js';
import { whenAborted } from '../../system/when-aborted.js';
import type { OwnRecorder } from './own-recorder.js';

/** Stops a recorder when the manager ends, after the controllers, so that it leaves no timer. */
export function recorderEnd(name: string, recorder: OwnRecorder): Runnable {
  return {
    name: `${name}: events`,
    phase: 'server',
    run: async ({ signal, ready }) => {
      ready();
      await whenAborted(signal);
      await recorder.stop();
    },
  };
}
