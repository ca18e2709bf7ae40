import { readFile, stat, watch } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asError, waited } from '../system/index.js';
import type { Clock, Logger } from '../system/index.js';

export interface WatchSettings {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stops the watch. */
  readonly signal: AbortSignal;
  /** Called when a file has changed; calls never overlap. Errors are logged. */
  readonly onChange: () => Promise<void>;
  /** Called once when the watch is active: it misses no change from then on. */
  readonly onWatching?: (() => void) | undefined;
}

/** Files to watch, and directories where files may appear. */
export interface WatchedPaths {
  readonly files: readonly string[];
  /** Directories in addition to those of the files. */
  readonly directories: readonly string[];
}

/** Time between a change and the check of the files, in milliseconds: editors write a file in several steps. */
const settleMs = 100;

/**
 * Watches files until the signal is aborted. It watches their directories, since editors and mounted
 * ConfigMaps replace files by new ones. Never rejects: errors are logged.
 * @param paths - returns the files, again after each change
 */
export async function watchFiles(
  paths: () => Promise<WatchedPaths>,
  settings: WatchSettings,
): Promise<void> {
  const { signal, clock } = settings;
  let last = Promise.resolve();
  let before: string | undefined;
  let waits = false;
  const changed = (): void => {
    if (waits) return;
    waits = true;
    last = last.then(async () => {
      await waited(clock, settleMs, signal);
      // A change from here on may be missed by the read below, so it needs another check.
      waits = false;
      const now = await contentOf(await directories.follow());
      // Other files in the directories may have changed, such as the log.
      if (signal.aborted || now === before) return;
      before = now;
      await settle(settings);
    });
  };
  const directories = new WatchedDirectories(paths, settings, changed);
  const files = await directories.follow();
  before ??= await contentOf(files);
  settings.onWatching?.();
  await directories.ended();
  await last;
}

/** Returns a text that is equal while the files are unchanged. */
async function contentOf(files: readonly string[]): Promise<string> {
  const read = async (file: string): Promise<unknown> => [
    file,
    await readFile(file, 'utf8').catch((error: unknown) => ({
      unreadable: asError(error).message,
    })),
  ];
  return JSON.stringify(await Promise.all(files.map(read)));
}

async function settle({ onChange, logger }: WatchSettings): Promise<void> {
  try {
    await onChange();
  } catch (thrown) {
    const { message } = asError(thrown);
    logger.error(
      `the changed files were not applied, the previous state continues to run: ${message}`,
    );
  }
}

/** Watches existing directories as they appear and disappear. */
class WatchedDirectories {
  readonly #paths: () => Promise<WatchedPaths>;
  readonly #settings: WatchSettings;
  readonly #changed: () => void;
  /** Keyed by path and inode: a recreated directory is a different one. */
  readonly #watches = new Map<string, AbortController>();
  readonly #running = new Set<Promise<void>>();

  constructor(paths: () => Promise<WatchedPaths>, settings: WatchSettings, changed: () => void) {
    this.#paths = paths;
    this.#settings = settings;
    this.#changed = changed;
  }

  /** Watches the directories that exist. @returns the files */
  async follow(): Promise<readonly string[]> {
    for (;;) {
      const { files, directories } = await this.#paths();
      const wanted = new Set([...files.map(dirname), ...directories]);
      // Looks again for files created before their directory was watched.
      if (!(await this.#watchAll(wanted))) return files;
    }
  }

  /** Resolves when the signal is aborted and all watches have ended. */
  async ended(): Promise<void> {
    const { signal } = this.#settings;
    if (!signal.aborted && this.#running.size > 0) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    }
    await Promise.all(this.#running);
  }

  /** @returns whether a directory is new */
  async #watchAll(directories: ReadonlySet<string>): Promise<boolean> {
    const found = new Map<string, string>();
    for (const directory of directories) {
      const { ino = 0, birthtimeMs = 0 } = (await stat(directory).catch(() => undefined)) ?? {};
      // Inode numbers are reused after a deletion.
      found.set(`${ino} ${birthtimeMs} ${directory}`, directory);
    }
    for (const [id, watching] of this.#watches) {
      if (found.has(id)) continue;
      watching.abort();
      this.#watches.delete(id);
    }
    const added = [...found].filter(([id]) => !this.#watches.has(id));
    for (const [id, directory] of added) this.#watch(id, directory);
    return added.length > 0;
  }

  #watch(id: string, directory: string): void {
    const { signal, logger } = this.#settings;
    const own = new AbortController();
    this.#watches.set(id, own);
    const both = AbortSignal.any([signal, own.signal]);
    const running = watchDirectory(directory, { signal: both, logger }, this.#changed).finally(() =>
      this.#running.delete(running),
    );
    this.#running.add(running);
  }
}

async function watchDirectory(
  directory: string,
  { signal, logger }: Pick<WatchSettings, 'signal' | 'logger'>,
  changed: () => void,
): Promise<void> {
  try {
    const events = watch(directory, { signal });
    for await (const event of events) if (event.filename !== '') changed();
  } catch (error) {
    // The watch of the parent directory notices when a deleted directory exists again, and starts another watch.
    const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!signal.aborted && !isGone)
      logger.error(
        `${directory} is no longer watched; restart the command to apply further changes`,
        { error },
      );
  }
}
