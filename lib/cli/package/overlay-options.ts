import { Command } from 'commander';

/** Returns a command that builds an overlay of a project. */
export function overlayCommand(name: string): Command {
  return new Command(name)
    .option('--project <directory>', 'where the operator is', '.')
    .option('--overlay <directory>', 'the kustomization to build, in the project', 'config/default')
    .option('--image <image>', "the manager's image (default: as config/manager says)");
}
