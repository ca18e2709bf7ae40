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

export function initCommand(context: CommandContext): Command {
  return withInitOptions(scaffoldCommand('init'))
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder init --domain example.com': 'a project in this folder',
        'operator-builder init --domain example.com --name shop -C shop --dry-run':
          'list the files of a project in the folder shop',
      }),
    )
    .action((options: AskedInitOptions, command: Command) => init(options, { command, context }));
}

/** The command of the package `create-operator-builder`, which creates a project as `init` does. */
export function creatorCommand(context: CommandContext): Command {
  return withInitOptions(scaffoldCommand('create-operator-builder'))
    .argument('[folder]', 'folder of the project (default: that of --directory)')
    .addHelpText(
      'after',
      helpExamples({
        'npm create operator-builder shop -- --domain example.com': 'a project in the folder shop',
        'create-operator-builder shop --domain example.com --dry-run': 'list its files',
      }),
    )
    .action((folder: string | undefined, options: AskedInitOptions, command: Command) => {
      const { directory } = options;
      return init({ ...options, directory: folder ?? directory }, { command, context });
    });
}

type AskedInitOptions = Unasked<InitOptions, 'domain'>;

function withInitOptions(command: Command): Command {
  return command
    .description(
      'Create a project that builds, runs and deploys: an operator, still without kinds. Dot files, Markdown files and LICENSE of a new repository stay unchanged, even with --force. So do the kinds of an existing project, and the files that list them.',
    )
    .option('--domain <domain>', 'domain of the API groups, for example example.com')
    .option('--name <name>', 'name of the operator (default: the name of the folder)')
    .option('--repo <url>', 'URL of the repository, for package.json')
    .option('--license <license>', 'SPDX identifier of the license, for package.json')
    .option('--owner <owner>', 'author, for package.json')
    .option(
      '--package <version>',
      'version of operator-builder to install, or file: with a folder or a tarball (default: this version)',
    )
    .option(
      '--with <parts>',
      'optional parts, separated by commas: olm (config/manifests, for a catalogue of the Operator Lifecycle Manager), scorecard (config/scorecard, tests of the bundle)',
      namesOf,
    )
    .addOption(
      new Option('--test-runner <runner>', 'test runner: node:test or Vitest')
        .choices(testRunners)
        .default('node'),
    );
}

async function init(
  options: AskedInitOptions,
  { command, context }: { readonly command: Command; readonly context: CommandContext },
): Promise<void> {
  // Imported on demand, since `--help` does not need it.
  const { initProject } = await import('../scaffold/init-project.js');
  const { recordProject } = await import('../scaffold/project-record.js');
  const { askMissing, initQuestions } = await import('../prompts.js');
  const questions = initQuestions(options, context);
  const asked = await askMissing(options, questions, { command, context });
  const isChosen = command.getOptionValueSource('testRunner') === 'cli';
  const testRunner = isChosen ? options.testRunner : undefined;
  const all = { ...options, ...asked, testRunner } as InitOptions;
  await recordProject(await initProject(all, context), all, context);
}

export function createCommand(context: CommandContext): Command {
  return new Command('create')
    .description('Add a kind or a webhook to a project.')
    .addCommand(createApiCommand(context))
    .addCommand(createWebhookCommand(context));
}

