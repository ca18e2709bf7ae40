import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { format, resolveConfig } from 'prettier';
import { createProgram } from '../../lib/cli/program.js';
import { systemClock } from '../../lib/system/index.js';

const page = 'docs/command-line.md';

/** The page that has what every command says of itself. */
export async function commandLinePage(): Promise<string> {
  const commands = commandsOf(programThatDoesNothing()).map(
    ({ words, help }) => `## \`${words}\`\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\``,
  );
  const options = await resolveConfig(page);
  return format([introduction, ...commands].join('\n\n'), { ...options, filepath: page });
}

/** The page as it is committed. */
export async function committedCommandLinePage(): Promise<string> {
  return readFile(page, 'utf8');
}

/** Writes the page anew. */
export async function writeCommandLinePage(): Promise<void> {
  await writeFile(page, await commandLinePage());
}

const introduction = `# The command line

<!-- Made by scripts/docs/draw.ts from what the commands say of themselves: changes belong there. -->

The package brings the program \`operator-builder\`: \`npx operator-builder --help\`. Installed globally, it
runs the version that the project in the current folder has, if that has one.

Results go to the standard output, everything else to the standard error. A command ends with

| code |                                                                                      |
| ---- | ------------------------------------------------------------------------------------ |
| 0    | it did what was asked; a command that runs until SIGINT or SIGTERM was told to end    |
| 1    | it could not be done, or the command line is wrong; the message says what helps       |
| 2    | of \`plan\`: something would change; of \`upgrade-check\`: there are findings; of \`upgrade-project\`: conflicts |
| 130  | it was interrupted before it was done: nothing that is half done is left              |

With \`OPERATOR_BUILDER_DEBUG=1\` in the environment an error shows where it comes from.`;

interface CommandHelp {
  readonly words: string;
  readonly help: string;
}

/** Every command that does something. */
function commandsOf(command: Command, parents: readonly string[] = []): readonly CommandHelp[] {
  const words = [...parents, command.name()];
  if (command.commands.length > 0) {
    return command.commands.flatMap((child) => commandsOf(child, words));
  }
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  return [{ words: words.join(' '), help }];
}

function programThatDoesNothing(): Command {
  const nowhere = { write: () => undefined, columns: 100 };
  return createProgram({
    ...{ env: {}, cwd: '/', clock: systemClock, stdout: nowhere, stderr: nowhere },
    readStdin: () => Promise.resolve(''),
    stopSignal: () => new AbortController().signal,
    setExitCode: () => undefined,
  });
}
