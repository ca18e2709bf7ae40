import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import type { ChartOptions } from '../package/make-chart.js';
import { helpExamples, outputOption } from '../options.js';
import { overlayCommand } from '../package/overlay-options.js';

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
