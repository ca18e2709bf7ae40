import type { Readable, Writable } from 'node:stream';
import type { Environment, TextOutput } from '../feed/text-output.js';
import type { Clock } from '../system/clock.js';

/** Somebody at a keyboard. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}

/** All that a command has of its process, so that it can run in any other. */
export interface CommandContext {
  readonly env: Environment;
  /** The directory that relative paths are of, absolute. */
  readonly cwd: string;
  /** For results. */
  readonly stdout: TextOutput;
  /** For whatever is said about them: problems, progress, logs. */
  readonly stderr: TextOutput;
  /** Where somebody can be asked; undefined: the standard input or output is no terminal. */
  readonly terminal?: Terminal | undefined;
  readonly clock: Clock;
  /** All of the standard input. */
  readStdin(): Promise<string>;
  /** Aborted by SIGINT or SIGTERM, which from the first call on do not end the process by themselves. */
  stopSignal(): AbortSignal;
  /** What the process is to end with, of a command that does not throw; at first 0. See {@link exitCodes}. */
  setExitCode(code: number): void;
}

/** What the process ends with. */
export const exitCodes = {
  success: 0,
  /** What was asked for could not be done, or the command line is wrong; the message says what helps. */
  failure: 1,
  /** Of `plan`: there is something to change. Of `upgrade-check`: there is something to know before. */
  changes: 2,
  /** SIGINT or SIGTERM came before it was done; nothing that is half done is left. */
  interrupted: 130,
} as const;
