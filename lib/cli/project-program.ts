import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject } from '../object/json.js';

const name = 'operator-builder';

/**
 * Returns the program of the version that a project has installed, the nearest above a folder; undefined
 * where there is none, or it is the one that asks. A project is thus worked on by its own version, however
 * the program was started.
 * @param ownRoot - folder of the package that asks
 */
export function projectProgram(cwd: string, ownRoot: string): string | undefined {
  const installed = join(cwd, 'node_modules', name);
  if (!existsSync(join(installed, 'package.json'))) {
    const above = dirname(cwd);
    return above === cwd ? undefined : projectProgram(above, ownRoot);
  }
  const root = realpathSync(installed);
  const bin = binOf(join(root, 'package.json'));
  // Half an installation has no program yet.
  if (bin === undefined || root === realpathSync(ownRoot)) return undefined;
  const program = join(root, bin);
  return existsSync(program) ? program : undefined;
}

function binOf(path: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const { bin } = isJsonObject(manifest) ? manifest : {};
    const own = isJsonObject(bin) ? bin[name] : bin;
    return typeof own === 'string' ? own : undefined;
  } catch {
    return undefined;
  }
}
