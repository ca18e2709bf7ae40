import { Command, Option } from 'commander';
import { resolve } from 'node:path';
import type { Clock } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import type { FileOperator } from '../declarative/operator-files.js';
import type { GroupOptions, RunningGroup, ViewServerOptions } from '../declarative/run-group.js';
import type { AccessLevel } from '../declarative/view-access.js';
import { whileWriting } from '../files.js';
import type { WatchedPaths } from '../watch-files.js';
import { declarativeManifestsCommand } from './declarative-manifests.js';
import {
  addClusterOptions,
  addProcessOptions,
  daysOf,
  durationMsOf,
  helpExamples,
  logFormatOption,
  logLevelOption,
  namesOf,
  namespacedNameOf,
  namespacesOf,
  outputOption,
  portOf,
  watchedNamespacesOf,
} from '../options.js';
import type { ClusterOptions, LogOptions, Output, ProcessOptions } from '../options.js';

export function declarativeCommand(context: CommandContext): Command {
  return new Command('declarative')
    .description('Run operators that are written in YAML, and serve their views.')
    .addCommand(runCommand(context))
    .addCommand(declarativeManifestsCommand(context))
    .addCommand(apiServerCommand(context))
    .addCommand(keysCommand(context))
    .addCommand(configCommand(context));
}

interface FileRunOptions extends ClusterOptions, ProcessOptions, LogOptions, GroupOptions {
  readonly watch?: boolean | undefined;
  readonly apiServerPort?: number | undefined;
  readonly apiServerHost?: string | undefined;
  readonly apiServerKeys?: string | undefined;
}

function runCommand(context: CommandContext): Command {
  return addProcessOptions(addClusterOptions(new Command('run')))
    .description(
      'Run the operators in files on a cluster until SIGINT or SIGTERM. Problems in the files are reported before any operator starts.',
    )
    .argument(
      '<path...>',
      'YAML files with operators, and directories of such files; - is the standard input',
    )
    .option('--watch', 'apply the files again whenever they change')
    .option(
      '--api-server-port <port>',
      `port that serves the views of the operators to kubectl (default: not served; ${defaultViewPort} with --api-server-host or --api-server-keys)`,
      portOf,
    )
    .option(
      '--api-server-host <address>',
      'address of the view server; without --api-server-keys, only a loopback address',
    )
    .option(
      '--api-server-keys <directory>',
      'directory from `declarative keys`: serve over HTTPS, with tokens',
    )
    .option(
      '--namespaces <names>',
      'namespaces to watch, separated by commas (default: all); the operators may write to other namespaces, but do not watch the objects there',
      watchedNamespacesOf,
    )
    .addOption(metricsAuthOption())
    .addOption(logLevelOption())
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder declarative run operator.yaml --context kind-dev':
          'on a cluster of your kubeconfig',
        'operator-builder declarative run operator.yaml --watch':
          'applied again at each change of the file',
        'operator-builder declarative run *.yaml --api-server-port 18443':
          'with the views at http://127.0.0.1:18443',
      }),
    )
    .action((files: string[], options: FileRunOptions) => runFiles(files, options, context));
}

function metricsAuthOption(): Option {
  return new Option(
    '--metrics-auth <namespace/name>',
    'serve /metrics over HTTPS, to callers that RBAC allows to get /metrics; the certificate is for the Service <name>-controller-manager-metrics, and is kept in a Secret of the namespace',
  ).argParser(namespacedNameOf);
}

async function runFiles(
  files: readonly string[],
  options: FileRunOptions,
  context: CommandContext,
): Promise<void> {
  const viewServer = viewServerOf(options);
  if (options.watch === true && files.includes('-')) {
    throw new UsageError('--watch: not possible with the standard input; pass files');
  }
  const { FileOperators, readOperatorFiles, refuseOddNames, watchedFiles } =
    await import('../declarative/operator-files.js');
  const { runGroup } = await import('../declarative/run-group.js');
  const { watchFiles } = await import('../watch-files.js');
  const read = async (): Promise<readonly FileOperator[]> => {
    const operators = await readOperatorFiles(files, context);
    refuseOddNames(operators);
    return operators;
  };
  const operators = await read();
  await runGroup(
    {
      ...{ options, viewServer },
      fill: async (group, { logger }) => {
        const running = new FileOperators(group, logger);
        await running.set(operators);
        if (options.watch !== true) return undefined;
        const onChange = async (): Promise<void> => running.set(await read());
        const { clock } = context;
        const places = files.map((file) => resolve(context.cwd, file));
        const watched = (): Promise<WatchedPaths> => watchedFiles(places);
        return (signal) => watchFiles(watched, { clock, logger, signal, onChange });
      },
    },
    context,
  );
}

