import { Command, InvalidArgumentError, Option } from 'commander';
import type { CommandContext } from '../command-context.js';
import { helpExamples, namesOf } from '../options.js';
import type { Unasked } from '../prompts.js';
import type { CreateApiOptions } from '../scaffold/create-api.js';
import type { CreateWebhookOptions } from '../scaffold/create-webhook.js';
import type { InitOptions } from '../scaffold/init-project.js';
import type { DeleteApiOptions } from '../scaffold/merge-project.js';
import { scaffoldCommand, styles, testRunners } from '../scaffold/scaffold-command.js';
import type { ScaffoldOptions } from '../scaffold/scaffold-command.js';

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
      const { askMissing, initQuestions } = await import('../prompts.js');
      const questions = initQuestions(options, context);
      const asked = await askMissing(options, questions, { command, context });
      const all = { ...options, ...asked } as InitOptions;
      await recordProject(await initProject(all, context), all, context);
    });
}

/** `operator-builder create` with its subcommands. */
export function createCommand(context: CommandContext): Command {
  return new Command('create')
    .description('Adds to a project that `init` made.')
    .addCommand(createApiCommand(context))
    .addCommand(createWebhookCommand(context));
}

/** `operator-builder create api`. */
function createApiCommand(context: CommandContext): Command {
  return scaffoldCommand('api')
    .description(
      'Adds a kind, or a version of one, to the project: its schema, and its controller.',
    )
    .option('--group <group>', 'the group of the kind, without the domain')
    .option('--version <version>', 'for example v1alpha1')
    .option('--kind <kind>', 'for example CronTab')
    .option('--plural <plural>', 'the name in URLs (default: by the rules of English)')
    .addOption(choice('--resource [wanted]', 'the schema, the CRD, a sample and roles'))
    .addOption(choice('--controller [wanted]', 'the controller, and a test of it'))
    .addOption(choice('--namespaced [wanted]', 'objects are in namespaces'))
    .option('--no-resource', 'only a controller: the project has the kind, or others define it')
    .option(
      '--crd-file <file>',
      'with --no-resource: the CustomResourceDefinition of a kind of another operator',
    )
    .option('--no-controller', 'without a controller')
    .option('--no-namespaced', 'the kind is one of the whole cluster')
    .addOption(
      new Option('--style <style>', 'how the controller is written')
        .choices(styles)
        .default('builder'),
    )
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder create api --group shop --version v1alpha1 --kind Shop':
          'a kind with a controller',
        'operator-builder create api --group shop --version v1 --kind Shop':
          'a second version of it',
        'operator-builder create api --group apps --version v1 --kind Deployment --no-resource':
          'a controller of a built-in kind; the group of Pods is core',
        'operator-builder create api --group shop --version v1 --kind Fleet --no-namespaced --dry-run':
          'what a kind of the whole cluster would be',
      }),
    )
    .action(async (options: Unasked<CreateApiOptions, ApiNames>, command: Command) => {
      // Loaded here: `--help` does not need it.
      const { createApi } = await import('../scaffold/create-api.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      const { askMissing, apiQuestions } = await import('../prompts.js');
      const questions = await apiQuestions(options, context);
      const asked = await askMissing(options, questions, { command, context });
      const all = { ...options, ...asked } as CreateApiOptions;
      await recordProject(await createApi(all, context), all, context);
    });
}

type ApiNames = 'group' | 'version' | 'kind';

/** Returns an option that is on by default; accepts `--x`, `--x=true` and `--x=false`. */
function choice(flags: string, description: string): Option {
  return new Option(flags, description).default(true).argParser((text: string) => {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new InvalidArgumentError('want true or false.');
  });
}

/** `operator-builder create webhook`. */
function createWebhookCommand(context: CommandContext): Command {
  return scaffoldCommand('webhook')
    .description(
      'Has the API server ask the operator about objects of a kind that the project has.',
    )
    .option('--group <group>', 'the group of the kind, without the domain')
    .option('--version <version>', 'the version that the operator gets the objects in')
    .option('--kind <kind>', 'for example CronTab')
    .option('--defaulting', 'complete objects before they are stored', false)
    .option('--validation', 'decide whether objects may be stored', false)
    .option(
      '--conversion',
      'convert objects between all versions of the kind, by way of the one that is stored',
      false,
    )
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder create webhook --group shop --version v1 --kind Shop --validation':
          'what a schema can not say of a Shop',
        'operator-builder create webhook --group shop --version v1 --kind Shop --conversion':
          'for versions of different schemas',
      }),
    )
    .action(async (options: Unasked<CreateWebhookOptions, WebhookNames>, command: Command) => {
      // Loaded here: `--help` does not need it.
      const { createWebhook } = await import('../scaffold/create-webhook.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      const { chooseKind } = await import('../prompts.js');
      const chosen = await chooseKind(options, { command, context });
      const all = { ...options, ...chosen } as CreateWebhookOptions;
      await recordProject(await createWebhook(all, context), all, context);
    });
}

type WebhookNames = 'group' | 'version' | 'kind';

/** `operator-builder delete` with its subcommands. */
export function deleteCommand(context: CommandContext): Command {
  const api = scaffoldCommand('api')
    .description(
      'Take a kind out of the project: its schema, controller and webhooks; files that you changed stay',
    )
    .requiredOption('--group <group>', 'the group of the kind, as PROJECT has it')
    .requiredOption('--kind <kind>', 'for example CronTab')
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder delete api --group shop --kind Shop --dry-run':
          'what would be removed, and what would stay',
      }),
    )
    .action(async (options: DeleteApiOptions) => {
      // Loaded here: `--help` does not need it.
      const { deleteApi } = await import('../scaffold/merge-project.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      await recordProject(await deleteApi(options, context), options, context);
    });
  return new Command('delete').description('Remove from a project.').addCommand(api);
}

/** `operator-builder upgrade-project`. */
export function upgradeProjectCommand(context: CommandContext): Command {
  return scaffoldCommand('upgrade-project')
    .description(
      'Merge the templates of this version of operator-builder into a project that an older one made. ' +
        'Conflicts are marked as git marks them; then the exit code is 2.',
    )
    .addHelpText(
      'after',
      helpExamples({
        'npm install operator-builder@latest && npx operator-builder upgrade-project':
          'the newest templates, in a project without uncommitted changes',
      }),
    )
    .action(async (options: ScaffoldOptions) => {
      // Loaded here: `--help` does not need it.
      const { upgradeProject } = await import('../scaffold/merge-project.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      await recordProject(await upgradeProject(options, context), options, context);
    });
}
