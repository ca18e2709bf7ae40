import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { helpExamples, outputOption } from '../options.js';
import type { InstallerOptions } from '../package/build-installer.js';
import { overlayCommand } from '../package/overlay-options.js';

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
