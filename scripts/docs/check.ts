// Type-checks every TypeScript block of the README and docs/, and runs those fenced `ts run`. Checks that
// docs/reference.md lists every exported name. Needs the build. Arguments such as docs/builder.md limit it to these
// pages.
import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { committedNames, reference } from './reference.js';
import { docPages, snippetsOf } from './snippets.js';
import type { Snippet } from './snippets.js';

// Inside the checkout, so that packages resolve as they do for a file of the project.
const folder = '.cache/docs';

const given = process.argv.slice(2);
const pages = given.length > 0 ? given : await docPages();
const snippets = (await Promise.all(pages.map(snippetsOf))).flat();
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await Promise.all(snippets.map((snippet) => writeFile(fileOf(snippet), moduleOf(snippet))));
await writeFile(`${folder}/tsconfig.json`, tsconfig());

let failed = (await run('npx', ['tsc', '--noEmit', '-p', folder])) === 0 ? 0 : 1;
for (const snippet of snippets.filter((each) => each.run)) {
  const code = await run(process.execPath, ['--import', 'tsx', fileOf(snippet)]);
  if (code === 0) continue;
  console.error(`${snippet.page}:${snippet.line}: the block ended with exit code ${code}`);
  failed++;
}
if (given.length === 0 && (await committedNames()) !== (await reference())) {
  console.error('docs/reference.md is not current; run npx tsx scripts/docs/draw.ts');
  failed++;
}
const ran = snippets.filter((each) => each.run).length;
console.log(`docs: ${snippets.length} blocks type-checked, ${ran} run, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function fileOf({ page, line }: Snippet): string {
  return `${folder}/${page.replaceAll(/[^a-zA-Z0-9]+/g, '-')}-${line}.ts`;
}

/** Returns the code as a module, even without imports, so that its names do not conflict with other blocks. */
function moduleOf({ code }: Snippet): string {
  return `${code}\nexport {};\n`;
}

/** Returns a configuration in which the package's name is that of its build, as for a user, not of its sources. */
function tsconfig(): string {
  return JSON.stringify({
    extends: '../../tsconfig.json',
    compilerOptions: { paths: {}, types: ['node'] },
    include: ['*.ts'],
  });
}

function run(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, TSX_TSCONFIG_PATH: `${folder}/tsconfig.json` };
    const child = spawn(command, args, { env, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
