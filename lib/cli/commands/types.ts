import { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { addClusterOptions, helpExamples } from '../options.js';
import type { TypesOptions } from '../types/write-types.js';

export function typesCommand(context: CommandContext): Command {
  const command = new Command('types')
    .description(
      'Write TypeScript modules for the CustomResourceDefinitions of other operators. Each served version gets a module with the type of its objects, and a resource as defineResource returns it, to watch, validate and serve the objects.',
    )
    .argument(
      '[sources...]',
      'files, folders or URLs with CustomResourceDefinitions; - is the standard input',
    )
    .requiredOption('--out <directory>', 'directory of the modules')
    .option('--cluster', 'use the definitions of the cluster, too', false)
    .option(
      '--check',
      'write nothing; list stale modules and exit with code 1 if there are any',
      false,
    )
    .option('--force', 'overwrite files that were not generated', false);
  return addClusterOptions(command)
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder types --out src/types cert-manager.crds.yaml':
          'src/types/cert-manager.io/v1/certificate.ts and others',
        'operator-builder types --out src/types --check cert-manager.crds.yaml':
          'in CI: fail if a module is stale',
      }),
    )
    .action(async (sources: readonly string[], options: TypesOptions) => {
      // Imported on demand, since `--help` does not need it.
      const { writeTypes } = await import('../types/write-types.js');
      await writeTypes(sources, options, context);
    });
}
