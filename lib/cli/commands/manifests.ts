import { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import type { ManifestsOptions } from '../manifests/write-manifests.js';
import { helpExamples, outputOption } from '../options.js';
import type { InstallerOptions } from '../package/build-installer.js';
import type { ChartOptions } from '../package/make-chart.js';

export function manifestsCommand(context: CommandContext): Command {
  return new Command('manifests')
    .description(
      'Generate the manifests of the project from its operator: CustomResourceDefinitions, roles with only the permissions that the controllers declare, and webhook configurations. Rules of your own go below the marker in config/rbac/role.yaml; the command keeps them.',
    )
    .option(
      '--check',
      'write nothing; list stale files and exit with code 1 if there are any',
      false,
    )
    .option('--dry-run', 'write nothing; list the files that would change', false)
    .option('--force', 'overwrite files that were not generated', false)
    .option('--project <directory>', 'directory of the project', '.')
    .addOption(outputOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder manifests': 'after a change of a schema or of a controller',
        'operator-builder manifests --check': 'in CI: fail if a manifest is stale',
      }),
    )
    .action(async (options: ManifestsOptions) => {
      // Imported on demand, since `--help` does not need it.
      const { writeManifests } = await import('../manifests/write-manifests.js');
      await writeManifests(options, context);
    });
}

export function buildInstallerCommand(context: CommandContext): Command {
  return overlayCommand('build-installer')
    .description(
      'Write all objects of a Kustomize overlay to one file, for kubectl apply. The manifests are taken as they are: `npm run build-installer` first checks that they are up to date.',
    )
    .option('-n, --namespace <name>', 'namespace of the operator (default: that of the overlay)')
    .option(
      '--out <file>',
      'file to write, in the project; - is the standard output',
      'dist/install.yaml',
    )
    .addOption(outputOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder build-installer --image registry.example/shop:1.2.0':
          'dist/install.yaml, for kubectl apply --server-side -f',
        'operator-builder build-installer --overlay config/crd --out -': 'print the CRDs',
      }),
    )
    .action(async (options: InstallerOptions) => {
      const { buildInstaller } = await import('../package/build-installer.js');
      await buildInstaller(options, context);
    });
}

export function helmCommand(context: CommandContext): Command {
  return overlayCommand('helm')
    .description(
      'Create or update a Helm chart from a Kustomize overlay. Your changes in values.yaml and Chart.yaml stay. The manifests are taken as they are: `npm run helm` first checks that they are up to date.',
    )
    .option(
      '--out <directory>',
      'directory of the chart, relative to the project (default: charts/<name of the project>)',
    )
    .option('--dry-run', 'write nothing; list the files that would change', false)
    .option('--force', 'discard changes that were made by hand', false)
    .addOption(outputOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder helm': 'a chart with the settings of config/ as values',
        'operator-builder helm --dry-run': 'list the files of the chart that would change',
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
    .option('--project <directory>', 'directory of the project', '.')
    .option('--overlay <directory>', 'kustomization to build, in the project', 'config/default')
    .option('--image <image>', 'image of the manager (default: that of config/manager)');
}
