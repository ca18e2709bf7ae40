import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Manager } from '../../manager/index.js';
import type { ManagerOptions } from '../../manager/index.js';
import { asError, whenAborted } from '../../system/index.js';
import type { Clock, Logger } from '../../system/index.js';
import type { LoadedProject } from '../load-operator.js';
import { watchFiles } from '../watch-files.js';
import type { WatchedPaths } from '../watch-files.js';

export interface KeepRunning {
  /** Loads the operator again from its current sources. */
  readonly load: () => Promise<LoadedProject>;
  /** Returns the options of the operator's manager. */
  readonly managerOptions: (loaded: LoadedProject) => ManagerOptions;
  /** Prepares an operator before its start while the previous one still runs: installs its custom resources. */
  readonly prepare: (loaded: LoadedProject, manager: Manager) => Promise<void>;
  /** Called after each start. */
  readonly onBegin?: ((run: OperatorRun) => void) | undefined;
  /** Whether to restart the operator when its sources change. */
  readonly watch: boolean;
  /** Prints a line for the author of the operator. */
  readonly print: (text: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stops the operator. */
  readonly signal: AbortSignal;
}

/**
 * Runs an operator until the signal is aborted, and restarts it when its sources change. The previous one
 * stops completely before the next one starts. If a change can't be loaded, set up or prepared, the error
 * is reported and the running operator continues.
 *
 * ## Caveats
 * - Modules of replaced operators stay in memory: Node keeps modules.
 *
 * @throws the error of the first operator. An error of a later operator is reported; the next change of
 * the sources starts it again.
 */
export async function keepRunning(first: LoadedProject, settings: KeepRunning): Promise<void> {
  const running = new RestartedOperator(settings);
  const over = new AbortController();
  const signal = AbortSignal.any([settings.signal, over.signal]);
  const watching = settings.watch ? running.watch(first, signal) : undefined;
  try {
    // Wait until the watch is active, so that changes during the first preparation count, too.
    await watching?.begun;
    await running.replace(first);
    await Promise.race([running.failed, whenAborted(signal)]);
  } finally {
    over.abort();
    await watching?.ended;
    await running.stop();
  }
}

/** The operator that currently runs. */
class RestartedOperator {
  /** Rejects with the error of the first operator. */
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
    // Prevents an unhandled rejection: the operator may fail after the last await.
    this.failed.catch(() => undefined);
  }

  /** Replaces operators one at a time. @throws the error of the next operator; the previous operator then continues */
  replace(loaded: LoadedProject): Promise<void> {
    const replaced = this.#last.then(() => this.#replace(loaded));
    this.#last = replaced.catch(() => undefined);
    return replaced;
  }

  /** Replaces the operator on each change until the signal is aborted. */
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

  /** @throws the errors of stopping */
  async stop(): Promise<void> {
    await this.#last;
    const former = this.#current;
    this.#current = undefined;
    await former?.stop();
  }

  /** Loads the program again and replaces the running one. Returns its source files; undefined if that failed. */
  async #change(signal: AbortSignal): Promise<readonly string[] | undefined> {
    const { load, print } = this.#settings;
    try {
      // A module may wait forever.
      const loaded = await Promise.race([load(), whenAborted(signal)]);
      if (!signal.aborted && loaded !== undefined) await this.replace(loaded);
      return loaded?.files;
    } catch (error) {
      if (signal.aborted) return undefined;
      const goesOn =
        this.#current === undefined ? 'no operator runs' : 'the running operator continues';
      print(`change not applied, ${goesOn}: ${asError(error).message}`);
      return undefined;
    }
  }

  async #replace(loaded: LoadedProject): Promise<void> {
    const { managerOptions, prepare, onBegin, signal, print } = this.#settings;
    // The setup of the operator may wait forever.
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
      print('sources changed: the operator restarts');
    }
    this.#hasBegun = true;
    await former?.stop().catch((error: unknown) => {
      print(`the previous operator failed while it stopped: ${asError(error).message}`);
    });
    const run = next.begin();
    this.#current = run;
    void run.ended.catch((error: unknown) => this.#ended(run, error));
    onBegin?.(run);
  }

  #ended(run: OperatorRun, error: unknown): void {
    // The code that replaces or stops an operator handles its end.
    if (this.#current !== run) return;
    this.#current = undefined;
    if (this.#isFirst || !this.#settings.watch) this.#fail(error);
    else
      this.#settings.print(
        `the operator failed; change its sources to start it again: ${asError(error).message}`,
      );
  }
}

export interface OperatorRun {
  readonly manager: Manager;
  /** Resolves when the operator has stopped completely; rejects with its error. */
  readonly ended: Promise<void>;
  /** Stops the operator; resolves when it has stopped completely. @throws the errors of stopping */
  stop(): Promise<void>;
}

/**
 * Puts an operator into a manager without running it. Errors of its `setup` are thrown here.
 * @param options - the options of the manager for this operator
 */
async function prepareRun({ operator }: LoadedProject, options: ManagerOptions) {
  const manager = new Manager({ shards: false, ...options });
  await operator.setup(manager);
  return {
    manager,
    begin: (): OperatorRun => {
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

const sources = /\.(?:[cm]?[jt]s|json)$/;

/**
 * Returns the possible source files of an operator: all below `src`, even those not yet imported, and the imported
 * files elsewhere.
 * @param imported - absolute paths of the imported files
 */
async function sourceFiles(root: string, imported: readonly string[]): Promise<WatchedPaths> {
  const folder = join(root, 'src');
  // The folder is missing while it is moved.
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const below = (wanted: (entry: (typeof entries)[0]) => boolean): readonly string[] =>
    entries.filter(wanted).map((entry) => join(entry.parentPath, entry.name));
  const files = below((entry) => entry.isFile() && sources.test(entry.name));
  const directories = [folder, ...below((entry) => entry.isDirectory())];
  return { files: [...new Set([...files, ...imported])].toSorted(), directories };
}
