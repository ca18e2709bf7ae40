import { Command, Option } from 'commander';
import type { CommandContext } from '../../command-context.js';
import { whileWriting } from '../../files.js';
import { helpExamples, outputOption, daysOf, namesOf } from '../../options.js';
import type { Output } from '../../options.js';
import { defaultKeyDirectory } from './defaults.js';

interface KeysOptions {
  readonly directory: string;
  readonly host?: readonly string[] | undefined;
  readonly days: number;
  readonly force?: boolean | undefined;
  readonly rotate?: boolean | undefined;
  readonly output: Output;
}

/** `operator-builder declarative keys`. */
export function keysCommand(context: CommandContext): Command {
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
  const { generateKeys, rotateTokenKey } = await import('../../../declarative/api-server/index.js');
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
