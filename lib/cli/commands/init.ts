import { Option } from 'commander';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { helpExamples, namesOf } from '../options.js';
import type { Unasked } from '../prompts.js';
import type { InitOptions } from '../scaffold/init-project.js';
import { scaffoldCommand, testRunners } from '../scaffold/scaffold-command.js';

/** `operator-builder init`. */
export function initCommand(context: CommandContext): Command {
  return scaffoldCommand('init')
    .description(
      'Makes a project: an operator that builds, runs and deploys, without kinds as yet. In the clone of ' +
        'a new repository its dot files, Markdown files and LICENSE stay as they are, even with --force.',
    )
    .option('--domain <domain>', 'what the groups of the kinds end with, for example example.com')
    .option('--name <name>', "what the operator is called (default: the folder's name)")
    .option('--repo <url>', "the repository's address, for package.json")
    .option('--license <license>', 'an SPDX identifier, for package.json')
    .option('--owner <owner>', 'the author, for package.json')
    .option(
      '--package <version>',
      'where operator-builder comes from: a version, or file:, a folder or a tarball (default: this version)',
    )
    .option(
      '--with <parts>',
      'what not every project has, separated by commas: olm (config/manifests, for a catalogue), scorecard (config/scorecard, its tests)',
      namesOf,
    )
    .addOption(
      new Option('--test-runner <runner>', 'what runs the tests: node:test or Vitest')
        .choices(testRunners)
        .default('node'),
    )
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder init --domain example.com': 'a project in this folder',
        'operator-builder init --domain example.com --name shop -C shop --dry-run':
          'what would be made in the folder shop',
      }),
    )
    .action(async (options: Unasked<InitOptions, 'domain'>, command: Command) => {
      // Loaded here: `--help` does not need it.
      const { initProject } = await import('../scaffold/init-project.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      const { askMissing } = await import('../prompts.js');
      const { initQuestions } = await import('../prompts.js');
      const questions = initQuestions(options, context);
      const asked = await askMissing(options, questions, { command, context });
      const all = { ...options, ...asked } as InitOptions;
      await recordProject(await initProject(all, context), all, context);
    });
}
