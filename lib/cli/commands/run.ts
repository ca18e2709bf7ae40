import { Command, Option } from 'commander';
import type { CommandContext } from '../command-context.js';
import {
  addClusterOptions,
  addProcessOptions,
  durationMsOf,
  helpExamples,
  logFormatOption,
  logLevelOption,
  namespacesOf,
  outputs,
  portOf,
} from '../options.js';
import type { RunOptions } from '../run/run-operator.js';
import type { ApiServerOptions } from '../run/serve-api.js';

/** `operator-builder run`. */
export function runCommand(context: CommandContext): Command {
  return addEmbeddedOptions(addProcessOptions(addClusterOptions(new Command('run'))))
    .description(
      'Runs the operator of the project from its sources, until SIGINT or SIGTERM, and restarts it when ' +
        'they change: on the cluster of your kubeconfig, or, with --embedded, on one in this process, ' +
        'with simulated workloads. Prints a line for each object that it changes and each failure.',
    )
    .option('--project <directory>', 'where the operator is', '.')
    .option(
      '-n, --namespace <names>',
      'the namespaces that it watches, separated by commas (default: all)',
      namespacesOf,
    )
    .option('--install-crds', 'install its custom resources first (always with --embedded)')
    .option('--webhook-port <port>', 'where its webhooks are served (default: 9443)', portOf)
    .option(
      '--webhook-certs <folder>',
      'serve its webhooks, by tls.crt and tls.key of this folder (default: not)',
    )
    .option('--no-watch', 'do not restart it when its sources change')
    .addOption(logLevelOption().default('warn'))
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder run --embedded': 'without a cluster, with config/samples',
        'operator-builder run --embedded -f shop.yaml --until-settled':
          'until the operator has done what the file asks for: as a test',
        'operator-builder run --context kind-dev --install-crds': 'on a cluster of yours',
      }),
    )
    .action(async (options: RunOptions) => {
      // Loaded here: `--help` does not need it.
      const { runOperator } = await import('../run/run-operator.js');
      await runOperator(options, context);
    });
}

function addEmbeddedOptions(command: Command): Command {
  return command
    .option('--embedded', 'on an API server in this process, without any cluster')
    .option(
      '-f, --filename <file...>',
      'of --embedded: what to apply once the operator runs (default: config/samples)',
    )
    .option('--port <port>', 'of --embedded: where the API server listens (default: any)', portOf)
    .option(
      '--kubeconfig-out <file>',
      'of --embedded: the kubeconfig to write for kubectl, gone at the end (default: below node_modules)',
    )
    .option('--as-admin', 'of --embedded: let the operator do what its role does not allow')
    .option('--until-settled', 'of --embedded: end once the operator has nothing left to do')
    .addOption(
      new Option('--settle-timeout <duration>', 'how long that may take')
        .argParser(durationMsOf)
        .default(60_000, '60s'),
    );
}

/** `operator-builder apiserver`. */
export function apiServerCommand(context: CommandContext): Command {
  return new Command('apiserver')
    .description(
      'Serves the Kubernetes API to kubectl and others from this process, until SIGINT or SIGTERM. All is ' +
        'in memory, and gone at the end. Tests in any language control the server over HTTP: faults, time, ' +
        'snapshots, the request log and pods. The token of that API is in OPERATOR_BUILDER_CONTROL_TOKEN, or ' +
        'generated.',
    )
    .addOption(new Option('--port <port>', 'where it listens').argParser(portOf).default(0, 'any'))
    .option(
      '--host <address>',
      'the address to listen on; beyond 127.0.0.1, everyone who reaches it is the administrator without --rbac',
      '127.0.0.1',
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
      'let roles decide who may do what; the kubeconfig is the administrator',
      false,
    )
    .option('--tls', 'serve over HTTPS; the kubeconfig knows whom to trust (default: with --rbac)')
    .option('--virtual-clock', 'start with a clock that only the control API advances', false)
    .option(
      '--ready-file <file>',
      'a file to write once the server is ready: its URL, its kubeconfig and the control API as JSON',
    )
    .addOption(
      new Option('--output <format>', 'what to print once the server is ready')
        .choices(outputs)
        .default('text'),
    )
    .addOption(logLevelOption().default('warn'))
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder apiserver': 'for kubectl --kubeconfig embedded.kubeconfig',
        'operator-builder apiserver --crds config/crd/bases --workloads --kubeconfig /tmp/dev':
          'with the kinds of a project, to run its operator against',
        'operator-builder apiserver --output json --workloads --virtual-clock':
          'for tests in another language: one line of JSON says where the server and its control API are',
      }),
    )
    .action(async (options: ApiServerOptions) => {
      // Loaded here: `--help` does not need it.
      const { serveApi } = await import('../run/serve-api.js');
      await serveApi(options, context);
    });
}
