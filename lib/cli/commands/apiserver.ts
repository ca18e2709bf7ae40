import { Command, Option } from 'commander';
import type { ApiServerOptions } from '../run/serve-api.js';
import type { CommandContext } from '../command-context.js';
import { helpExamples, logFormatOption, logLevelOption, portOf } from '../options.js';

/** `operator-builder apiserver`. */
export function apiServerCommand(context: CommandContext): Command {
  return new Command('apiserver')
    .description(
      'Serves the Kubernetes API to kubectl and others from this process, until SIGINT or SIGTERM. All is ' +
        'in memory, and gone at the end.',
    )
    .addOption(
      new Option('--port <port>', 'where it listens, on 127.0.0.1')
        .argParser(portOf)
        .default(0, 'any'),
    )
    .option(
      '--kubeconfig <file>',
      'the kubeconfig to write, gone at the end',
      'embedded.kubeconfig',
    )
    .option(
      '--crds <path...>',
      'custom resources to serve: YAML files, or folders of them, as config/crd/bases',
    )
    .option('--workloads', 'simulate pods, so that Deployments and the like become ready', false)
    .option(
      '--rbac',
      'let roles decide who may do what; the kubeconfig is the administrator (kubectl needs --tls)',
      false,
    )
    .option('--tls', 'serve over HTTPS; the kubeconfig knows whom to trust', false)
    .addOption(logLevelOption().default('warn'))
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder apiserver': 'for kubectl --kubeconfig embedded.kubeconfig',
        'operator-builder apiserver --crds config/crd/bases --workloads --kubeconfig /tmp/dev':
          'with the kinds of a project, to run its operator against',
      }),
    )
    .action(async (options: ApiServerOptions) => {
      // Loaded here: `--help` does not need it.
      const { serveApi } = await import('../run/serve-api.js');
      await serveApi(options, context);
    });
}
