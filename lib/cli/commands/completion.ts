import { Argument, Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { helpExamples } from '../options.js';

const shells = ['bash', 'zsh', 'fish'] as const;

/** `operator-builder completion`. */
export function completionCommand(context: CommandContext): Command {
  return new Command('completion')
    .description(
      'Writes what has a shell complete commands, options, their values and files. It is made from this ' +
        'version of the program; nothing is started to complete a word.',
    )
    .addArgument(new Argument('<shell>', 'which one').choices(shells))
    .addHelpText(
      'after',
      helpExamples({
        'source <(operator-builder completion bash)': 'in ~/.bashrc; with zsh in ~/.zshrc',
        'operator-builder completion fish > ~/.config/fish/completions/operator-builder.fish':
          'once',
      }),
    )
    .action(async (shell: (typeof shells)[number], _options: object, command: Command) => {
      // Loaded here: `--help` does not need it.
      const { completionScript } = await import('../completion.js');
      context.stdout.write(completionScript(shell, rootOf(command)));
    });
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}
