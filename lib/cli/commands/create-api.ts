import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { helpExamples } from '../options.js';
import type { Unasked } from '../prompts.js';
import type { CreateApiOptions } from '../scaffold/create-api.js';
import { scaffoldCommand, styles } from '../scaffold/scaffold-command.js';

/** `operator-builder create api`. */
export function createApiCommand(context: CommandContext): Command {
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
    .action(async (options: Unasked<CreateApiOptions, Named>, command: Command) => {
      // Loaded here: `--help` does not need it.
      const { createApi } = await import('../scaffold/create-api.js');
      const { recordProject } = await import('../scaffold/project-record.js');
      const { askMissing } = await import('../prompts.js');
      const { apiQuestions } = await import('../prompts.js');
      const questions = await apiQuestions(options, context);
      const asked = await askMissing(options, questions, { command, context });
      const all = { ...options, ...asked } as CreateApiOptions;
      await recordProject(await createApi(all, context), all, context);
    });
}

type Named = 'group' | 'version' | 'kind';

/** Returns an option that is on by default; accepts `--x`, `--x=true` and `--x=false`. */
function choice(flags: string, description: string): Option {
  return new Option(flags, description).default(true).argParser((text: string) => {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new InvalidArgumentError('want true or false.');
  });
}
