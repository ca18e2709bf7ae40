import { Command } from 'commander';
import { resolve } from 'node:path';
import { usesColors } from '../../feed/text-logger.js';
import { exitCodes, whileTelling } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import {
  helpExamples,
  commandLogger,
  logFormatOption,
  logLevelOption,
  outputOption,
} from '../options.js';
import type { LogOptions, Output } from '../options.js';
import type { LoadedProject } from '../project/load-operator.js';

interface UpgradeCheckOptions extends LogOptions {
  readonly from: string;
  readonly to: string;
  readonly filename: readonly string[];
  readonly namespace: string;
  readonly color: boolean;
  readonly output: Output;
}

/** `operator-builder upgrade-check`. */
export function upgradeCheckCommand(context: CommandContext): Command {
  return new Command('upgrade-check')
    .description(
      'Says what an upgrade of an operator does to what runs: both versions work on stored resources, ' +
        'one after the other, in a cluster within this process. Names every pod restart with the field ' +
        'that causes it, writes that a server refuses, what is renamed, pruned or lost, and resources ' +
        'that the new schemas refuse. Ends with code 2 when there are such findings, 0 without ' +
        'findings, 1 when it could not be checked. No cluster is needed.',
    )
    .requiredOption('--from <directory>', 'the project in the version that runs, with its packages')
    .requiredOption('--to <directory>', 'the project in the version that is to run')
    .requiredOption(
      '-f, --filename <path...>',
      'what is stored: files or directories of YAML; - is the standard input',
    )
    .option('-n, --namespace <name>', 'of resources that name none', 'default')
    .option('--no-color', 'do not colour what is for people (also: NO_COLOR=1)')
    .addOption(outputOption())
    .addOption(logLevelOption().default('silent'))
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder upgrade-check --from ../shop-1.4 --to . -f crs/': 'before a release',
        'kubectl get shops -A -o yaml | operator-builder upgrade-check --from ../shop-1.4 --to . -f -':
          'with what a cluster has',
      }),
    )
    .action((options: UpgradeCheckOptions) => upgradeCheck(options, context));
}

async function upgradeCheck(options: UpgradeCheckOptions, context: CommandContext): Promise<void> {
  const { loadOperator } = await import('../project/load-operator.js');
  const { readResources } = await import('../plan/resource-files.js');
  const { filesIn } = await import('../plan/files-in.js');
  const { checkUpgrade } = await import('../upgrade/check-upgrade.js');
  const signal = context.stopSignal();
  const { stdout, cwd } = context;
  const resources = await readResources(await filesIn(options.filename, cwd), context);
  const compiled = (directory: string): Promise<LoadedProject> =>
    whileTelling(`the operator in ${directory} is compiled`, context, () =>
      loadOperator(resolve(cwd, directory)),
    );
  const { operator: from } = await compiled(options.from);
  const { operator: to } = await compiled(options.to);
  const logger = await commandLogger(options, context);
  const { namespace } = options;
  const report = await whileTelling('both versions are replayed', context, () =>
    checkUpgrade({ from, to, resources, namespace, logger, signal }),
  );
  if (options.output === 'json') {
    stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  } else {
    const { renderUpgrade } = await import('../upgrade/upgrade-report.js');
    const color = options.color && usesColors(context, stdout);
    stdout.write(renderUpgrade(report, { color }));
  }
  if (report.findings.length > 0) context.setExitCode(exitCodes.changes);
}
