import { readFile, writeFile } from 'node:fs/promises';
import { format } from 'prettier';
import { breakingRules } from '../../lib/cli/evolution/breaking-rules.js';
import { lintRules } from '../../lib/cli/evolution/lint-rules.js';
import type { Rule } from '../../lib/cli/evolution/findings.js';

const page = 'docs/api-evolution.md';

/** Returns the table of rules of a command. */
export function rulesTable(rules: Readonly<Record<string, Rule>>): Promise<string> {
  const rows = Object.entries(rules).map(
    ([name, { level, optional, about }]) =>
      `| \`${name}\` | ${level}${optional === true ? ', with `--enable`' : ''} | ${about} |`,
  );
  const table = ['| Rule | Level | Finds |', '| --- | --- | --- |', ...rows].join('\n');
  return format(table, { parser: 'markdown' });
}

/** Rewrites the tables of rules of the page. */
export async function writeRules(): Promise<void> {
  const text = await readFile(page, 'utf8');
  const breaking = withTable(text, 'breaking', await rulesTable(breakingRules));
  await writeFile(page, withTable(breaking, 'lint', await rulesTable(lintRules)));
}

function withTable(text: string, command: string, table: string): string {
  const form = new RegExp(`(<!-- rules of ${command} -->\\n).*?(<!-- end -->)`, 's');
  return text.replace(form, (_, start: string, end: string) => `${start}\n${table}\n${end}`);
}
