/** Returns the examples at the end of a help text: command lines with descriptions. */
export function helpExamples(examples: Readonly<Record<string, string>>): string {
  const lines = Object.entries(examples).map(([line, what]) => `  $ ${line}\n      ${what}`);
  return `\nExamples:\n${lines.join('\n')}`;
}
