import { Option } from 'commander';
import { usesColors } from '../../feed/text-logger.js';
import type { Logger } from '../../system/logger.js';
import type { CommandContext } from '../command-context.js';

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const formats = ['text', 'json'] as const;

/** Options of logging. */
export interface LogOptions {
  readonly logLevel: (typeof levels)[number];
  /** @defaultValue `text` if the standard error is a terminal, else `json` */
  readonly logFormat?: (typeof formats)[number] | undefined;
}

/** Returns the option `--log-level`. */
export function logLevelOption(): Option {
  return new Option('--log-level <level>', 'the least severe log lines on the standard error')
    .choices(levels)
    .default('info');
}

/** Returns the option `--log-format`. */
export function logFormatOption(): Option {
  const what =
    'log lines for people, or JSON for programs (default: text at a terminal, else json)';
  return new Option('--log-format <format>', what).choices(formats);
}

/** Whether log lines are text for people. */
export function logsText({ logFormat }: LogOptions, { stderr }: CommandContext): boolean {
  return (logFormat ?? (stderr.columns === undefined ? 'json' : 'text')) === 'text';
}

/** Returns the logger of a command. */
export async function commandLogger(options: LogOptions, context: CommandContext): Promise<Logger> {
  const { stderr, env } = context;
  const { logLevel: level } = options;
  const write = (line: string): void => void stderr.write(line);
  if (logsText(options, context)) {
    const { textLogger } = await import('../../feed/text-logger.js');
    return textLogger({ level, write, color: usesColors(context, stderr) });
  }
  const { pinoLogger } = await import('../../system/pino-logger.js');
  const stacks = level === 'debug' || env['OPERATOR_BUILDER_DEBUG'] !== undefined;
  return pinoLogger({ level, destination: { write }, stacks });
}
