import { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import type { DeploymentOptions } from '../declarative/write-deployment.js';
import {
  addClusterOptions,
  helpExamples,
  namesOf,
  namespacesOf,
  outputOption,
} from '../options.js';

export function declarativeManifestsCommand(context: CommandContext): Command {
  const command = new Command('manifests')
    .description(
      'Write the manifests that run the operators in a cluster: a kustomization with the operators as a ConfigMap, a Deployment, and roles with only the permissions that sources and targets need; and the Dockerfile of the image. Run the command again after a change of the operators. It keeps your changes in files that it does not generate, and your own rules below the marker in config/rbac/role.yaml.',
    )
    .argument(
      '<path...>',
      'YAML files with operators, and directories of such files; - is the standard input',
    )
    .option('-d, --directory <directory>', 'directory of the manifests', 'deploy')
    .option(
      '--name <name>',
      'name of the Deployment and of its other objects (default: the name in PROJECT, or at the first run the name of the only operator)',
    )
    .option('--image <image>', 'image to run (default: registry.example/<name>:0.1.0 at first)')
    .option(
      '--namespaces <names>',
      "limit the operators to these namespaces, separated by commas; '*' for all (default: those of the last run; at the first run, all)",
      namespacesOf,
    )
    .option('--api-server', 'serve the views over HTTPS, as a Service', false)
    .option(
      '--crds <sources>',
      'files, folders or URLs with the CustomResourceDefinitions of sources and targets, separated by commas',
      namesOf,
    )
    .option('--cluster', 'use the definitions of the cluster, too', false)
    .option(
      '--check',
      'write nothing; list stale files and exit with code 1 if there are any',
      false,
    )
    .option('--dry-run', 'write nothing; list the files that would change', false)
    .option('--force', 'overwrite files that were not generated', false);
  return addClusterOptions(command)
    .addOption(outputOption())
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder declarative manifests quotas.yaml --image registry.example/quotas:1.2.0':
          'deploy/, for kubectl apply -k deploy/config/default',
        'operator-builder declarative manifests operators/ --name shop --api-server --crds crds/':
          'several operators in one Deployment, with their views as a Service',
        'operator-builder declarative manifests quotas.yaml --check':
          'in CI: fail if a manifest is stale',
      }),
    )
    .action(async (paths: readonly string[], options: DeploymentOptions) => {
      // Imported on demand, since `--help` does not need it.
      const { writeDeployment } = await import('../declarative/write-deployment.js');
      await writeDeployment(paths, options, context);
    });
}
