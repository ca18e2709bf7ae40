import type { CommandShape, OptionShape, Values } from './command-shape.js';

/** Returns a completion script for fish with descriptions. */
export function fishScript(program: string, shapes: readonly CommandShape[]): string {
  const name = `__${program.replaceAll('-', '_')}`;
  const lines = shapes.flatMap((shape) => linesOf(shape, { program, name }));
  return `# Completion of ${program} for fish:
#   ${program} completion fish > ~/.config/fish/completions/${program}.fish
# Whether the command line begins with these words; with -e, and has no others before the cursor.
function ${name}_at
    argparse e -- $argv
    set -l words (commandline -opc)
    set -e words[1]
    test (count $words) -ge (count $argv); or return 1
    if set -q _flag_e
        test (count $words) -eq (count $argv); or return 1
    end
    set -l index 1
    for word in $argv
        test "$words[$index]" = "$word"; or return 1
        set index (math $index + 1)
    end
end
complete -c ${program} -f
${lines.join('\n')}
`;
}

interface Names {
  readonly program: string;
  /** Prefix of the script's function names. */
  readonly name: string;
}

function linesOf(shape: CommandShape, { program, name }: Names): readonly string[] {
  const { words, commands, options, values } = shape;
  const at = (flag: string): string =>
    `complete -c ${program} -n ${quoted([`${name}_at`, flag, ...words].filter((part) => part !== '').join(' '))}`;
  // Options of a group do not apply to its subcommands.
  const own = at(commands.length > 0 ? '-e' : '');
  return [
    ...commands.map(
      (command) => `${own} -a ${quoted(command.name)} -d ${quoted(command.description)}`,
    ),
    ...(commands.length === 0 && values.type !== 'anything' ? [`${own}${offered(values)}`] : []),
    ...options.map((option) => `${own}${optionFlags(option)} -d ${quoted(option.description)}`),
  ];
}

function optionFlags({ names, values }: OptionShape): string {
  const flags = names.map((name) =>
    name.startsWith('--') ? ` -l ${quoted(name.slice(2))}` : ` -s ${quoted(name.slice(1))}`,
  );
  return `${flags.join('')}${values === undefined ? '' : ` -r${offered(values)}`}`;
}

function offered(values: Values): string {
  switch (values.type) {
    case 'choices':
      return ` -f -a ${quoted(values.choices.join(' '))}`;
    case 'files':
      return ' -F';
    case 'folders':
      return " -f -a '(__fish_complete_directories)'";
    case 'anything':
      return ' -f';
  }
}

/** In single quotes, fish reads a backslash as an escape only before a quote or backslash. */
function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
