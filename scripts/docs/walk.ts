// Follows the instructions of the pages in an empty folder, with the package as published. Runs every command,
// writes every file, and compares the output with the one on the page. Needs the built package.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentIn, packPackage } from './walk/installed-package.js';
import { Terminal } from './walk/terminal.js';
import { walkPage } from './walk/walk-page.js';

const named = process.argv.slice(2);
const walked = ['docs/getting-started.md', 'docs/tutorial.md', 'docs/workflow.md'];
const pages = named.length > 0 ? named : walked;
const root = await mkdtemp(join(tmpdir(), 'walk-'));
try {
  const folder = join(root, 'work');
  await mkdir(folder);
  await packPackage(folder);
  const walk = (page: string): Promise<void> => {
    const terminal = new Terminal({ folder, env: environmentIn(root) });
    return walkPage(page, { terminal, onStep: (text) => console.log(text) });
  };
  // The first page installs the program. Each other page has a folder of its own.
  const [first = '', ...others] = pages;
  await walk(first);
  const ends = await Promise.allSettled(others.map(walk));
  const failures = ends
    .filter((end) => end.status === 'rejected')
    .map((end): unknown => end.reason);
  if (failures.length > 0) throw new AggregateError(failures);
} catch (error) {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  for (const each of errors) console.error(each instanceof Error ? each.message : each);
  process.exitCode = 1;
} finally {
  await rm(root, { recursive: true, force: true });
}
