import { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { helpExamples, outputOption } from '../options.js';
import type { ManifestsOptions } from '../manifests/write-manifests.js';

/** `operator-builder manifests`. */
export function manifestsCommand(context: CommandContext): Command {
  return new Command('manifests')
    .description(
      'Generate the manifests of the project from its operator: CustomResourceDefinitions of its ' +
        'resources, roles that allow only what its controllers declare, and configurations of its ' +
        'webhooks. In config/rbac/role.yaml, rules of your own go below the marker, and are kept.',
    )
    .option('--check', 'write nothing; show what is stale, and end with code 1 then', false)
    .option('--dry-run', 'write nothing, and show what would be changed', false)
    .option('--force', 'overwrite files that were not generated', false)
    .option('--project <directory>', 'where the operator is', '.')
    .addOption(outputOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder manifests': 'after a change of a schema, or of what a controller does',
        'operator-builder manifests --check': 'in CI: fail if a manifest is stale',
      }),
    )
    .action(async (options: ManifestsOptions) => {
      // Loaded here: `--help` does not need it.
      const { writeManifests } = await import('../manifests/write-manifests.js');
      await writeManifests(options, context);
    });
}
