import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { helpExamples } from '../options.js';
import { scaffoldCommand } from '../scaffold/scaffold-command.js';
import type { ScaffoldOptions } from '../scaffold/scaffold-command.js';

/** `operator-builder upgrade-project`. */
export function upgradeProjectCommand(context: CommandContext): Command {
  return scaffoldCommand('upgrade-project')
    .description(
      'Merge the templates of this version of operator-builder into a project that an older one made. ' +
        'Conflicts are marked as git marks them; then the exit code is 2.',
    )
    .addHelpText(
      'after',
      helpExamples({
        'npm install operator-builder@latest && npx operator-builder upgrade-project':
          'the newest templates, in a project without uncommitted changes',
      }),
    )
    .action(async (options: ScaffoldOptions) => {
      // Loaded here: `--help` does not need it.
      const { upgradeProject } = await import('../scaffold/merge-project.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      await recordProject(await upgradeProject(options, context), options, context);
    });
}
