import { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import type { ManifestsOptions } from '../manifests/write-manifests.js';
import { helpExamples, outputOption } from '../options.js';
import type { InstallerOptions } from '../package/build-installer.js';
import type { ChartOptions } from '../package/make-chart.js';

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

/** `operator-builder build-installer`. */
export function buildInstallerCommand(context: CommandContext): Command {
  return overlayCommand('build-installer')
    .description(
      'Writes all that a cluster needs to one file: what kubectl kustomize makes of an overlay.',
    )
    .option('-n, --namespace <name>', 'where the operator is to be (default: as the overlay says)')
    .option('--out <file>', 'in the project; - is the standard output', 'dist/install.yaml')
    .addOption(outputOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder build-installer --image registry.example/shop:1.2.0':
          'dist/install.yaml, for kubectl apply --server-side -f',
        'operator-builder build-installer --overlay config/crd --out -':
          'the CRDs, to be looked at',
      }),
    )
    .action(async (options: InstallerOptions) => {
      const { buildInstaller } = await import('../package/build-installer.js');
      await buildInstaller(options, context);
    });
}

/** `operator-builder helm`. */
export function helmCommand(context: CommandContext): Command {
  return overlayCommand('helm')
    .description(
      'Make or update a Helm chart of what kubectl kustomize makes of an overlay. values.yaml and Chart.yaml keep your changes.',
    )
    .option('--out <directory>', 'in the project (default: charts/ and its name)')
    .option('--dry-run', 'say what would be done to which file, and write nothing', false)
    .option('--force', 'drop changes that were made by hand', false)
    .addOption(outputOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder helm': 'a chart whose values are as config/ says',
        'operator-builder helm --dry-run': 'what has changed since it was made',
      }),
    )
    .action(async (options: ChartOptions) => {
      const { makeChart } = await import('../package/make-chart.js');
      await makeChart(options, context);
    });
}

/** Returns a command that builds an overlay of a project. */
function overlayCommand(name: string): Command {
  return new Command(name)
    .option('--project <directory>', 'where the operator is', '.')
    .option('--overlay <directory>', 'the kustomization to build, in the project', 'config/default')
    .option('--image <image>', "the manager's image (default: as config/manager says)");
}
