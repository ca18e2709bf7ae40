import type { Readable, Writable } from 'node:stream';
import type { Environment } from '../client/index.js';
import type { TextOutput } from '../feed/index.js';
import type { Clock } from '../system/index.js';
import { OperatorError } from '../system/index.js';

export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}

/** The parts of the process that a command uses. Tests pass their own implementation. */
export interface CommandContext {
  /** The command line that starts this program: the path of Node.js, its options, the path of the program. */
  readonly program: readonly string[];
  readonly env: Environment;
  /** Absolute directory that relative paths start from. */
  readonly cwd: string;
  /** Output for results. */
  readonly stdout: TextOutput;
  /** Output for problems, progress and logs. */
  readonly stderr: TextOutput;
  /** Terminal for questions; undefined if the standard input or output is not a terminal. */
  readonly terminal?: Terminal | undefined;
  readonly clock: Clock;
  /** Reads the whole standard input. */
  readStdin(): Promise<string>;
  /**
   * Returns a signal that SIGINT or SIGTERM aborts. From the first call on, they no longer end the process.
   */
  stopSignal(): AbortSignal;
  /** Sets the exit code of a command that does not throw; initially 0. See {@link exitCodes}. */
  setExitCode(code: number): void;
}

export const exitCodes = {
  success: 0,
  /**
   * The command failed, or the command line is wrong; the message names the remedy. `lint` or `breaking` found errors.
   */
  failure: 1,
  /** `plan` found changes, or `upgrade-check` found problems. */
  changes: 2,
  /** SIGINT or SIGTERM interrupted the command; it leaves no partial results. */
  interrupted: 130,
} as const;

/**
 * Shows a progress line on the standard error during an operation; only on a terminal, and erased at the end.
 * @param what - for example `compiling the operator`
 */
export async function whileReporting<T>(
  what: string,
  { stderr }: Pick<CommandContext, 'stderr'>,
  work: () => Promise<T>,
): Promise<T> {
  const { columns } = stderr;
  if (columns === undefined) return work();
  // A wrapped line could not be erased.
  stderr.write(`… ${what}`.slice(0, columns - 1));
  try {
    return await work();
  } finally {
    stderr.write('\r\u001b[2K');
  }
}

/** An invalid command line: missing or contradictory options. */
export class UsageError extends OperatorError {
  constructor(message: string) {
    super('InvalidOption', message);
  }
}
