import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { format, resolveConfig } from 'prettier';
import type { CommandContext } from '../../lib/cli/command-context.js';
import { kubectlPlanProgram } from '../../lib/cli/commands/kubectl-plan.js';
import { createProgram } from '../../lib/cli/program.js';
import { systemClock } from '../../lib/system/index.js';

const page = 'docs/command-line.md';

/** Returns the page with the help of every command. */
export async function commandLinePage(): Promise<string> {
  const all = [createProgram(nothing), kubectlPlanProgram(nothing)].flatMap((each) =>
    commandsOf(each),
  );
  const commands = all.map(
    ({ words, help }) => `## \`${words}\`\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\``,
  );
  const options = await resolveConfig(page);
  return format([introduction, ...commands].join('\n\n'), { ...options, filepath: page });
}

/** Returns the committed page. */
export async function committedCommandLinePage(): Promise<string> {
  return readFile(page, 'utf8');
}

/** Rewrites the page. */
export async function writeCommandLinePage(): Promise<void> {
  await writeFile(page, await commandLinePage());
}

const introduction = `# The command line

<!-- Made by scripts/docs/draw.ts from the help of the commands: changes belong there. -->

The program \`operator-builder\` comes with the package. From an empty folder to a manifest that a cluster can apply:

\`\`\`sh
npx operator-builder init --name shops --domain example.com
npx operator-builder create api --group shop --version v1alpha1 --kind Shop
npx operator-builder run --embedded --until-settled
npx operator-builder manifests
npx operator-builder build-installer --image registry.example/shops:1.0.0
\`\`\`

Results go to the standard output, everything else to the standard error. The exit codes are

| Code |                                                                                             |
| ---- | ------------------------------------------------------------------------------------------- |
| 0    | success; also a command that ran until SIGINT or SIGTERM                                    |
| 1    | failure, or an invalid command line; the message has the remedy. Of \`lint\` and \`breaking\`: there are errors |
| 2    | of \`plan\`: there are changes; of \`upgrade-check\`: there are findings; of \`upgrade-project\`: conflicts |
| 130  | interrupted; nothing is left half done                                                      |

\`kubectl operator-plan\` exits as \`kubectl diff\`: with 1 for changes, and 2 for failures.

With \`OPERATOR_BUILDER_DEBUG=1\` in the environment an error shows its stack.`;

interface CommandHelp {
  readonly words: string;
  readonly help: string;
}

/** Returns the help of every command that has no subcommands. */
function commandsOf(command: Command, parents: readonly string[] = []): readonly CommandHelp[] {
  const words = [...parents, command.name()];
  if (command.commands.length > 0) {
    return command.commands.flatMap((child) => commandsOf(child, words));
  }
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  return [{ words: words.join(' '), help }];
}

const nowhere = { write: () => undefined, columns: 100 };
/** Environment of a program that only prints its help. */
const nothing: CommandContext = {
  ...{ program: [], env: {}, cwd: '/', clock: systemClock, stdout: nowhere, stderr: nowhere },
  readStdin: () => Promise.resolve(''),
  stopSignal: () => new AbortController().signal,
  setExitCode: () => undefined,
};
