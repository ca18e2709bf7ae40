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
import type { EnvtestOptions } from '../run/envtest.js';
import type { RunOptions } from '../run/run-operator.js';
import type { ApiServerOptions } from '../run/serve-api.js';

export function runCommand(context: CommandContext): Command {
  return addEmbeddedOptions(addProcessOptions(addClusterOptions(new Command('run'))))
    .description(
      'Run the operator from its sources until SIGINT or SIGTERM, and restart it when they change. It runs on the cluster of your kubeconfig, or with --embedded on a simulated cluster in this process. The output has a line for each changed object and each failure.',
    )
    .option('--project <directory>', 'directory of the project', '.')
    .option(
      '-n, --namespace <names>',
      'namespaces to watch, separated by commas (default: all)',
      namespacesOf,
    )
    .option('--install-crds', 'install the CRDs of the operator first (always with --embedded)')
    .option('--webhook-port <port>', 'port of the webhooks (default: 9443)', portOf)
    .option(
      '--webhook-certs <folder>',
      'folder with tls.crt and tls.key: serve the webhooks (default: not served)',
    )
    .option('--no-watch', 'do not restart the operator when its sources change')
    .addOption(logLevelOption().default('warn'))
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder run --embedded': 'without a cluster, with config/samples',
        'operator-builder run --embedded -f shop.yaml --until-settled':
          'as a test: exit once the resources in the file are reconciled',
        'operator-builder run --context kind-dev --install-crds': 'on a cluster of your kubeconfig',
      }),
    )
    .action(async (options: RunOptions) => {
      // Imported on demand, since `--help` does not need it.
      const { runOperator } = await import('../run/run-operator.js');
      await runOperator(options, context);
    });
}

function addEmbeddedOptions(command: Command): Command {
  return command
    .option('--embedded', 'run on a simulated cluster in this process')
    .option(
      '-f, --filename <file...>',
      'with --embedded: objects to apply once the operator runs (default: config/samples)',
    )
    .option('--port <port>', 'with --embedded: port of the API server (default: any)', portOf)
    .option(
      '--kubeconfig-out <file>',
      'with --embedded: kubeconfig to write for kubectl, removed at the end (default: below node_modules)',
    )
    .option('--as-admin', 'with --embedded: give the operator all permissions')
    .option('--until-settled', 'with --embedded: exit once the operator has settled')
    .addOption(
      new Option('--settle-timeout <duration>', 'time limit of --until-settled')
        .argParser(durationMsOf)
        .default(60_000, '60s'),
    );
}

export function apiServerCommand(context: CommandContext): Command {
  return new Command('apiserver')
    .description(
      'Serve the Kubernetes API from this process until SIGINT or SIGTERM. All objects are kept in memory and lost at the end. Tests in any language control the server over HTTP: faults, time, snapshots, the request log and pods. Set the token of this control API in OPERATOR_BUILDER_CONTROL_TOKEN; otherwise it is generated.',
    )
    .addOption(new Option('--port <port>', 'port to listen on').argParser(portOf).default(0, 'any'))
    .option(
      '--host <address>',
      'address to listen on; without --rbac every client that reaches it is an administrator',
      '127.0.0.1',
    )
    .option('--kubeconfig <file>', 'kubeconfig to write, removed at the end', 'embedded.kubeconfig')
    .option('--crds <path...>', 'CRDs to serve: YAML files or folders, such as config/crd/bases')
    .option(
      '--workloads',
      'simulate pods, so that Deployments and other workloads become ready',
      false,
    )
    .option('--rbac', 'enforce RBAC; the kubeconfig is of an administrator', false)
    .option('--tls', 'serve over HTTPS; the kubeconfig has the certificate (default: with --rbac)')
    .option('--virtual-clock', 'start with a clock that only the control API advances', false)
    .option(
      '--ready-file <file>',
      'file to write once the server is ready: URL, kubeconfig and control API as JSON',
    )
    .addOption(
      new Option('--output <format>', 'format of the addresses printed once the server is ready')
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
          'with the kinds of a project, for its operator',
        'operator-builder apiserver --output json --workloads --virtual-clock':
          'for tests in another language: one line of JSON with the URLs and the control API',
      }),
    )
    .action(async (options: ApiServerOptions) => {
      // Imported on demand, since `--help` does not need it.
      const { serveApi } = await import('../run/serve-api.js');
      await serveApi(options, context);
    });
}

export function envtestCommand(context: CommandContext): Command {
  return new Command('envtest')
    .description(
      'Write the programs kube-apiserver and etcd, which serve this API server to tests in Go that use envtest of controller-runtime. Print the folder, for the variable KUBEBUILDER_ASSETS. For Linux and macOS. The programs start this installation of operator-builder.',
    )
    .argument('<folder>', 'folder to write the programs to')
    .argument(
      '[flags...]',
      'flags of kube-apiserver: serve the API with them, as the written program does',
    )
    .option(
      '--workloads',
      'run the controllers and simulate pods (default: no controllers, as in envtest)',
    )
    .addHelpText(
      'after',
      helpExamples({
        'KUBEBUILDER_ASSETS=$(operator-builder envtest bin/envtest) go test ./...':
          'the tests of a project in Go',
        'operator-builder envtest bin/envtest --workloads':
          'with Deployments that become ready, garbage collection and deletion of namespaces',
      }),
    )
    .action(async (folder: string, flags: readonly string[], options: EnvtestOptions) => {
      // Imported on demand, since `--help` does not need it.
      const { serveForEnvtest, writeEnvtestPrograms } = await import('../run/envtest.js');
      await (flags.length === 0
        ? writeEnvtestPrograms(folder, options, context)
        : serveForEnvtest(flags, options, context));
    });
}