function createApiCommand(context: CommandContext): Command {
  return scaffoldCommand('api')
    .description('Add a kind, a version of a kind, or a controller to the project.')
    .option('--group <group>', 'API group of the kind, without the domain')
    .option('--version <version>', 'API version, for example v1alpha1')
    .option('--kind <kind>', 'name of the kind, for example CronTab')
    .option('--plural <plural>', 'plural name in URLs (default: the English plural of the kind)')
    .addOption(choice('--resource [wanted]', 'add the schema, the CRD, a sample and roles'))
    .addOption(choice('--controller [wanted]', 'add the controller and its test'))
    .addOption(choice('--namespaced [wanted]', 'the kind is namespaced'))
    .option(
      '--no-resource',
      'add only a controller, for a kind of the project, of another operator or of Kubernetes',
    )
    .option(
      '--crd-file <file>',
      'with --no-resource: CustomResourceDefinition of the other operator',
    )
    .option('--no-controller', 'add no controller')
    .option('--no-namespaced', 'the kind is cluster-scoped')
    .addOption(
      new Option('--style <style>', 'style of the controller').choices(styles).default('builder'),
    )
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder create api --group shop --version v1alpha1 --kind Shop':
          'a kind with a controller',
        'operator-builder create api --group shop --version v1 --kind Shop':
          'a second version of the kind',
        'operator-builder create api --group apps --version v1 --kind Deployment --no-resource':
          'a controller for a built-in kind; the group of Pods is core',
        'operator-builder create api --group shop --version v1 --kind Fleet --no-namespaced --dry-run':
          'list the files of a cluster-scoped kind',
      }),
    )
    .action(async (options: Unasked<CreateApiOptions, ApiNames>, command: Command) => {
      // Imported on demand, since `--help` does not need it.
      const { createApi, namedProperties } = await import('../scaffold/create-api.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      const { askMissing, apiQuestions } = await import('../prompts.js');
      const questions = await apiQuestions(options, context);
      const asked = await askMissing(options, questions, { command, context });
      const named = namedProperties.filter((one) => command.getOptionValueSource(one) === 'cli');
      const all = { ...options, ...asked, named } as CreateApiOptions;
      await recordProject(await createApi(all, context), all, context);
    });
}

type ApiNames = 'group' | 'version' | 'kind';

/** Returns an option that is on by default; accepts `--x`, `--x=true` and `--x=false`. */
function choice(flags: string, description: string): Option {
  return new Option(flags, description).default(true).argParser((text: string) => {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new InvalidArgumentError('Want true or false.');
  });
}

function createWebhookCommand(context: CommandContext): Command {
  return scaffoldCommand('webhook')
    .description('Add admission or conversion webhooks for a kind of the project.')
    .option('--group <group>', 'API group of the kind, without the domain')
    .option('--version <version>', 'API version in which the webhook receives objects')
    .option('--kind <kind>', 'name of the kind, for example CronTab')
    .option('--defaulting', 'set defaults in objects before they are stored', false)
    .option('--validation', 'allow or deny objects before they are stored', false)
    .option(
      '--conversion',
      'convert objects between all versions of the kind, through the stored version',
      false,
    )
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder create webhook --group shop --version v1 --kind Shop --validation':
          'rules that a schema cannot express',
        'operator-builder create webhook --group shop --version v1 --kind Shop --conversion':
          'for versions with different schemas',
      }),
    )
    .action(async (options: Unasked<CreateWebhookOptions, WebhookNames>, command: Command) => {
      // Imported on demand, since `--help` does not need it.
      const { createWebhook } = await import('../scaffold/create-webhook.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      const { chooseKind } = await import('../prompts.js');
      const chosen = await chooseKind(options, { command, context });
      const all = { ...options, ...chosen } as CreateWebhookOptions;
      await recordProject(await createWebhook(all, context), all, context);
    });
}

type WebhookNames = 'group' | 'version' | 'kind';

export function deleteCommand(context: CommandContext): Command {
  const api = scaffoldCommand('api')
    .description(
      'Remove a kind from the project: its schema, controller and webhooks. Files that you changed stay.',
    )
    .requiredOption('--group <group>', 'API group of the kind, as in PROJECT')
    .requiredOption('--kind <kind>', 'name of the kind, for example CronTab')
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder delete api --group shop --kind Shop --dry-run':
          'list the files that would be removed, and those that would stay',
      }),
    )
    .action(async (options: DeleteApiOptions) => {
      // Imported on demand, since `--help` does not need it.
      const { deleteApi } = await import('../scaffold/merge-project.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      await recordProject(await deleteApi(options, context), options, context);
    });
  return new Command('delete').description('Remove a kind from a project.').addCommand(api);
}

export function upgradeProjectCommand(context: CommandContext): Command {
  return scaffoldCommand('upgrade-project')
    .description(
      'Merge the templates of this version of operator-builder into the project. Conflicts are marked as in git; the exit code is then 2.',
    )
    .addHelpText(
      'after',
      helpExamples({
        'npx operator-builder upgrade-project':
          'the newest templates, once a newer operator-builder is installed and committed',
      }),
    )
    .action(async (options: ScaffoldOptions) => {
      // Imported on demand, since `--help` does not need it.
      const { upgradeProject } = await import('../scaffold/merge-project.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      await recordProject(await upgradeProject(options, context), options, context);
    });
}
