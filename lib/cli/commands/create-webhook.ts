import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { helpExamples } from '../options.js';
import type { Unasked } from '../prompts.js';
import type { CreateWebhookOptions } from '../scaffold/create-webhook.js';
import { scaffoldCommand } from '../scaffold/scaffold-command.js';

/** `operator-builder create webhook`. */
export function createWebhookCommand(context: CommandContext): Command {
  return scaffoldCommand('webhook')
    .description(
      'Has the API server ask the operator about objects of a kind that the project has.',
    )
    .option('--group <group>', 'the group of the kind, without the domain')
    .option('--version <version>', 'the version that the operator gets the objects in')
    .option('--kind <kind>', 'for example CronTab')
    .option('--defaulting', 'complete objects before they are stored', false)
    .option('--validation', 'decide whether objects may be stored', false)
    .option(
      '--conversion',
      'convert objects between all versions of the kind, by way of the one that is stored',
      false,
    )
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder create webhook --group shop --version v1 --kind Shop --validation':
          'what a schema can not say of a Shop',
        'operator-builder create webhook --group shop --version v1 --kind Shop --conversion':
          'for versions of different schemas',
      }),
    )
    .action(async (options: Unasked<CreateWebhookOptions, Named>, command: Command) => {
      // Loaded here: `--help` does not need it.
      const { createWebhook } = await import('../scaffold/create-webhook.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      const { chooseKind } = await import('../prompts.js');
      const chosen = await chooseKind(options, { command, context });
      const all = { ...options, ...chosen } as CreateWebhookOptions;
      await recordProject(await createWebhook(all, context), all, context);
    });
}

type Named = 'group' | 'version' | 'kind';
