import { CommanderError } from 'commander';
import { asError } from '../system/as-error.js';
import { isOperatorError } from '../system/operator-error.js';
import { readableMessage } from '../feed/brief-error.js';
import { exitCodes } from './command-context.js';
import type { CommandContext } from './command-context.js';
import { createProgram } from './program.js';

/** What a command line is carried out in: all but what a run makes for itself. */
export type Surroundings = Omit<CommandContext, 'setExitCode'>;

/**
 * Carries out a command line. It throws nothing: what goes wrong is said on the standard error.
 * @param args - without the names of node and the program
 * @returns what the process is to end with, of {@link exitCodes}
 */
export async function runCli(args: readonly string[], surroundings: Surroundings): Promise<number> {
  let exitCode: number = exitCodes.success;
  const context: CommandContext = { ...surroundings, setExitCode: (code) => (exitCode = code) };
  try {
    await createProgram(context).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has said it already; help and version are no failures.
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? exitCodes.success : exitCodes.failure;
    }
    context.stderr.write(`error: ${explained(error, context)}\n`);
    // Nobody but the user ends what a command does.
    return isOperatorError(error, 'Aborted') ? exitCodes.interrupted : exitCodes.failure;
  }
}

/** The messages of this package say what to do; of others the trace is to be had. */
function explained(thrown: unknown, { env }: CommandContext): string {
  const error = asError(thrown);
  const trace = env['OPERATOR_BUILDER_DEBUG'] === undefined ? '' : `\n${stacksOf(error)}`;
  const message = readableMessage(error);
  if (isOperatorError(error) || trace !== '') return `${message}${trace}`;
  return `${message}\n(OPERATOR_BUILDER_DEBUG=1 shows where it comes from)`;
}

/** Of what an operator throws there is more to know than where it was found. */
function stacksOf({ stack = '', cause }: Error): string {
  return cause === undefined ? stack : `${stack}\ncaused by ${stacksOf(asError(cause))}`;
}
