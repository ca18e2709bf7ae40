import { Command, Option } from 'commander';
import { resolve } from 'node:path';
import type { Drawing } from '../../declarative/internal.js';
import type { CommandContext } from '../command-context.js';
import { helpExamples } from '../options.js';
import { UsageError } from '../command-context.js';
import { writeResult } from '../files.js';

const formats = ['mermaid', 'dot', 'svg', 'json'] as const;

interface GraphOptions {
  readonly project?: string | undefined;
  readonly format: (typeof formats)[number];
  readonly out?: string | undefined;
}

export function graphCommand(context: CommandContext): Command {
  return new Command('graph')
    .description(
      'Draw the operator of the project: its controllers, and the kinds that they reconcile, own and watch. With files: draw the sources, stages and targets of declarative operators, and how their controllers depend on each other.',
    )
    .argument('[file...]', 'YAML files with declarative operators; - is the standard input')
    .option(
      '--project <directory>',
      'directory of the project (default: the current directory, if no files are given)',
    )
    .addOption(
      new Option(
        '-f, --format <format>',
        'format of the drawing; json writes the data of the graph',
      )
        .choices(formats)
        .default('mermaid'),
    )
    .option('-o, --out <file>', 'file to write (default: the standard output)')
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder graph': 'the operator of this project as Mermaid, for a Markdown page',
        'operator-builder graph *.yaml -f svg -o operators.svg':
          'several declarative operators in one drawing',
        'kubectl get operator shop -o yaml | operator-builder graph -':
          'a declarative operator of a cluster',
      }),
    )
    .action((files: string[], options: GraphOptions) => drawGraph(files, options, context));
}

interface Drawn {
  readonly model: object;
  readonly drawing: Drawing;
}

async function drawGraph(
  files: readonly string[],
  { project, format, out }: GraphOptions,
  context: CommandContext,
): Promise<void> {
  if (files.length > 0 && project !== undefined) {
    throw new UsageError('--project: not possible with files; leave one of them out');
  }
  const drawn =
    files.length > 0
      ? await drawnFiles(files, context)
      : await drawnProject(resolve(context.cwd, project ?? '.'));
  await writeResult(await textOf(drawn, format), out, context);
}

// Imported on demand, since `--help` does not need it.
async function drawnFiles(files: readonly string[], context: CommandContext): Promise<Drawn> {
  const { readOperatorFiles } = await import('../declarative/operator-files.js');
  const { operatorGraph } = await import('../../declarative/index.js');
  const { drawingOf } = await import('../../declarative/internal.js');
  const model = operatorGraph(await readOperatorFiles(files, context));
  return { model, drawing: drawingOf(model) };
}

async function drawnProject(directory: string): Promise<Drawn> {
  const { loadOperator } = await import('../load-operator.js');
  const { controllerGraph, controllerDrawing } = await import('../controller-graph.js');
  const { operator } = await loadOperator(directory);
  const model = await controllerGraph(operator);
  return { model, drawing: controllerDrawing(model) };
}

async function textOf({ model, drawing }: Drawn, format: GraphOptions['format']): Promise<string> {
  switch (format) {
    case 'mermaid': {
      const { mermaidOfDrawing } = await import('../../declarative/internal.js');
      return mermaidOfDrawing(drawing);
    }
    case 'dot': {
      const { dotOfDrawing } = await import('../../declarative/internal.js');
      return dotOfDrawing(drawing);
    }
    case 'svg': {
      const { svgOfDrawing } = await import('../../declarative/internal.js');
      return svgOfDrawing(drawing);
    }
    case 'json':
      return `${JSON.stringify(model, undefined, 2)}\n`;
  }
}
