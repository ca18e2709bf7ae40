/** The end of what `--help` says: command lines, and what they do. */
export function helpExamples(examples: Readonly<Record<string, string>>): string {
  const lines = Object.entries(examples).map(([line, what]) => `  $ ${line}\n      ${what}`);
  return `\nExamples:\n${lines.join('\n')}`;
}
