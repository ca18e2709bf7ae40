import { Command } from 'commander';
import { usesColors } from '../../feed/index.js';
import { UsageError, exitCodes } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import type { DefinitionFinding } from '../evolution/findings.js';
import { addClusterOptions, helpExamples, namesOf, outputOption } from '../options.js';
import type { Output } from '../options.js';

interface FindingOptions {
  readonly disable: readonly string[];
  readonly color: boolean;
  readonly output: Output;
}

export function breakingCommand(context: CommandContext): Command {
  const command = new Command('breaking')
    .description(
      'Find the changes between two states of CustomResourceDefinitions that break stored objects or clients. Exit code: 0 no breaking changes, 1 breaking changes.',
    )
    .argument(
      '<before>',
      'file, folder, URL or git revision (main:config/crd) with the current definitions; - is the standard input',
    )
    .argument(
      '<after>',
      'file, folder, URL or git revision with the new definitions; - is the standard input',
    );
  return addFindingOptions(command)
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder breaking main:config/crd/bases config/crd/bases':
          'in CI of a pull request',
        'kubectl get crds -o yaml | operator-builder breaking - config/crd/bases':
          'with the definitions and the stored versions of a cluster',
        'operator-builder breaking old.yaml new.yaml --disable enum-narrowed:spec.mode':
          'without reporting a change that you accept',
      }),
    )
    .action(async (before: string, after: string, options: FindingOptions) => {
      const { deployedDefinitions } = await import('../evolution/deployed-definitions.js');
      const { breakingChanges } = await import('../evolution/breaking-changes.js');
      const { breakingRules } = await import('../evolution/breaking-rules.js');
      const { checkChoice, chosen } = await import('../evolution/findings.js');
      const choice = { disable: options.disable, enable: [] };
      checkChoice(choice, breakingRules);
      const [old, current] = [
        await deployedDefinitions([before], context),
        await deployedDefinitions([after], context),
      ];
      const findings = chosen(breakingChanges(old, current), choice, breakingRules);
      await report(findings, { ...options, none: 'no breaking changes' }, context);
    });
}

interface LintOptions extends FindingOptions {
  readonly enable: readonly string[];
  readonly cluster: boolean;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

export function lintCommand(context: CommandContext): Command {
  const command = new Command('lint')
    .description(
      'Check CustomResourceDefinitions by the conventions of Kubernetes APIs. Exit code: 0 no errors, 1 errors.',
    )
    .argument(
      '[sources...]',
      'files, folders, URLs or git revisions (main:config/crd) with CustomResourceDefinitions; - is the standard input',
    )
    .option('--cluster', 'check the definitions of the cluster, too', false)
    .option(
      '--enable <rules>',
      'optional rules to switch on, separated by commas; can be repeated',
      namesOf,
      [],
    );
  return addClusterOptions(addFindingOptions(command))
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder lint config/crd/bases': 'in CI',
        'kubectl kustomize config/default | operator-builder lint -': 'with the conversion webhook',
        'operator-builder lint config/crd/bases --disable description,enum-case:spec.level':
          'with one rule switched off, and another one for a single field',
        'operator-builder lint --cluster --enable bounds,no-booleans': 'all kinds of a cluster',
      }),
    )
    .action(async (sources: readonly string[], options: LintOptions) => {
      const { deployedDefinitions } = await import('../evolution/deployed-definitions.js');
      const { lintDefinitions } = await import('../evolution/lint-definitions.js');
      const { lintRules } = await import('../evolution/lint-rules.js');
      const { checkChoice, chosen } = await import('../evolution/findings.js');
      if (sources.length === 0 && !options.cluster) {
        throw new UsageError(
          'no definitions: pass files, folders or URLs, such as config/crd/bases, or --cluster',
        );
      }
      checkChoice(options, lintRules);
      const cluster = options.cluster ? options : undefined;
      const definitions = await deployedDefinitions(sources, context, cluster);
      const findings = chosen(lintDefinitions(definitions), options, lintRules);
      await report(findings, { ...options, none: 'no findings' }, context);
    });
}

function addFindingOptions(command: Command): Command {
  return command
    .option(
      '--disable <rules>',
      'rules to switch off, separated by commas, as name or name:path; can be repeated',
      namesOf,
      [],
    )
    .option('--no-color', 'print text without colours (also: NO_COLOR=1)')
    .addOption(outputOption());
}

async function report(
  findings: readonly DefinitionFinding[],
  { output, color, none }: FindingOptions & { readonly none: string },
  context: CommandContext,
): Promise<void> {
  const { renderFindings } = await import('../evolution/findings.js');
  const { stdout } = context;
  if (output === 'json') stdout.write(`${JSON.stringify({ findings }, undefined, 2)}\n`);
  else
    stdout.write(renderFindings(findings, { color: color && usesColors(context, stdout), none }));
  if (findings.some(({ level }) => level === 'error')) context.setExitCode(exitCodes.failure);
}
