import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeadProcess } from './dead-process.js';

/**
 * Runs `work` while no other living process runs it under the same lock file. Two processes that
 * find a dead holder at the same moment may both enter: `work` must publish its result by an atomic
 * rename, and the lock only saves the second builder's time.
 * @param onWait - runs once, with the holder's process id, when another process holds the lock.
 */
export async function withBuildLock<T>(
  path: string,
  onWait: (holder: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  let waiting = false;
  while (!(await acquire(path))) {
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    if (isDeadProcess(Number(holder))) {
      await rm(path, { force: true });
      continue;
    }
    if (!waiting) onWait(holder);
    waiting = true;
    await delay(500);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** Creates the lock by a link, so that it never exists without its holder's id. */
async function acquire(path: string): Promise<boolean> {
  const signed = `${path}.${randomUUID()}`;
  await writeFile(signed, String(process.pid));
  try {
    await link(signed, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(signed);
  }
}

async function readHolder(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
