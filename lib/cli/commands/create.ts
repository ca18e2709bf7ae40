import { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { createApiCommand } from './create-api.js';
import { createWebhookCommand } from './create-webhook.js';

/** `operator-builder create` with its subcommands. */
export function createCommand(context: CommandContext): Command {
  return new Command('create')
    .description('Adds to a project that `init` made.')
    .addCommand(createApiCommand(context))
    .addCommand(createWebhookCommand(context));
}
