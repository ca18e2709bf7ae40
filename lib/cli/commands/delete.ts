import { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { helpExamples } from '../options.js';
import type { DeleteApiOptions } from '../scaffold/merge-project.js';
import { scaffoldCommand } from '../scaffold/scaffold-command.js';

/** `operator-builder delete` with its subcommands. */
export function deleteCommand(context: CommandContext): Command {
  const api = scaffoldCommand('api')
    .description(
      'Take a kind out of the project: its schema, controller and webhooks; files that you changed stay',
    )
    .requiredOption('--group <group>', 'the group of the kind, as PROJECT has it')
    .requiredOption('--kind <kind>', 'for example CronTab')
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder delete api --group shop --kind Shop --dry-run':
          'what would be removed, and what would stay',
      }),
    )
    .action(async (options: DeleteApiOptions) => {
      // Loaded here: `--help` does not need it.
      const { deleteApi } = await import('../scaffold/merge-project.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      await recordProject(await deleteApi(options, context), options, context);
    });
  return new Command('delete').description('Remove from a project.').addCommand(api);
}
