import { CommanderError } from 'commander';
import { asError } from '../system/as-error.js';
import { isOperatorError } from '../system/operator-error.js';
import { readableMessage } from '../feed/text-logger.js';
import { exitCodes } from './command-context.js';
import type { CommandContext } from './command-context.js';
import { createProgram } from './program.js';

/** The command context without the parts that each run creates. */
export type Surroundings = Omit<CommandContext, 'setExitCode'>;

/**
 * Runs a command line. Never throws: prints errors to the standard error.
 * @param args - without the names of node and the program
 * @returns the exit code, one of {@link exitCodes}
 */
export async function runCli(args: readonly string[], surroundings: Surroundings): Promise<number> {
  let exitCode: number = exitCodes.success;
  const context: CommandContext = { ...surroundings, setExitCode: (code) => (exitCode = code) };
  try {
    await createProgram(context).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has printed it; help and version are not failures.
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? exitCodes.success : exitCodes.failure;
    }
    context.stderr.write(`error: ${explained(error, context)}\n`);
    // Only the user aborts a command.
    return isOperatorError(error, 'Aborted') ? exitCodes.interrupted : exitCodes.failure;
  }
}

/**
 * Returns the message of an error. Messages of this package are complete; others get a hint at their
 * trace.
 */
function explained(thrown: unknown, { env }: CommandContext): string {
  const error = asError(thrown);
  const trace = env['OPERATOR_BUILDER_DEBUG'] === undefined ? '' : `\n${stacksOf(error)}`;
  const message = readableMessage(error);
  if (isOperatorError(error) || trace !== '') return `${message}${trace}`;
  return `${message}\n(OPERATOR_BUILDER_DEBUG=1 shows where it comes from)`;
}

/** Includes the causes of an operator's error. */
function stacksOf({ stack = '', cause }: Error): string {
  return cause === undefined ? stack : `${stack}\ncaused by ${stacksOf(asError(cause))}`;
}
