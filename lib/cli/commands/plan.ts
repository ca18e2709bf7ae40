import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { readableMessage, usesColors } from '../../feed/index.js';
import { exitCodes, whileTelling } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import {
  addClusterOptions,
  clusterClient,
  commandLogger,
  helpExamples,
  logFormatOption,
  logLevelOption,
  outputOption,
} from '../options.js';
import type { ClusterOptions, LogOptions, Output } from '../options.js';
import type { ResourcePlan } from '../plan/plan-resource.js';
import type { LoadedProject } from '../load-operator.js';

const outputs = ['text', 'json', 'yaml', 'diff'] as const;

interface PlanOptions extends ClusterOptions, LogOptions {
  readonly filename: readonly string[];
  readonly project: string;
  readonly namespace: string;
  readonly serverSide?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  readonly forceConflicts?: boolean | undefined;
  readonly unchanged?: boolean | undefined;
  readonly color: boolean;
  readonly output: (typeof outputs)[number];
}

/** `operator-builder plan`. */
export function planCommand(context: CommandContext): Command {
  return addClusterOptions(new Command('plan'))
    .description(
      'Says what the operator of the project would change once custom resources are applied, at once ' +
        'and after each rollout: its controllers reconcile them with writes that are dry runs, and ' +
        'nothing is stored. Ends with code 2 when there are changes, 0 without changes, 1 when ' +
        'the operator fails.',
    )
    .requiredOption(
      '-f, --filename <path...>',
      'custom resources: files or directories of YAML; - is the standard input',
    )
    .option('--project <directory>', 'where the operator is', '.')
    .option('-n, --namespace <name>', 'of resources that name none', 'default')
    .option(
      '--server-side',
      'apply them as kubectl apply --server-side (default: as it was so far)',
    )
    .option('--field-manager <name>', 'who applies them (default: who has so far, or kubectl)')
    .option('--force-conflicts', 'take fields from others, with --server-side')
    .option('--unchanged', 'list objects that stay as they are, too')
    .option('--no-color', 'do not colour what is for people (also: NO_COLOR=1)')
    .addOption(
      new Option('--output <format>', 'changes, for people or for a program, or whole objects')
        .choices(outputs)
        .default('text'),
    )
    .addOption(logLevelOption().default('error'))
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder plan -f shop.yaml': 'on the cluster of your kubeconfig',
        'operator-builder plan -f config/samples/*.yaml --context staging': 'of several, elsewhere',
        'operator-builder plan -f shop.yaml --output diff': 'as kubectl diff prints changes',
        'operator-builder plan -f shop.yaml --output json': 'for a program',
      }),
    )
    .action((options: PlanOptions) => plan(options, context));
}

async function plan(options: PlanOptions, context: CommandContext): Promise<void> {
  const { loadOperator } = await import('../load-operator.js');
  const { resourcesAt } = await import('../object-files.js');
  const { planResource } = await import('../plan/plan-resource.js');
  const signal = context.stopSignal();
  const resources = await resourcesAt(options.filename, context);
  const { operator } = await whileTelling('the operator is compiled', context, () =>
    loadOperator(resolve(context.cwd, options.project)),
  );
  const logger = await commandLogger(options, context);
  const client = await clusterClient(options, context, logger);
  try {
    const { namespace, serverSide, fieldManager, forceConflicts } = options;
    const { clock } = context;
    const applying = { namespace, serverSide, fieldManager, forceConflicts };
    const plans: ResourcePlan[] = [];
    for (const resource of resources) {
      const planning = { ...applying, operator, client, logger, clock, signal };
      const what = `${resource.kind} ${resource.metadata.name ?? ''} is planned`;
      plans.push(await whileTelling(what, context, () => planResource(resource, planning)));
    }
    await say(plans, options, context);
  } finally {
    await client.close();
  }
}

async function say(
  plans: readonly ResourcePlan[],
  { output, color, unchanged = false }: PlanOptions,
  context: CommandContext,
): Promise<void> {
  const { stdout } = context;
  const rendering = { color: color && usesColors(context, stdout), unchanged };
  if (output === 'json') {
    stdout.write(`${JSON.stringify({ plans: plans.map(forPrograms) }, undefined, 2)}\n`);
  } else if (output === 'text') {
    const { renderSteps } = await import('../plan/render-plan.js');
    stdout.write(plans.map((each) => renderSteps(each, rendering)).join('\n'));
  } else {
    const { renderDiff, renderYaml } = await import('../plan/render-plan.js');
    stdout.write((output === 'yaml' ? renderYaml : renderDiff)(plans, rendering));
  }
  if (plans.some(({ changed }) => changed)) context.setExitCode(exitCodes.changes);
  const failed = plans.find(({ error }) => error !== undefined);
  if (failed?.error !== undefined) throw failed.error;
}

/** Replaces the error, which JSON can't represent, by its message. */
function forPrograms({ error, ...plan }: ResourcePlan): object {
  return { ...plan, ...(error !== undefined && { error: readableMessage(error) }) };
}

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
  const { loadOperator } = await import('../load-operator.js');
  const { resourcesAt } = await import('../object-files.js');
  const { checkUpgrade } = await import('../upgrade/check-upgrade.js');
  const signal = context.stopSignal();
  const { stdout, cwd } = context;
  const resources = await resourcesAt(options.filename, context);
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
