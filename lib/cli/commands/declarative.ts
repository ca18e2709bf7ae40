import { Command, Option } from 'commander';
import type { Clock } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import type { FileOperator } from '../declarative/operator-files.js';
import type { RunningGroup, ViewServerOptions } from '../declarative/run-group.js';
import type { AccessLevel } from '../declarative/view-access.js';
import { whileWriting } from '../files.js';
import {
  addClusterOptions,
  addProcessOptions,
  daysOf,
  durationMsOf,
  helpExamples,
  logFormatOption,
  logLevelOption,
  namesOf,
  namespacesOf,
  outputOption,
  portOf,
} from '../options.js';
import type { ClusterOptions, LogOptions, Output, ProcessOptions } from '../options.js';

/** `operator-builder declarative` with its subcommands. */
export function declarativeCommand(context: CommandContext): Command {
  return new Command('declarative')
    .description('Runs operators that are written in YAML, and lets people see their views.')
    .addCommand(runCommand(context))
    .addCommand(apiServerCommand(context))
    .addCommand(keysCommand(context))
    .addCommand(configCommand(context));
}

interface FileRunOptions extends ClusterOptions, ProcessOptions, LogOptions {
  readonly watch?: boolean | undefined;
  readonly apiServerPort?: number | undefined;
  readonly apiServerHost?: string | undefined;
  readonly apiServerKeys?: string | undefined;
}

/** `operator-builder declarative run`. */
function runCommand(context: CommandContext): Command {
  return addProcessOptions(addClusterOptions(new Command('run')))
    .description(
      'Runs the operators of files on a cluster, until SIGINT or SIGTERM. What is wrong with them is ' +
        'said before anything runs.',
    )
    .argument('<file...>', 'YAML files with operators; - is the standard input')
    .option('--watch', 'take over what the files say whenever they change')
    .option(
      '--api-server-port <port>',
      `serve their views to kubectl (default: not; with one of the next two ${defaultViewPort})`,
      portOf,
    )
    .option('--api-server-host <address>', 'where to; without keys only to this machine')
    .option('--api-server-keys <directory>', 'what `declarative keys` made: HTTPS, and tokens')
    .addOption(logLevelOption())
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder declarative run operator.yaml --context kind-dev':
          'on a cluster of yours',
        'operator-builder declarative run operator.yaml --watch': 'while you write it',
        'operator-builder declarative run *.yaml --api-server-port 18443':
          'with the views at http://127.0.0.1:18443',
      }),
    )
    .action((files: string[], options: FileRunOptions) => runFiles(files, options, context));
}

async function runFiles(
  files: readonly string[],
  options: FileRunOptions,
  context: CommandContext,
): Promise<void> {
  const viewServer = viewServerOf(options);
  if (options.watch === true && files.includes('-')) {
    throw new UsageError('--watch is for files: the standard input does not change');
  }
  const { FileOperators, readOperatorFiles, refuseOddNames } =
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
        return (signal) => watchFiles(files, { clock, logger, signal, onChange });
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

interface ApiServerOptions extends ClusterOptions, ProcessOptions, LogOptions {
  readonly port: number;
  readonly host?: string | undefined;
  readonly keys?: string | undefined;
  readonly installCrd: boolean;
}

/** `operator-builder declarative apiserver`. */
function apiServerCommand(context: CommandContext): Command {
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
  logger.info('the custom resource is installed', { name: metadata.name });
}

interface KeysOptions {
  readonly directory: string;
  readonly host?: readonly string[] | undefined;
  readonly days: number;
  readonly force?: boolean | undefined;
  readonly rotate?: boolean | undefined;
  readonly output: Output;
}

/** `operator-builder declarative keys`. */
function keysCommand(context: CommandContext): Command {
  return new Command('keys')
    .description(
      'Makes the keys of an API server of views that speaks HTTPS: a certificate for it, and a pair of ' +
        'keys for tokens. Only you can read the files.',
    )
    .option('-d, --directory <directory>', 'where the files go', defaultKeyDirectory)
    .option(
      '--host <names>',
      'names and addresses that the server is reached by, beside localhost, separated by commas',
      namesOf,
    )
    .option('--days <number>', 'how long the certificate is good', daysOf, 365)
    .option('--force', 'replace existing files; tokens of the old keys become invalid')
    .addOption(
      new Option(
        '--rotate',
        'make a new key for tokens; those of the key before stay good until the next rotation',
      ).conflicts(['force', 'host', 'days']),
    )
    .addOption(outputOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder declarative keys': `into ${defaultKeyDirectory}, for this machine`,
        'operator-builder declarative keys --host views.example.com,10.0.0.7':
          'for a server that others reach, too',
        'operator-builder declarative keys --rotate': 'a new key for tokens, beside the one before',
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
    [files.tokenKey, 'what the server checks tokens by'],
    [files.signingKey, 'what tokens are made with: keep it to yourself, no server needs it'],
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

/** `operator-builder declarative config`. */
function configCommand(context: CommandContext): Command {
  return addOptions(new Command('config'))
    .description(
      'Makes a kubeconfig for kubectl to see the views of an API server: with a token that says who one ' +
        'is and what one may do, or, for a server of plain HTTP, without. Only you can read the file.',
    )
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder declarative config --user alice --namespaces shop,bank':
          'alice may look at the views in two namespaces for a day',
        "operator-builder declarative config --user ops --namespaces '*' --rules role.yaml --expires 8h":
          'what a Role in a file allows, everywhere, for eight hours',
        [`operator-builder declarative config --server http://127.0.0.1:${defaultViewPort}`]:
          'for a server on this machine that asks for no token',
        'kubectl --kubeconfig views.kubeconfig api-resources': 'which views there are',
      }),
    )
    .action((options: ConfigOptions) => makeConfig(options, context));
}

function addOptions(command: Command): Command {
  return command
    .option('-u, --user <name>', 'who the token is for')
    .option(
      '-n, --namespaces <names>',
      "where it is good, separated by commas; '*' is everywhere",
      namespacesOf,
    )
    .addOption(
      new Option('--access <level>', 'what it allows: to look at all views, or to change them, too')
        .choices(['read', 'write'])
        .default('read'),
    )
    .addOption(
      new Option('--rules <file>', 'what it allows: the rules of a Role, YAML').conflicts('access'),
    )
    .addOption(
      new Option('--expires <duration>', 'how long it is good, for example 90m')
        .argParser(durationMsOf)
        .default(dayMs, '24h'),
    )
    .option('--server <url>', 'where the server is', `https://127.0.0.1:${defaultViewPort}`)
    .option('--keys <directory>', 'what `declarative keys` made', defaultKeyDirectory)
    .option('-o, --out <file>', 'the file to write', 'views.kubeconfig')
    .option('--force', 'replace a file that is there')
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
  if (user === undefined) throw new UsageError('--user is missing: say who the token is for');
  if (namespaces === undefined) {
    throw new UsageError("--namespaces is missing: say where the token is good, '*' is everywhere");
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
