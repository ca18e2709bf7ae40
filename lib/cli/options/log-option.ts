import { Option } from 'commander';
import type { Logger } from '../../system/logger.js';
import type { CommandContext } from '../command-context.js';

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** How much is logged. */
export interface LogOptions {
  readonly logLevel: (typeof levels)[number];
}

/** `--log-level`. */
export function logLevelOption(): Option {
  return new Option('--log-level <level>', 'what is logged, as lines of JSON on the standard error')
    .choices(levels)
    .default('info');
}

/** The logger of a command. */
export async function commandLogger(
  { logLevel: level }: LogOptions,
  { stderr, env }: CommandContext,
): Promise<Logger> {
  const { pinoLogger } = await import('../../system/pino-logger.js');
  const destination = { write: (line: string): void => void stderr.write(line) };
  const stacks = level === 'debug' || env['OPERATOR_BUILDER_DEBUG'] !== undefined;
  return pinoLogger({ level, destination, stacks });
}
