import { Argument, Command, CommanderError } from 'commander';
import { packageVersion } from '../client/index.js';
import { readableMessage } from '../feed/index.js';
import { asError, isOperatorError } from '../system/index.js';
import { UsageError, exitCodes } from './command-context.js';
import type { CommandContext } from './command-context.js';
import { declarativeCommand } from './commands/declarative.js';
import { breakingCommand, lintCommand } from './commands/evolution.js';
import { graphCommand } from './commands/graph.js';
import { buildInstallerCommand, helmCommand, manifestsCommand } from './commands/manifests.js';
import { planCommand, upgradeCheckCommand } from './commands/plan.js';
import {
  createCommand,
  creatorCommand,
  deleteCommand,
  initCommand,
  upgradeProjectCommand,
} from './commands/project.js';
import { apiServerCommand, envtestCommand, runCommand } from './commands/run.js';
import { typesCommand } from './commands/types.js';
import { helpExamples } from './options.js';

/** Creates the command `operator-builder` with its subcommands. It can parse one command line only. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('operator-builder')
    .description('Build and run Kubernetes operators.')
    .version(packageVersion, '-V, --version', 'print the version')
    // Otherwise `create api --version v1` would be read as the program's `--version`.
    .enablePositionalOptions()
    .addCommand(initCommand(context))
    .addCommand(createCommand(context))
    .addCommand(deleteCommand(context))
    .addCommand(manifestsCommand(context))
    .addCommand(typesCommand(context))
    .addCommand(runCommand(context))
    .addCommand(planCommand(context))
    .addCommand(upgradeCheckCommand(context))
    .addCommand(lintCommand(context))
    .addCommand(breakingCommand(context))
    .addCommand(upgradeProjectCommand(context))
    .addCommand(buildInstallerCommand(context))
    .addCommand(helmCommand(context))
    .addCommand(graphCommand(context))
    .addCommand(apiServerCommand(context))
    .addCommand(envtestCommand(context))
    .addCommand(declarativeCommand(context))
    .addCommand(completionCommand(context));
  program.addCommand(helpCommand(program));
  settle(program, context);
  return program;
}

/** Applies common settings: commands added later do not inherit them. */
export function settle(
  command: Command,
  context: CommandContext,
  parents: readonly string[] = [],
): void {
  const names = [...parents, command.name()];
  const { stdout, stderr } = context;
  command
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      outputError: (text, write) => write(text + hint(text, command)),
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .helpOption('-h, --help', 'print this help')
    .showHelpAfterError(`(${names.join(' ')} --help lists commands and options)`);
  if (command.commands.length > 0) command.helpCommand(false);
  for (const child of command.commands) settle(child, context, names);
}

/** Options that name the folder of the project; each command has one of them. */
const folderOptions = { '--project': /'(?:-C|--directory)\b/, '--directory': /'--project\b/ };

/** Returns a line that adds to an error what the command expects instead; empty if there is nothing to add. */
function hint(error: string, { options, args, registeredArguments }: Command): string {
  const folder = options.find(
    ({ long }) => long !== undefined && Object.hasOwn(folderOptions, long),
  );
  if (error.startsWith('error: too many arguments')) {
    const unexpected = args.slice(registeredArguments.length).join(' ');
    const remedy = folder === undefined ? '' : `; a folder is given as ${folder.flags}`;
    return `(not expected: ${unexpected}${remedy})\n`;
  }
  if (folder === undefined || !error.startsWith('error: unknown option')) return '';
  const isMeant = Object.entries(folderOptions).some(
    ([name, others]) => name === folder.long && others.test(error),
  );
  return isMeant ? `(this command has ${folder.flags})\n` : '';
}

/** The command context without the parts that each run creates. */
export type Surroundings = Omit<CommandContext, 'setExitCode'>;

/** Runs a command line of `operator-builder`, as {@link runProgram} does. */
export function runCli(args: readonly string[], surroundings: Surroundings): Promise<number> {
  return runProgram(createProgram, args, surroundings);
}

/** Runs a command line of `create-operator-builder`, as {@link runProgram} does. */
export function runCreator(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const creatorProgram = (context: CommandContext): Command => {
    const command = creatorCommand(context);
    settle(command, context);
    return command;
  };
  return runProgram(creatorProgram, args, surroundings);
}

/**
 * Runs a command line. Never throws: prints errors to the standard error.
 * @param create - creates the command
 * @param args - the arguments, without the names of node and the program
 * @returns the exit code, one of {@link exitCodes}
 */
export async function runProgram(
  create: (context: CommandContext) => Command,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  let exitCode: number = exitCodes.success;
  const context: CommandContext = { ...surroundings, setExitCode: (code) => (exitCode = code) };
  try {
    await create(context).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has already printed the error. It also throws after help and version, which are not failures.
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? exitCodes.success : exitCodes.failure;
    }
    context.stderr.write(`error: ${explained(error, context)}\n`);
    // `Aborted` always means that the user interrupted the command.
    return isOperatorError(error, 'Aborted') ? exitCodes.interrupted : exitCodes.failure;
  }
}

/** Returns the message of an error. Messages of this package are complete; others get a hint how to print the stack. */
function explained(thrown: unknown, { env }: CommandContext): string {
  const error = asError(thrown);
  const trace = env['OPERATOR_BUILDER_DEBUG'] === undefined ? '' : `\n${stacksOf(error)}`;
  const message = readableMessage(error);
  if (isOperatorError(error) || trace !== '') return `${message}${trace}`;
  return `${message}\n(OPERATOR_BUILDER_DEBUG=1 prints the stack)`;
}

/** Includes the causes of an operator's error. */
function stacksOf({ stack = '', cause }: Error): string {
  return cause === undefined ? stack : `${stack}\ncaused by ${stacksOf(asError(cause))}`;
}

/** `operator-builder help`. @param program - the command whose subcommands it explains */
export function helpCommand(program: Command): Command {
  return new Command('help')
    .description('Print the help of a command, as its option --help does.')
    .argument('[command...]', 'words of the command')
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder help': 'all commands',
        'operator-builder help create api': 'a single command',
      }),
    )
    .action((words: readonly string[]) => commandOf(program, words).outputHelp());
}

/** @throws UsageError unknown command */
function commandOf(program: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const found = command.commands.find((child) => child.name() === word);
    if (found !== undefined) return found;
    const names = command.commands.map((child) => child.name()).join(', ');
    const remedy = names === '' ? 'it has no commands' : `its commands are ${names}`;
    throw new UsageError(`help: ${command.name()} has no command ${word}; ${remedy}`);
  }, program);
}

const shells = ['bash', 'zsh', 'fish'] as const;

export function completionCommand(context: CommandContext): Command {
  return new Command('completion')
    .description(
      'Write the completion script of a shell for commands, options, values and files. The script belongs to this version of the program, and starts no process to complete a word.',
    )
    .addArgument(new Argument('<shell>', 'shell of the script').choices(shells))
    .addHelpText(
      'after',
      helpExamples({
        'source <(operator-builder completion bash)': 'in ~/.bashrc; with zsh in ~/.zshrc',
        'operator-builder completion fish > ~/.config/fish/completions/operator-builder.fish':
          'run once',
      }),
    )
    .action(async (shell: (typeof shells)[number], _options: object, command: Command) => {
      // Imported on demand, since `--help` does not need it.
      const { completionScript } = await import('./completion.js');
      context.stdout.write(completionScript(shell, rootOf(command)));
    });
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}