function viewServerOf(options: FileRunOptions): ViewServerOptions | undefined {
  const { apiServerPort, apiServerHost: host, apiServerKeys: keys } = options;
  if (apiServerPort === undefined && host === undefined && keys === undefined) return undefined;
  const keysOption = '--api-server-keys';
  return { port: apiServerPort ?? defaultViewPort, host, keys, keysOption };
}

interface ApiServerOptions extends ClusterOptions, ProcessOptions, LogOptions, GroupOptions {
  readonly port: number;
  readonly host?: string | undefined;
  readonly keys?: string | undefined;
  readonly installCrd: boolean;
}

function apiServerCommand(context: CommandContext): Command {
  return addProcessOptions(addClusterOptions(new Command('apiserver')))
    .description(
      'Run the operators of all Operator objects in a cluster until SIGINT or SIGTERM. Created, changed and deleted objects take effect at once. The views are served to kubectl.',
    )
    .option('--port <port>', 'port of the view server', portOf, defaultViewPort)
    .option(
      '--host <address>',
      'address of the view server; without --keys, only a loopback address',
    )
    .option(
      '--keys <directory>',
      'directory from `declarative keys`: serve over HTTPS, with tokens',
    )
    .option('--no-install-crd', 'do not install the CRD operators.dcontroller.io')
    .addOption(metricsAuthOption())
    .addOption(logLevelOption())
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder declarative apiserver': `views at http://127.0.0.1:${defaultViewPort}`,
        'operator-builder declarative apiserver --host 0.0.0.0 --keys view-keys':
          'over HTTPS; clients need a token of `declarative config`',
        'kubectl apply -f operator.yaml': 'start an operator',
      }),
    )
    .action((options: ApiServerOptions) => serve(options, context));
}

async function serve(options: ApiServerOptions, context: CommandContext): Promise<void> {
  const { port, host, keys, installCrd } = options;
  const { operatorCrdAccess } = await import('../../declarative/index.js');
  const { operatorCrdController } = await import('../../declarative/index.js');
  const { runGroup } = await import('../declarative/run-group.js');
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
  const { ensureCrd } = await import('../../client/index.js');
  const { OperatorResource } = await import('../../declarative/index.js');
  const { metadata } = await ensureCrd(client, OperatorResource.crd, { signal });
  logger.info('CRD installed', { name: metadata.name });
}

interface KeysOptions {
  readonly directory: string;
  readonly host?: readonly string[] | undefined;
  readonly days: number;
  readonly force?: boolean | undefined;
  readonly rotate?: boolean | undefined;
  readonly output: Output;
}

function keysCommand(context: CommandContext): Command {
  return new Command('keys')
    .description(
      'Create the keys of a view server: a certificate for HTTPS, and a key pair for tokens. Only you can read the files.',
    )
    .option('-d, --directory <directory>', 'directory for the files', defaultKeyDirectory)
    .option(
      '--host <names>',
      'further host names and addresses of the server, separated by commas (localhost is always included)',
      namesOf,
    )
    .option('--days <number>', 'validity of the certificate in days', daysOf, 365)
    .option('--force', 'replace existing files; tokens of the old keys become invalid')
    .addOption(
      new Option(
        '--rotate',
        'create a new token key; tokens of the previous key stay valid until the next rotation',
      ).conflicts(['force', 'host', 'days']),
    )
    .addOption(outputOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder declarative keys': `in ${defaultKeyDirectory}, for a server on this machine`,
        'operator-builder declarative keys --host views.example.com,10.0.0.7':
          'for a server that other machines connect to',
        'operator-builder declarative keys --rotate':
          'a new token key in addition to the previous one',
      }),
    )
    .action((options: KeysOptions) => makeKeys(options, context));
}

async function makeKeys(options: KeysOptions, { stdout }: CommandContext): Promise<void> {
  const { directory, host: hostNames, days: validForDays, force, rotate, output } = options;
  const { generateKeys } = await import('../../declarative/index.js');
  const { rotateTokenKey } = await import('../../declarative/internal.js');
  const files = await whileWriting(directory, () =>
    rotate === true
      ? rotateTokenKey(directory)
      : generateKeys({ directory, hostNames, validForDays, force }),
  );
  if (output === 'json') {
    stdout.write(`${JSON.stringify(files, undefined, 2)}\n`);
    return;
  }
  const lines = [
    [files.certificate, 'certificate of the server'],
    [files.privateKey, 'private key of the server'],
    [files.tokenKey, 'key with which the server verifies tokens'],
    [
      files.signingKey,
      'private key that signs tokens: keep it secret, the server does not need it',
    ],
  ];
  stdout.write(lines.map(([file = '', what = '']) => `${file}: ${what}\n`).join(''));
}

