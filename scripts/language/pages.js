// Fails if a page contains a word of `words.js` outside its code blocks.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problemsIn } from './words.js';

const pages = ['.', 'docs', 'samples'].flatMap((folder) =>
  readdirSync(folder, { recursive: folder !== '.' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);
const problems = pages.flatMap((page) => {
  const code = /^```[\s\S]*?^```|`[^`\n]*`/gm;
  const blank = (text) => text.replace(/[^\n]/g, ' ');
  const text = readFileSync(page, 'utf8').replace(code, blank);
  return text.split('\n').flatMap((line, at, lines) =>
    // Includes the next line, because a phrase may be wrapped.
    problemsIn(`${line} ${lines[at + 1]?.trim() ?? ''}`)
      .filter(({ index }) => index < line.length)
      .map(({ found, better }) => `${page}:${at + 1}: "${found}": write ${better}`),
  );
});
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
