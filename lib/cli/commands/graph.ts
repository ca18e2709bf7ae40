import { Command, Option } from 'commander';
import type { OperatorGraph } from '../../declarative/index.js';
import type { CommandContext } from '../command-context.js';
import { helpExamples } from '../help-examples.js';
import { writeResult } from '../write-result.js';

const formats = ['mermaid', 'dot', 'svg', 'json'] as const;

interface GraphOptions {
  readonly format: (typeof formats)[number];
  readonly out?: string | undefined;
}

/** `operator-builder graph`. */
export function graphCommand(context: CommandContext): Command {
  return new Command('graph')
    .description(
      'Draws declarative operators: what their controllers read, do and write, and which of them work ' +
        'on what others write.',
    )
    .argument('<file...>', 'YAML files with operators; - is the standard input')
    .addOption(
      new Option('-f, --format <format>', 'what to draw as; json is the model of the drawing')
        .choices(formats)
        .default('mermaid'),
    )
    .option('-o, --out <file>', 'write to a file, not to the standard output')
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder graph operator.yaml': 'as Mermaid, for a Markdown page',
        'operator-builder graph *.yaml -f svg -o operators.svg': 'several operators in one picture',
        'kubectl get operator shop -o yaml | operator-builder graph -': 'one of a cluster',
      }),
    )
    .action((files: string[], options: GraphOptions) => drawGraph(files, options, context));
}

async function drawGraph(
  files: readonly string[],
  { format, out }: GraphOptions,
  context: CommandContext,
): Promise<void> {
  // Loaded here: `--help` has no need of it.
  const { readOperatorFiles } = await import('../operator-files.js');
  const { operatorGraph } = await import('../../declarative/index.js');
  const drawn = await drawnAs(operatorGraph(await readOperatorFiles(files, context)), format);
  await writeResult(drawn, out, context);
}

async function drawnAs(graph: OperatorGraph, format: GraphOptions['format']): Promise<string> {
  const { toDot, toMermaid, toSvg } = await import('../../declarative/index.js');
  switch (format) {
    case 'mermaid':
      return toMermaid(graph);
    case 'dot':
      return toDot(graph);
    case 'svg':
      return toSvg(graph);
    case 'json':
      return `${JSON.stringify(graph, undefined, 2)}\n`;
  }
}
