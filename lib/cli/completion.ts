import type { Command, Option } from 'commander';
import { shellQuoted } from './object-texts.js';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

export function completionScript(shell: keyof typeof scripts, program: Command): string {
  return scripts[shell](program.name(), shapesOf(program));
}

/** The parts of a command that can be completed. */
interface CommandShape {
  /** The words of the command without the program's name; empty: the program itself. */
  readonly words: readonly string[];
  readonly commands: readonly Named[];
  readonly options: readonly OptionShape[];
  /** Values of its arguments. */
  readonly values: Values;
}

/** A word and its description. */
interface Named {
  readonly name: string;
  readonly description: string;
}

interface OptionShape {
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined if the option takes no value. */
  readonly values: Values | undefined;
}

/** The possible values of an argument or option. */
type Values =
  | { readonly type: 'files' | 'folders' | 'anything' }
  | { readonly type: 'choices'; readonly choices: readonly string[] };

/** Returns the shapes of a command and all its subcommands, the command first. */
function shapesOf(command: Command, words: readonly string[] = []): readonly CommandShape[] {
  const options = command
    .createHelp()
    .visibleOptions(command)
    .map((option) => optionShape(option));
  const own = {
    ...{ words, options, values: positional(command) },
    commands: command.commands.map((child) => ({
      name: child.name(),
      description: firstSentence(child.description()),
    })),
  };
  return [own, ...command.commands.flatMap((child) => shapesOf(child, [...words, child.name()]))];
}

function optionShape(option: Option): OptionShape {
  const { short, long, description, required, optional } = option;
  const names = [short, long].filter((name) => name !== undefined);
  const values = required || optional ? valuesOf(option.flags, option.argChoices) : undefined;
  return { names, description: firstSentence(description), values };
}

/** Returns the values of the command's argument, or of its variadic option if the command has no argument. */
function positional(command: Command): Values {
  const [argument] = command.registeredArguments;
  if (argument !== undefined) return valuesOf(`<${argument.name()}>`, argument.argChoices);
  const several = command.options.find(({ variadic }) => variadic);
  return several === undefined ? { type: 'anything' } : valuesOf(several.flags, several.argChoices);
}

/** Derives the values from the placeholder in the help text. */
function valuesOf(flags: string, choices: readonly string[] | undefined): Values {
  if (choices !== undefined) return { type: 'choices', choices };
  if (/[<[](?:file|path)(?:\.\.\.)?[>\]]/.test(flags)) return { type: 'files' };
  if (/[<[](?:directory|folder|dir)(?:\.\.\.)?[>\]]/.test(flags)) return { type: 'folders' };
  return { type: 'anything' };
}

/** Returns the first sentence: completion shows one line per word. */
function firstSentence(text: string): string {
  const [first = ''] = text.split(/(?<=\.)\s|\n/);
  return first.replace(/\.$/, '');
}

/** Returns a completion script for bash 3.2 (macOS) and later; it starts no process. */
function bashScript(program: string, shapes: readonly CommandShape[]): string {
  const name = `_${program.replaceAll('-', '_')}`;
  return `# Completion of ${program} for bash; for example in ~/.bashrc:
#   source <(${program} completion bash)
${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command='' index=1 IFS=$'\\n'
  COMPREPLY=()
  # --option=value is three words for bash.
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  while (( index < COMP_CWORD )); do
    case "$command \${COMP_WORDS[index]}" in
      ${commandPatterns(shapes)}) command="$command \${COMP_WORDS[index]}" ;;
      *) break ;;
    esac
    (( index++ ))
  done
  case "$command $previous" in
${valueCases(shapes, bashReply)}
  esac
  if [[ $current == -* ]]; then
    case "$command" in
${casesOf(shapes, bashOptions)}
    esac
    return
  fi
  case "$command" in
${casesOf(shapes, bashWords)}
  esac
}
complete -F ${name} ${program}
`;
}

function bashOptions({ options }: CommandShape): string {
  return bashReply({ type: 'choices', choices: options.flatMap(({ names }) => names) });
}

function bashWords({ commands, values }: CommandShape): string {
  const choices = commands.map(({ name }) => name);
  return bashReply(choices.length > 0 ? { type: 'choices', choices } : values);
}

function bashReply(values: Values): string {
  const filenames = 'compopt -o filenames 2>/dev/null;';
  switch (values.type) {
    case 'choices':
      // compgen splits at IFS, here at line endings.
      return `COMPREPLY=($(compgen -W $'${values.choices.join('\\n')}' -- "$current"))`;
    case 'files':
      return `${filenames} COMPREPLY=($(compgen -f -- "$current"))`;
    case 'folders':
      return `${filenames} COMPREPLY=($(compgen -d -- "$current"))`;
    case 'anything':
      return ':';
  }
}

