import { readFile, watch } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asError } from '../../../system/as-error.js';
import { sleep } from '../../../system/clock.js';
import type { Clock } from '../../../system/clock.js';
import type { Logger } from '../../../system/logger.js';

/** What {@link watchFiles} works with. */
export interface WatchSettings {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Called when a file is not as it was before, never twice at once. What it throws is logged. */
  readonly onChange: () => Promise<void>;
}

/** Editors write in several steps. */
const settleMs = 100;

/**
 * Watches files until the signal is aborted. It looks at their directories: a file that is replaced, as
 * editors and mounted ConfigMaps do, is another one for the system. It never rejects: what goes wrong
 * is logged.
 */
export async function watchFiles(files: readonly string[], settings: WatchSettings): Promise<void> {
  let last = Promise.resolve();
  let before: string | undefined;
  let waits = false;
  const changed = (): void => {
    if (waits) return;
    waits = true;
    last = last.then(async () => {
      await sleep(settings.clock, settleMs, settings.signal).catch(() => undefined);
      // From here on a change is one that may not have been seen.
      waits = false;
      const now = await contentOf(files);
      // Their directories have other files, too; the log may be one of them.
      if (settings.signal.aborted || now === before) return;
      before = now;
      await settle(settings);
    });
  };
  const directories = new Set(files.map(dirname));
  await Promise.all([...directories].map((each) => watchDirectory(each, settings, changed)));
  await last;
}

/** Equal as long as the files are as they were. */
async function contentOf(files: readonly string[]): Promise<string> {
  const read = (file: string): Promise<unknown> =>
    readFile(file, 'utf8').catch((error: unknown) => ({ unreadable: asError(error).message }));
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

async function watchDirectory(
  directory: string,
  { signal, logger }: WatchSettings,
  changed: () => void,
): Promise<void> {
  try {
    const events = watch(directory, { signal });
    for await (const event of events) if (event.filename !== '') changed();
  } catch (error) {
    if (!signal.aborted) logger.error(`${directory} is not watched any more`, { error });
  }
}
