// Does, in an empty folder, what the pages have their readers do, with the package as it is published:
// every command, every file, and what the page shows of the output. Needs the built package.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentIn, packPackage } from './walk/installed-package.js';
import { Terminal } from './walk/terminal.js';
import { walkPage } from './walk/walk-page.js';

const pages = process.argv.slice(2);
const walked = ['docs/getting-started.md', 'docs/tutorial.md', 'docs/workflow.md'];
const all = pages.length > 0 ? pages : walked;
const root = await mkdtemp(join(tmpdir(), 'walk-'));
try {
  const folder = join(root, 'work');
  await mkdir(folder);
  await packPackage(folder);
  for (const page of all) {
    const terminal = new Terminal({ folder, env: environmentIn(root) });
    await walkPage(page, { terminal, onStep: (text) => console.log(text) });
  }
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  await rm(root, { recursive: true, force: true });
}
