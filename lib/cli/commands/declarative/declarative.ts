import { Command } from 'commander';
import type { CommandContext } from '../../command-context.js';
import { apiServerCommand } from './api-server.js';
import { configCommand } from './config.js';
import { keysCommand } from './keys.js';
import { runCommand } from './run.js';

/** `operator-builder declarative` with its subcommands. */
export function declarativeCommand(context: CommandContext): Command {
  return new Command('declarative')
    .description('Runs operators that are written in YAML, and lets people see their views.')
    .addCommand(runCommand(context))
    .addCommand(apiServerCommand(context))
    .addCommand(keysCommand(context))
    .addCommand(configCommand(context));
}
