import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { usesColors } from '../../feed/index.js';
import { UsageError, exitCodes, whileReporting } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import {
  accountError,
  addClusterOptions,
  clusterClient,
  commandLogger,
  helpExamples,
  logFormatOption,
  logLevelOption,
  outputOption,
  planRemedy,
} from '../options.js';
import type { ClusterOptions, LogOptions, Output } from '../options.js';
import { planOutputs } from '../plan/print-plans.js';
import type { PrintingOptions } from '../plan/print-plans.js';
import type { ResourcePlan } from '../../plan/index.js';
import type { LoadedProject } from '../load-operator.js';

/** Options of applying a file, as in kubectl. */
export interface ApplyOptions {
  readonly serverSide?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  readonly forceConflicts?: boolean | undefined;
}

interface PlanOptions extends ClusterOptions, LogOptions, PrintingOptions, ApplyOptions {
  readonly filename: readonly string[];
  readonly project: string;
  readonly namespace: string;
}

/** Adds the options of {@link ApplyOptions}, and those of the printed text. */
export function addApplyOptions(command: Command): Command {
  return command
    .option('--server-side', 'use server-side apply (default: as the last apply did)')
    .option(
      '--field-manager <name>',
      'field manager of the apply (default: that of the last apply, or kubectl)',
    )
    .option('--force-conflicts', 'with --server-side: take fields over from other field managers')
    .option('--unchanged', 'also list unchanged objects')
    .option('--no-color', 'print text without colours (also: NO_COLOR=1)');
}

export function planOutputOption(flags: string): Option {
  const what = 'format of the plan: text, JSON or a diff of the changes; yaml prints whole objects';
  return new Option(flags, what).choices(planOutputs).default('text');
}

export function planCommand(context: CommandContext): Command {
  return addApplyOptions(
    addClusterOptions(new Command('plan'))
      .description(
        'Show what the operator would change if custom resources were applied, at once and after each rollout. All writes are dry runs. Exit code: 0 no changes, 2 changes, 1 the operator fails.',
      )
      .requiredOption(
        '-f, --filename <path...>',
        'custom resources: files or directories of YAML; - is the standard input',
      )
      .option('--project <directory>', 'directory of the project', '.')
      .option('-n, --namespace <name>', 'namespace of resources that have none', 'default'),
  )
    .addOption(planOutputOption('--output <format>'))
    .addOption(logLevelOption().default('error'))
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder plan -f shop.yaml': 'on the cluster of your kubeconfig',
        'operator-builder plan -f config/samples/*.yaml --context staging':
          'several resources, on another cluster',
        'operator-builder plan -f shop.yaml --output diff': 'in the format of kubectl diff',
        'operator-builder plan -f shop.yaml --output json': 'for a program',
      }),
    )
    .action((options: PlanOptions) => plan(options, context));
}

async function plan(options: PlanOptions, context: CommandContext): Promise<void> {
  const { loadOperator } = await import('../load-operator.js');
  const { resourcesAt } = await import('../object-files.js');
  const { planResource } = await import('../../plan/index.js');
  const { printPlans } = await import('../plan/print-plans.js');
  const { unconverted, unconvertedCrds } = await import('../../operator/index.js');
  const signal = context.stopSignal();
  const resources = await resourcesAt(options.filename, context);
  const { operator } = await whileReporting('compiling the operator', context, () =>
    loadOperator(resolve(context.cwd, options.project)),
  );
  const logger = await commandLogger(options, context);
  const client = await clusterClient(options, context, logger);
  try {
    for (const name of await unconvertedCrds(client, operator, signal)) {
      context.stderr.write(`warning: ${name} is ${unconverted}\n`);
    }
    const { namespace, serverSide, fieldManager, forceConflicts } = options;
    const { clock } = context;
    const applying = { namespace, serverSide, fieldManager, forceConflicts };
    const plans: ResourcePlan[] = [];
    for (const resource of resources) {
      const planning = { ...applying, operator, client, logger, clock, signal };
      const what = `planning ${resource.kind} ${resource.metadata.name ?? ''}`;
      const { error, ...planned } = await whileReporting(what, context, () =>
        planResource(resource, planning),
      );
      plans.push({
        ...planned,
        ...(error !== undefined && { error: accountError(error, planRemedy) }),
      });
    }
    await printPlans(plans, options, context);
  } catch (error) {
    throw accountError(error, planRemedy);
  } finally {
    await client.close();
  }
}

interface UpgradeCheckOptions extends LogOptions {
  readonly from: string;
  readonly to: string;
  readonly filename: readonly string[];
  readonly namespace: string;
  readonly color: boolean;
  readonly output: Output;
}

export function upgradeCheckCommand(context: CommandContext): Command {
  return new Command('upgrade-check')
    .description(
      'Check the effects of an operator upgrade. Both versions reconcile stored resources in a cluster inside this process; no other cluster is needed. The report lists pod restarts with the field behind each, refused writes, objects that are renamed, pruned, lost or invalid, and breaking changes of definitions. Exit code: 0 no findings, 2 findings, 1 the check failed.',
    )
    .requiredOption('--from <directory>', 'project of the current version, with node_modules')
    .requiredOption('--to <directory>', 'project of the new version, with node_modules')
    .requiredOption(
      '-f, --filename <path...>',
      'stored resources: files or directories of YAML; - is the standard input',
    )
    .option('-n, --namespace <name>', 'namespace of resources that have none', 'default')
    .option('--no-color', 'print text without colours (also: NO_COLOR=1)')
    .addOption(outputOption())
    .addOption(logLevelOption().default('silent'))
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder upgrade-check --from ../shop-1.4 --to . -f crs/': 'before a release',
        'kubectl get shops -A -o yaml | operator-builder upgrade-check --from ../shop-1.4 --to . -f -':
          'with the resources of a cluster',
      }),
    )
    .action((options: UpgradeCheckOptions) => upgradeCheck(options, context));
}

/** Refuses a folder below a project: {@link loadOperator} would load that project, possibly for both versions. */
async function refuseWithin(folder: string, option: 'from' | 'to'): Promise<void> {
  const { findProject } = await import('../load-operator.js');
  const root = await findProject(folder);
  if (root === folder) return;
  throw new UsageError(
    `--${option}: ${folder} has no PROJECT or package.json; pass the directory of a project, such as ${root}`,
  );
}

async function upgradeCheck(options: UpgradeCheckOptions, context: CommandContext): Promise<void> {
  const { loadOperator } = await import('../load-operator.js');
  const { resourcesAt } = await import('../object-files.js');
  const { checkUpgrade } = await import('../upgrade/check-upgrade.js');
  const signal = context.stopSignal();
  const { stdout, cwd } = context;
  const resources = await resourcesAt(options.filename, context);
  const compiled = async (option: 'from' | 'to'): Promise<LoadedProject> => {
    const folder = resolve(cwd, options[option]);
    await refuseWithin(folder, option);
    return whileReporting(`compiling the operator in ${options[option]}`, context, () =>
      loadOperator(folder),
    );
  };
  const { operator: from } = await compiled('from');
  const { operator: to } = await compiled('to');
  const logger = await commandLogger(options, context);
  const { namespace } = options;
  const report = await whileReporting('replaying both versions', context, () =>
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
