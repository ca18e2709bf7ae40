import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Links the packages of this repository and the sources of this package into a project. */
export function linkPackages(folder: string): void {
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'operator-builder');
  mkdirSync(own, { recursive: true });
  for (const name of ['@types', 'esbuild', 'tsx', 'typescript']) {
    symlinkSync(resolve('node_modules', name), join(modules, name));
  }
  const { name, version, type, exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly [field: string]: unknown;
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  const sources = Object.entries(exports).map(([entry, built]) => {
    const file = typeof built === 'string' ? built : built.default;
    return [entry, file.replace('./dist/', './lib/').replace(/\.js$/, '.ts')];
  });
  const content = { name, version, type, exports: Object.fromEntries(sources) as unknown };
  writeFileSync(join(own, 'package.json'), JSON.stringify(content));
  symlinkSync(resolve('lib'), join(own, 'lib'));
  mkdirSync(join(own, 'dist/cli'), { recursive: true });
  symlinkSync(resolve('lib/cli/main.ts'), join(own, 'dist/cli/main.js'));
}

/**
 * Copies a project of this repository for this process, and installs this package in the copy. Within the repository,
 * each command would bundle all of lib/, which takes half a second.
 */
export function projectCopy(project: string): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'project-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  cpSync(project, folder, { recursive: true, filter: (path) => !path.includes('node_modules') });
  linkPackages(folder);
  return folder;
}
