import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/**
 * Packs the built package as `npm publish` would.
 * @returns the tarball, in `folder`
 */
export async function packPackage(folder: string): Promise<string> {
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await execute('npm', args);
  return join(folder, stdout.trim());
}

/**
 * Returns the environment of a new user, without the variables of the `npm run` around this process.
 * `npm install --global` installs into `folder`.
 */
export function environmentIn(folder: string): NodeJS.ProcessEnv {
  const ours = /^(npm_(package|lifecycle|config_(local|global)_prefix|command|execpath)|INIT_CWD)/;
  const kept = Object.entries(process.env).filter(([name]) => !ours.test(name));
  const paths = (process.env['PATH'] ?? '').split(delimiter);
  return {
    ...Object.fromEntries(kept),
    PATH: [
      join(folder, 'global', 'bin'),
      // Contains a `docker` that simulates builds: see build-image.js.
      join(import.meta.dirname, 'bin'),
      ...paths.filter((path) => !path.includes('node_modules')),
    ].join(delimiter),
    HOME: process.env['HOME'],
    TMPDIR: folder,
    NO_COLOR: '1',
    npm_config_prefix: join(folder, 'global'),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
    npm_config_loglevel: 'error',
  };
}
