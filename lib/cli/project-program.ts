import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject } from '../object/index.js';

const name = 'operator-builder';

/**
 * Returns the program of the version that the nearest project above a folder has installed; undefined if none
 * is installed, or it is the calling program. So a project always uses its own version.
 * @param ownRoot - folder of the calling package
 */
export function projectProgram(cwd: string, ownRoot: string): string | undefined {
  const installed = join(cwd, 'node_modules', name);
  if (!existsSync(join(installed, 'package.json'))) {
    const above = dirname(cwd);
    return above === cwd ? undefined : projectProgram(above, ownRoot);
  }
  const root = realpathSync(installed);
  const bin = binOf(join(root, 'package.json'));
  // A partial installation has no program yet.
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
