import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A TypeScript code block in a page. */
export interface Snippet {
  /** The page, for example `docs/builder.md`. */
  readonly page: string;
  /** Line of the page on which the code begins. */
  readonly line: number;
  /** Whether the block is fenced `ts run` and thus executed. */
  readonly run: boolean;
  readonly code: string;
}

/** Returns the paths of the README and every page of `docs/`. */
export async function docPages(): Promise<string[]> {
  const names = await readdir('docs', { recursive: true });
  const pages = names.filter((name) => name.endsWith('.md')).map((name) => join('docs', name));
  return ['README.md', ...pages.toSorted()];
}

/** Returns the TypeScript blocks of `page`. */
export async function snippetsOf(page: string): Promise<Snippet[]> {
  const text = await readFile(page, 'utf8');
  return [...text.matchAll(/^```ts( run)?\n(.*?)^```$/gms)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length + 1,
    run: match[1] !== undefined,
    code: match[2] ?? '',
  }));
}
