import { Command, Option } from 'commander';
import type { Clock } from '../../../system/clock.js';
import type { CommandContext } from '../../command-context.js';
import { whileWriting } from '../../files.js';
import { helpExamples, outputOption, durationMsOf, namespacesOf } from '../../options.js';
import type { Output } from '../../options.js';
import { UsageError } from '../../command-context.js';
import { defaultKeyDirectory, defaultViewPort } from './defaults.js';
import type { AccessLevel } from './view-rules.js';

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
export function configCommand(context: CommandContext): Command {
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
  const { writeViewKubeConfig } = await import('../../../declarative/api-server/index.js');
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
  const { createToken } = await import('../../../declarative/api-server/index.js');
  const { readSigningKeys } = await import('./key-files.js');
  const { readRules, rulesOfLevel } = await import('./view-rules.js');
  const { certificate, signingKey } = await readSigningKeys(keys);
  const claims = {
    ...{ username: user, namespaces },
    rules: rules === undefined ? rulesOfLevel(access) : await readRules(rules),
  };
  return { certificate, token: await createToken(claims, signingKey, { validForMs, clock }) };
}