interface ConfigOptions {
  readonly user?: string | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly access: AccessLevel;
  readonly rules?: string | undefined;
  readonly expires: number;
  readonly server: string;
  readonly keys: string;
  readonly out: string;
  readonly force?: boolean | undefined;
  readonly output: Output;
}

const dayMs = 24 * 60 * 60_000;

function configCommand(context: CommandContext): Command {
  return addOptions(new Command('config'))
    .description(
      'Write a kubeconfig for the views of a server. It contains a token for a user, or none if the server uses plain HTTP. Only you can read the file.',
    )
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder declarative config --user alice --namespaces shop,bank':
          'alice may read the views in two namespaces for a day',
        "operator-builder declarative config --user ops --namespaces '*' --rules role.yaml --expires 8h":
          'the permissions of a Role file in all namespaces for eight hours',
        [`operator-builder declarative config --server http://127.0.0.1:${defaultViewPort}`]:
          'for a server on this machine without tokens',
        'kubectl --kubeconfig views.kubeconfig api-resources': 'list the views',
      }),
    )
    .action((options: ConfigOptions) => makeConfig(options, context));
}

function addOptions(command: Command): Command {
  return command
    .option('-u, --user <name>', 'user name in the token')
    .option(
      '-n, --namespaces <names>',
      "namespaces that the token allows, separated by commas; '*' for all",
      namespacesOf,
    )
    .addOption(
      new Option('--access <level>', 'allow reading all views, or also writing them')
        .choices(['read', 'write'])
        .default('read'),
    )
    .addOption(
      new Option('--rules <file>', 'YAML file of a Role whose rules the token allows').conflicts(
        'access',
      ),
    )
    .addOption(
      new Option('--expires <duration>', 'validity of the token, for example 90m')
        .argParser(durationMsOf)
        .default(dayMs, '24h'),
    )
    .option('--server <url>', 'URL of the server', `https://127.0.0.1:${defaultViewPort}`)
    .option('--keys <directory>', 'directory from `declarative keys`', defaultKeyDirectory)
    .option('-o, --out <file>', 'kubeconfig to write', 'views.kubeconfig')
    .option('--force', 'replace an existing file')
    .addOption(outputOption());
}

async function makeConfig(
  options: ConfigOptions,
  { stdout, clock }: CommandContext,
): Promise<void> {
  const { server, out: file, force, user, namespaces = [], expires, output } = options;
  const { writeViewKubeConfig } = await import('../../declarative/internal.js');
  const expiresAt = new Date(clock.now() + expires).toISOString();
  const secured = server.startsWith('http://') ? undefined : await credentials(options, clock);
  const [first] = namespaces;
  const namespace = first === '*' ? undefined : first;
  await whileWriting(file, () =>
    writeViewKubeConfig(file, { server, user, namespace, force, ...secured }),
  );
  const made = { file, server, ...(secured !== undefined && { user, namespaces, expiresAt }) };
  if (output === 'json') {
    stdout.write(`${JSON.stringify(made, undefined, 2)}\n`);
    return;
  }
  const whom = secured === undefined ? 'everybody' : `${user ?? ''}, until ${expiresAt}`;
  stdout.write(`${file}: ${server}, for ${whom}\n`);
}

/** @throws UsageError the options for the token's user or server are missing */
async function credentials(
  options: ConfigOptions,
  clock: Clock,
): Promise<{ readonly certificate: string; readonly token: string }> {
  const { user, namespaces, access, rules, expires: validForMs, keys } = options;
  if (user === undefined) throw new UsageError('--user: missing; pass the user name for the token');
  if (namespaces === undefined) {
    throw new UsageError(
      "--namespaces: missing; pass the namespaces that the token allows, or '*' for all",
    );
  }
  const { createToken } = await import('../../declarative/index.js');
  const { readSigningKeys, readRules, rulesOfLevel } =
    await import('../declarative/view-access.js');
  const { certificate, signingKey } = await readSigningKeys(keys);
  const claims = {
    ...{ username: user, namespaces },
    rules: rules === undefined ? rulesOfLevel(access) : await readRules(rules),
  };
  return { certificate, token: await createToken(claims, signingKey, { validForMs, clock }) };
}

/** Directory where `declarative keys` writes its files and the other commands look for them. */
const defaultKeyDirectory = 'view-keys';

/** Default port of an API server of views. */
const defaultViewPort = 18_443;
