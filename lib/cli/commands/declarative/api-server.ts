import { Command } from 'commander';
import type { CommandContext } from '../../command-context.js';
import {
  helpExamples,
  addClusterOptions,
  logFormatOption,
  logLevelOption,
  addProcessOptions,
  portOf,
} from '../../options.js';
import type { ClusterOptions, LogOptions, ProcessOptions } from '../../options.js';
import { defaultViewPort } from './defaults.js';
import type { RunningGroup } from './run-group.js';

interface ApiServerOptions extends ClusterOptions, ProcessOptions, LogOptions {
  readonly port: number;
  readonly host?: string | undefined;
  readonly keys?: string | undefined;
  readonly installCrd: boolean;
}

/** `operator-builder declarative apiserver`. */
export function apiServerCommand(context: CommandContext): Command {
  return addProcessOptions(addClusterOptions(new Command('apiserver')))
    .description(
      'Runs every Operator object of a cluster, as they come, change and go, and serves their views to ' +
        'kubectl, until SIGINT or SIGTERM.',
    )
    .option('--port <port>', 'where views are served', portOf, defaultViewPort)
    .option('--host <address>', 'where to; without keys only to this machine')
    .option('--keys <directory>', 'what `declarative keys` made: HTTPS, and tokens')
    .option('--no-install-crd', 'do not install the custom resource operators.dcontroller.io')
    .addOption(logLevelOption())
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder declarative apiserver': `views at http://127.0.0.1:${defaultViewPort}`,
        'operator-builder declarative apiserver --host 0.0.0.0 --keys view-keys':
          'over HTTPS; clients need a token of `declarative config`',
        'kubectl apply -f operator.yaml': 'an operator begins',
      }),
    )
    .action((options: ApiServerOptions) => serve(options, context));
}

async function serve(options: ApiServerOptions, context: CommandContext): Promise<void> {
  const { port, host, keys, installCrd } = options;
  const { operatorCrdAccess, operatorCrdController } =
    await import('../../../declarative/crd/index.js');
  const { runGroup } = await import('./run-group.js');
  await runGroup(
    {
      ...{ options, viewServer: { port, host, keys, keysOption: '--keys' } },
      fill: async (group, running) => {
        if (installCrd) await install(running);
        running.manager.add(operatorCrdController({ group }), { requires: operatorCrdAccess });
        return undefined;
      },
    },
    context,
  );
}

async function install({ client, logger, signal }: RunningGroup): Promise<void> {
  const { ensureCrd } = await import('../../../client/ensure-crd.js');
  const { OperatorResource } = await import('../../../declarative/crd/index.js');
  const { metadata } = await ensureCrd(client, OperatorResource.crd, { signal });
  logger.info('the custom resource is installed', { name: metadata.name });
}
