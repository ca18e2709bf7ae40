import type { Manager, ManagerOptions } from '../../manager/index.js';
import { asError } from '../../system/as-error.js';
import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import { whenAborted } from '../../system/when-aborted.js';
import type { LoadedProject } from '../project/load-operator.js';
import { watchFiles } from '../watch-files.js';
import { prepareRun } from './operator-run.js';
import type { OperatorRun } from './operator-run.js';
import { sourceFiles } from './source-files.js';

/** How an operator is kept running. */
export interface KeepRunning {
  /** Loads it again, as its sources are now. */
  readonly load: () => Promise<LoadedProject>;
  /** Of the manager that each one gets. */
  readonly managerOptions: (loaded: LoadedProject) => ManagerOptions;
  /** Done before each one begins, while the former still runs: its custom resources are installed. */
  readonly prepare: (loaded: LoadedProject, manager: Manager) => Promise<void>;
  /** Called when one has begun. */
  readonly onBegin?: ((run: OperatorRun) => void) | undefined;
  /** Whether to restart it when its sources change. */
  readonly watch: boolean;
  /** Prints a line for the author of the operator. */
  readonly tell: (text: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/**
 * Runs an operator until the signal is aborted, and restarts it when its sources change. It stops in full
 * before the next one begins. A change that can't be loaded, set up or prepared is reported, and the running
 * operator stays.
 *
 * ## Caveats
 * - What the modules of an operator that was replaced hold stays in memory: Node keeps modules.
 * @throws what the first one fails with. A later one that fails is reported, and the next change awaited.
 */
export async function keepRunning(first: LoadedProject, settings: KeepRunning): Promise<void> {
  const running = new RestartedOperator(settings);
  const over = new AbortController();
  const signal = AbortSignal.any([settings.signal, over.signal]);
  const watching = settings.watch ? running.watch(first, signal) : undefined;
  try {
    // What changes while the first one is prepared counts, too.
    await watching?.begun;
    await running.replace(first);
    await Promise.race([running.failed, whenAborted(signal)]);
  } finally {
    over.abort();
    await watching?.ended;
    await running.stop();
  }
}

/** The operator that runs at the moment. */
class RestartedOperator {
  /** Rejects with what the first one fails with. */
  readonly failed: Promise<never>;
  readonly #settings: KeepRunning;
  #fail: (error: unknown) => void = () => undefined;
  #hasBegun = false;
  #isFirst = true;
  #current: OperatorRun | undefined;
  #last = Promise.resolve();

  constructor(settings: KeepRunning) {
    this.#settings = settings;
    this.failed = new Promise((_, reject) => (this.#fail = reject));
    // It may fail after the last wait for it.
    this.failed.catch(() => undefined);
  }

  /** One after the other. @throws what is wrong with the next one; the former goes on then. */
  replace(loaded: LoadedProject): Promise<void> {
    const replaced = this.#last.then(() => this.#replace(loaded));
    this.#last = replaced.catch(() => undefined);
    return replaced;
  }

  /** Replaces it on each change, until the signal is aborted. */
  watch(
    { root, files: first }: LoadedProject,
    signal: AbortSignal,
  ): Readonly<Record<'begun' | 'ended', Promise<void>>> {
    const { clock, logger } = this.#settings;
    let files = first;
    const onChange = async (): Promise<void> => {
      files = (await this.#change(signal)) ?? files;
    };
    let onWatching: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (onWatching = resolve));
    const settings = { clock, logger, signal, onChange, onWatching };
    return { begun, ended: watchFiles(() => sourceFiles(root, files), settings) };
  }

  /** @throws what did not end as it should */
  async stop(): Promise<void> {
    await this.#last;
    const former = this.#current;
    this.#current = undefined;
    await former?.stop();
  }

  /** @returns what it is made of now; undefined: as before */
  async #change(signal: AbortSignal): Promise<readonly string[] | undefined> {
    const { load, tell } = this.#settings;
    try {
      // A module may wait for what never comes.
      const loaded = await Promise.race([load(), whenAborted(signal)]);
      if (!signal.aborted && loaded !== undefined) await this.replace(loaded);
      return loaded?.files;
    } catch (error) {
      if (signal.aborted) return undefined;
      const goesOn =
        this.#current === undefined ? 'no operator runs' : 'the running operator continues';
      tell(`change not applied, ${goesOn}: ${asError(error).message}`);
      return undefined;
    }
  }

  async #replace(loaded: LoadedProject): Promise<void> {
    const { managerOptions, prepare, onBegin, signal, tell } = this.#settings;
    // Its setup may wait for what never comes.
    const next = await Promise.race([
      prepareRun(loaded, managerOptions(loaded)),
      whenAborted(signal),
    ]);
    if (next === undefined) return;
    await prepare(loaded, next.manager);
    if (signal.aborted) return;
    const former = this.#current;
    this.#current = undefined;
    if (this.#hasBegun) {
      this.#isFirst = false;
      tell('sources changed: the operator restarts');
    }
    this.#hasBegun = true;
    await former?.stop().catch((error: unknown) => {
      tell(`the previous operator failed while it stopped: ${asError(error).message}`);
    });
    const run = next.begin();
    this.#current = run;
    void run.ended.catch((error: unknown) => this.#ended(run, error));
    onBegin?.(run);
  }

  #ended(run: OperatorRun, error: unknown): void {
    // One that is being replaced or stopped is its replacer's concern.
    if (this.#current !== run) return;
    this.#current = undefined;
    if (this.#isFirst || !this.#settings.watch) this.#fail(error);
    else
      this.#settings.tell(
        `the operator failed; change its sources to start it again: ${asError(error).message}`,
      );
  }
}
