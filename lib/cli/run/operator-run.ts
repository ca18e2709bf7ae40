import { Manager } from '../../manager/index.js';
import type { ManagerOptions } from '../../manager/index.js';
import type { LoadedProject } from '../project/load-operator.js';

/** An operator that runs, until it is told to stop. */
export interface OperatorRun {
  readonly manager: Manager;
  /** Resolves when it was stopped in full; rejects with what it failed with. */
  readonly ended: Promise<void>;
  /** Stops it; resolves when nothing of it is left. @throws what did not end as it should */
  stop(): Promise<void>;
}

/** An operator in a manager of its own, ready to run. */
export interface PreparedRun {
  readonly manager: Manager;
  begin(): OperatorRun;
}

/**
 * Puts an operator into a manager. Nothing runs yet: what its `setup` throws is thrown here.
 * @param options - of the manager, for this operator
 */
export async function prepareRun(
  { operator }: LoadedProject,
  options: ManagerOptions,
): Promise<PreparedRun> {
  const manager = new Manager({ shards: false, ...options });
  await operator.setup(manager);
  return {
    manager,
    begin: () => {
      const stop = new AbortController();
      const ended = manager.run(stop.signal);
      return {
        ...{ manager, ended },
        stop: () => {
          stop.abort();
          return ended;
        },
      };
    },
  };
}