/** Returns a completion script for zsh with descriptions. */
function zshScript(program: string, shapes: readonly CommandShape[]): string {
  const name = `_${program.replaceAll('-', '_')}`;
  return `#compdef ${program}
# Completion of ${program} for zsh: a file _${program} in a folder of $fpath, or in ~/.zshrc,
# after compinit:
#   source <(${program} completion zsh)
${name}() {
  local current="\${words[CURRENT]}" previous="\${words[CURRENT-1]}" command='' index=2
  local -a offered
  while (( index < CURRENT )); do
    case "$command \${words[index]}" in
      (${commandPatterns(shapes)}) command="$command \${words[index]}" ;;
      (*) break ;;
    esac
    (( index++ ))
  done
  case "$command $previous" in
${valueCases(shapes, zshReply)}
  esac
  if [[ $current == -* ]]; then
    case "$command" in
${casesOf(shapes, zshOptions)}
    esac
    return
  fi
  case "$command" in
${casesOf(shapes, zshWords)}
  esac
}
if [[ "\${funcstack[1]}" == ${name} ]]; then
  ${name} "$@"
else
  compdef ${name} ${program}
fi
`;
}

function zshOptions({ options }: CommandShape): string {
  const named = options.flatMap(({ names, description }) =>
    names.map((name) => ({ name, description })),
  );
  return zshDescribed(named, '-o option');
}

function zshWords({ commands, values }: CommandShape): string {
  return commands.length > 0 ? zshDescribed(commands, 'command') : zshReply(values);
}

function zshDescribed(named: readonly Named[], what: string): string {
  const list = named.map(({ name, description }) =>
    shellQuoted(`${name.replaceAll(':', '\\:')}:${description}`),
  );
  return `offered=(${list.join(' ')}); _describe ${what} offered`;
}

function zshReply(values: Values): string {
  switch (values.type) {
    case 'choices':
      return `compadd -- ${values.choices.map(shellQuoted).join(' ')}`;
    case 'files':
      return '_files';
    case 'folders':
      return '_files -/';
    case 'anything':
      return ':';
  }
}

/** Returns the patterns of all subcommands for `case` of bash and zsh. */
function commandPatterns(shapes: readonly CommandShape[]): string {
  return shapes
    .filter(({ words }) => words.length > 0)
    .map((shape) => shellQuoted(pathOf(shape)))
    .join('|');
}

function valueCases(shapes: readonly CommandShape[], replyOf: (values: Values) => string): string {
  const cases = shapes.flatMap((shape) =>
    shape.options.flatMap(({ names, values }) => {
      if (values === undefined) return [];
      const patterns = names.map((name) => shellQuoted(`${pathOf(shape)} ${name}`)).join('|');
      return [`    (${patterns}) ${replyOf(values)}; return ;;`];
    }),
  );
  return cases.join('\n');
}

/** Returns a branch of the shell's `case` statement for each command. */
function casesOf(
  shapes: readonly CommandShape[],
  replyOf: (shape: CommandShape) => string,
): string {
  return shapes
    .map((shape) => `    (${shellQuoted(pathOf(shape))}) ${replyOf(shape)} ;;`)
    .join('\n');
}

/** Returns a command's key in the scripts: its words, each after a space. */
function pathOf({ words }: CommandShape): string {
  return words.map((word) => ` ${word}`).join('');
}

/** Returns a completion script for fish with descriptions. */
function fishScript(program: string, shapes: readonly CommandShape[]): string {
  const name = `__${program.replaceAll('-', '_')}`;
  const lines = shapes.flatMap((shape) => fishLines(shape, program, name));
  return `# Completion of ${program} for fish:
#   ${program} completion fish > ~/.config/fish/completions/${program}.fish
# Succeeds if the command line begins with these words; with -e, if it has no others before the cursor.
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

/** @param name - prefix of the script's function names */
function fishLines(shape: CommandShape, program: string, name: string): readonly string[] {
  const { words, commands, options, values } = shape;
  const at = (flag: string): string =>
    `complete -c ${program} -n ${fishQuoted([`${name}_at`, flag, ...words].filter((part) => part !== '').join(' '))}`;
  // Options of a group do not apply to its subcommands.
  const own = at(commands.length > 0 ? '-e' : '');
  return [
    ...commands.map(
      (command) => `${own} -a ${fishQuoted(command.name)} -d ${fishQuoted(command.description)}`,
    ),
    ...(commands.length === 0 && values.type !== 'anything' ? [`${own}${fishValues(values)}`] : []),
    ...options.map((option) => `${own}${fishOption(option)} -d ${fishQuoted(option.description)}`),
  ];
}

function fishOption({ names, values }: OptionShape): string {
  const flags = names.map((name) =>
    name.startsWith('--') ? ` -l ${fishQuoted(name.slice(2))}` : ` -s ${fishQuoted(name.slice(1))}`,
  );
  return `${flags.join('')}${values === undefined ? '' : ` -r${fishValues(values)}`}`;
}

function fishValues(values: Values): string {
  switch (values.type) {
    case 'choices':
      return ` -f -a ${fishQuoted(values.choices.join(' '))}`;
    case 'files':
      return ' -F';
    case 'folders':
      return " -f -a '(__fish_complete_directories)'";
    case 'anything':
      return ' -f';
  }
}

/** In single quotes, fish reads a backslash as an escape only before a quote or backslash. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
