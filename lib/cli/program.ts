import { Command } from 'commander';
import { packageVersion } from '../client/client-options.js';
import type { CommandContext } from './command-context.js';
import { apiServerCommand } from './commands/apiserver.js';
import { buildInstallerCommand } from './commands/build-installer.js';
import { completionCommand } from './commands/completion.js';
import { createCommand } from './commands/create.js';
import { deleteCommand } from './commands/delete.js';
import { declarativeCommand } from './commands/declarative/declarative.js';
import { graphCommand } from './commands/graph.js';
import { helmCommand } from './commands/helm.js';
import { helpCommand } from './commands/help.js';
import { initCommand } from './commands/init.js';
import { manifestsCommand } from './commands/manifests.js';
import { planCommand } from './commands/plan.js';
import { upgradeProjectCommand } from './commands/upgrade-project.js';
import { upgradeCheckCommand } from './commands/upgrade-check.js';
import { runCommand } from './commands/run.js';

/** Creates the command `operator-builder` with its subcommands. It can parse one command line only. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('operator-builder')
    .description('Builds and runs Kubernetes operators.')
    .version(packageVersion, '-V, --version', 'print the version')
    // Otherwise `create api --version v1` would be read as the program's `--version`.
    .enablePositionalOptions()
    .addCommand(initCommand(context))
    .addCommand(createCommand(context))
    .addCommand(deleteCommand(context))
    .addCommand(manifestsCommand(context))
    .addCommand(runCommand(context))
    .addCommand(planCommand(context))
    .addCommand(upgradeCheckCommand(context))
    .addCommand(upgradeProjectCommand(context))
    .addCommand(buildInstallerCommand(context))
    .addCommand(helmCommand(context))
    .addCommand(graphCommand(context))
    .addCommand(apiServerCommand(context))
    .addCommand(declarativeCommand(context))
    .addCommand(completionCommand(context));
  program.addCommand(helpCommand(program));
  settle(program, context);
  return program;
}

/** Applies common settings: commands added later do not inherit them. */
function settle(command: Command, context: CommandContext, parents: readonly string[] = []): void {
  const names = [...parents, command.name()];
  const { stdout, stderr } = context;
  command
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .helpOption('-h, --help', 'show this')
    .showHelpAfterError(`(${names.join(' ')} --help shows what there is)`);
  if (command.commands.length > 0) command.helpCommand(false);
  for (const child of command.commands) settle(child, context, names);
}
