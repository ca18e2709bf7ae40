import { Command } from 'commander';
import { silentLogger } from '../../system/index.js';
import { exitCodes, whileReporting } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { addClusterOptions, clusterClient, helpExamples } from '../options.js';
import type { ClusterOptions } from '../options.js';
import type { PrintingOptions } from '../plan/print-plans.js';
import { runProgram, settle } from '../program.js';
import type { Surroundings } from '../program.js';
import type { ResourcePlan } from '../../plan/index.js';
import { addApplyOptions, planOutputOption } from './plan.js';
import type { ApplyOptions } from './plan.js';

interface KubectlPlanOptions extends ClusterOptions, PrintingOptions, ApplyOptions {
  readonly filename: readonly string[];
  readonly namespace?: string | undefined;
  readonly service?: string | undefined;
  readonly serviceAccount?: string | undefined;
  readonly sendToken?: boolean | undefined;
}

/** Creates the command `kubectl operator-plan`. */
export function kubectlPlanProgram(context: CommandContext): Command {
  const command = addApplyOptions(
    addClusterOptions(new Command('kubectl operator-plan'))
      .description(
        'Show what a deployed operator would change if custom resources were applied, at once and after each rollout. The operator answers with dry runs; nothing is stored. Exit code: 0 no changes, 1 changes, 2 the plan failed.',
      )
      .requiredOption(
        '-f, --filename <path...>',
        'custom resources: files or directories of YAML; - is the standard input',
      )
      .option(
        '-n, --namespace <name>',
        'namespace of resources that have none (default: that of the context)',
      )
      .option(
        '--service <namespace/name:port>',
        "Service of the operator (default: the one that an annotation of the kind's CustomResourceDefinition names)",
      )
      .option(
        '--service-account <name>',
        'ServiceAccount, as name or namespace/name: the operator gets a short-lived token of this account, which only operators accept',
      )
      .option(
        '--send-token',
        'without --service-account: send the token of your kubeconfig; the operator could act as you with it',
      ),
  )
    .addOption(planOutputOption('-o, --output <format>'))
    .addHelpText(
      'after',
      helpExamples({
        'kubectl operator-plan -f shop.yaml --service-account planner':
          'with the rights of an account',
        'kubectl operator-plan -f shop.yaml --send-token -o diff':
          'with your rights, in the format of kubectl diff',
      }),
    )
    .action((options: KubectlPlanOptions) => plan(options, context));
  settle(command, context);
  return command;
}

/**
 * Runs a command line of `kubectl operator-plan`. @returns the exit code, with the same meaning as for `kubectl diff`
 */
export async function runKubectlPlan(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const code = await runProgram(kubectlPlanProgram, args, surroundings);
  if (code === exitCodes.changes) return 1;
  return code === exitCodes.failure ? 2 : code;
}

/** Time limit of the request, in milliseconds; longer than the operator's limit for a plan. */
const requestTimeoutMs = 90_000;

async function plan(options: KubectlPlanOptions, context: CommandContext): Promise<void> {
  const { resourcesAt } = await import('../object-files.js');
  const { deployedPlan } = await import('../plan/deployed-plan.js');
  const { printPlans } = await import('../plan/print-plans.js');
  const signal = context.stopSignal();
  const resources = await resourcesAt(options.filename, context);
  const client = await clusterClient(options, context, silentLogger, { requestTimeoutMs });
  try {
    const { namespace = client.defaultNamespace } = options;
    const planning = { ...options, client, namespace, signal };
    const plans: ResourcePlan[] = [];
    for (const resource of resources) {
      const what = `planning ${resource.kind} ${resource.metadata.name ?? ''}`;
      plans.push(await whileReporting(what, context, () => deployedPlan(resource, planning)));
    }
    await printPlans(plans, options, context);
  } finally {
    await client.close();
  }
}
