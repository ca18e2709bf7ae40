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
import type { FileOperator } from '../../operator-files.js';
import type { ClusterOptions, LogOptions, ProcessOptions } from '../../options.js';
import { UsageError } from '../../command-context.js';
import { defaultViewPort } from './defaults.js';
import type { ViewServerOptions } from './view-server.js';

interface RunOptions extends ClusterOptions, ProcessOptions, LogOptions {
  readonly watch?: boolean | undefined;
  readonly apiServerPort?: number | undefined;
  readonly apiServerHost?: string | undefined;
  readonly apiServerKeys?: string | undefined;
}

/** `operator-builder declarative run`. */
export function runCommand(context: CommandContext): Command {
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
    .action((files: string[], options: RunOptions) => runFiles(files, options, context));
}

async function runFiles(
  files: readonly string[],
  options: RunOptions,
  context: CommandContext,
): Promise<void> {
  const viewServer = viewServerOf(options);
  if (options.watch === true && files.includes('-')) {
    throw new UsageError('--watch is for files: the standard input does not change');
  }
  const { readOperatorFiles, refuseOddNames } = await import('../../operator-files.js');
  const { runGroup } = await import('./run-group.js');
  const { FileOperators } = await import('./file-operators.js');
  const { watchFiles } = await import('../../watch-files.js');
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

function viewServerOf(options: RunOptions): ViewServerOptions | undefined {
  const { apiServerPort, apiServerHost: host, apiServerKeys: keys } = options;
  if (apiServerPort === undefined && host === undefined && keys === undefined) return undefined;
  const keysOption = '--api-server-keys';
  return { port: apiServerPort ?? defaultViewPort, host, keys, keysOption };
}
