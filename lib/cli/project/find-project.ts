import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { OperatorError } from '../../system/operator-error.js';

const marks = ['PROJECT', 'package.json'];

/**
 * Finds the root of a directory's project: the nearest directory upwards with a `PROJECT` or `package.json`.
 * @param directory - absolute
 * @throws OperatorError `InvalidConfig`: not in a project
 */
export async function findProject(directory: string): Promise<string> {
  for (let each = resolve(directory); ; each = dirname(each)) {
    for (const mark of marks) if (await exists(join(each, mark))) return each;
    if (each !== dirname(each)) continue;
    const remedy = 'go into one, name it with --project, or make one with operator-builder init';
    throw new OperatorError(
      'InvalidConfig',
      `${directory} is in no project, for there is neither a PROJECT nor a package.json: ${remedy}`,
    );
  }
}

/** Whether a file or directory exists and is accessible. */
export async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
