import { Command } from 'commander';
import { helpExamples } from '../options.js';
import { UsageError } from '../command-context.js';

/** `operator-builder help`. @param program - the command whose subcommands it explains */
export function helpCommand(program: Command): Command {
  return new Command('help')
    .description('Explains a command, as its option --help does.')
    .argument('[command...]', 'the words of the command')
    .addHelpText(
      'after',
      helpExamples({
        'operator-builder help': 'all commands',
        'operator-builder help create api': 'one of them',
      }),
    )
    .action((words: readonly string[]) => commandOf(program, words).outputHelp());
}

/** @throws UsageError unknown command */
function commandOf(program: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const found = command.commands.find((child) => child.name() === word);
    if (found !== undefined) return found;
    const names = command.commands.map((child) => child.name()).join(', ');
    const remedy = names === '' ? 'it has no commands' : `there are ${names}`;
    throw new UsageError(`help: ${command.name()} has no command ${word}; ${remedy}`);
  }, program);
}
