import { readFile, stat, watch } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asError } from '../system/as-error.js';
import { sleep } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';

/** What {@link watchFiles} works with. */
export interface WatchSettings {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Called when a file is not as it was before, never twice at once. What it throws is logged. */
  readonly onChange: () => Promise<void>;
  /** Called once, when it watches: from here on it misses no change. */
  readonly onWatching?: (() => void) | undefined;
}

/** What is watched: files, and directories in which some may come to be. */
export interface WatchedPaths {
  readonly files: readonly string[];
  /** Beside those of the files. */
  readonly directories: readonly string[];
}

/** Editors write in several steps. */
const settleMs = 100;

/**
 * Watches files until the signal is aborted. It looks at their directories: a file that is replaced, as
 * editors and mounted ConfigMaps do, is another one for the system. It never rejects: what goes wrong
 * is logged.
 * @param watched - the files; or what says which they are, anew after each change
 */
export async function watchFiles(
  watched: readonly string[] | (() => Promise<WatchedPaths>),
  settings: WatchSettings,
): Promise<void> {
  const paths =
    typeof watched === 'function'
      ? watched
      : () => Promise.resolve({ files: watched, directories: [] });
  const { signal, clock } = settings;
  let last = Promise.resolve();
  let before: string | undefined;
  let waits = false;
  const changed = (): void => {
    if (waits) return;
    waits = true;
    last = last.then(async () => {
      await sleep(clock, settleMs, signal).catch(() => undefined);
      // From here on a change is one that may not have been seen.
      waits = false;
      const now = await contentOf(await directories.follow());
      // Their directories have other files, too; the log may be one of them.
      if (signal.aborted || now === before) return;
      before = now;
      await settle(settings);
    });
  };
  const directories = new WatchedDirectories(paths, settings, changed);
  const files = await directories.follow();
  if (typeof watched === 'function') before ??= await contentOf(files);
  settings.onWatching?.();
  await directories.ended();
  await last;
}

/** Equal as long as the files are as they were. */
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
    logger.error(`the files were not taken over, what ran before goes on: ${message}`);
  }
}

/** Watches the directories that there are, as they come and go. */
class WatchedDirectories {
  readonly #paths: () => Promise<WatchedPaths>;
  readonly #settings: WatchSettings;
  readonly #changed: () => void;
  /** By path, and what the system calls it: one that was deleted and made again is another. */
  readonly #watches = new Map<string, AbortController>();
  readonly #running = new Set<Promise<void>>();

  constructor(paths: () => Promise<WatchedPaths>, settings: WatchSettings, changed: () => void) {
    this.#paths = paths;
    this.#settings = settings;
    this.#changed = changed;
  }

  /** Watches what is there now. @returns the files */
  async follow(): Promise<readonly string[]> {
    for (;;) {
      const { files, directories } = await this.#paths();
      const wanted = new Set([...files.map(dirname), ...directories]);
      // What came to be before its directory was watched is seen by looking once more.
      if (!(await this.#watchAll(wanted))) return files;
    }
  }

  /** Resolves when no directory is watched any more: the signal is aborted. */
  async ended(): Promise<void> {
    const { signal } = this.#settings;
    if (!signal.aborted && this.#running.size > 0) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    }
    await Promise.all(this.#running);
  }

  /** @returns whether there is one that was not watched before */
  async #watchAll(directories: ReadonlySet<string>): Promise<boolean> {
    const found = new Map<string, string>();
    for (const directory of directories) {
      const { ino = 0, birthtimeMs = 0 } = (await stat(directory).catch(() => undefined)) ?? {};
      // Numbers of what was deleted are given again.
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
    if (!signal.aborted) logger.error(`${directory} is no longer watched`, { error });
  }
}
