import { Manager } from '../../manager/index.js';
import type { ManagerOptions } from '../../manager/index.js';
import type { LoadedProject } from '../project/load-operator.js';

/** A running operator. */
export interface OperatorRun {
  readonly manager: Manager;
  /** Resolves when it has stopped completely; rejects with its error. */
  readonly ended: Promise<void>;
  /** Stops it; resolves when it has stopped completely. @throws the errors of stopping */
  stop(): Promise<void>;
}

/** An operator in a manager of its own, ready to run. */
export interface PreparedRun {
  readonly manager: Manager;
  begin(): OperatorRun;
}

/**
 * Puts an operator into a manager without running it. Errors of its `setup` are thrown here.
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
