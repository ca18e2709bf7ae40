import type { CommandShape, OptionShape, Values } from './command-shape.js';
import { pathOf, quoted } from './shell-text.js';

/** Returns a completion script for bash 3.2 (macOS) and later; it starts no process. */
export function bashScript(program: string, shapes: readonly CommandShape[]): string {
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
${shapes.flatMap(valueCases).map(indented).join('\n')}
  esac
  if [[ $current == -* ]]; then
    case "$command" in
${shapes.map(optionCase).map(indented).join('\n')}
    esac
    return
  fi
  case "$command" in
${shapes.map(wordCase).map(indented).join('\n')}
  esac
}
complete -F ${name} ${program}
`;
}

/** Returns the patterns of all subcommands for `case`. */
export function commandPatterns(shapes: readonly CommandShape[]): string {
  return shapes
    .filter(({ words }) => words.length > 0)
    .map((shape) => quoted(pathOf(shape)))
    .join('|');
}

function valueCases(shape: CommandShape): readonly string[] {
  return shape.options.flatMap(({ names, values }: OptionShape) => {
    if (values === undefined) return [];
    const patterns = names.map((name) => quoted(`${pathOf(shape)} ${name}`)).join('|');
    return [`${patterns}) ${reply(values)} return ;;`];
  });
}

function optionCase(shape: CommandShape): string {
  const names = shape.options.flatMap((option) => option.names);
  return `${quoted(pathOf(shape))}) ${reply({ type: 'choices', choices: names })} ;;`;
}

function wordCase(shape: CommandShape): string {
  const { commands, values } = shape;
  const choices = commands.map(({ name }) => name);
  const offered: Values = choices.length > 0 ? { type: 'choices', choices } : values;
  return `${quoted(pathOf(shape))}) ${reply(offered)} ;;`;
}

function reply(values: Values): string {
  const filenames = 'compopt -o filenames 2>/dev/null;';
  switch (values.type) {
    case 'choices':
      // compgen splits at IFS, here at line ends.
      return `COMPREPLY=($(compgen -W $'${values.choices.join('\\n')}' -- "$current"));`;
    case 'files':
      return `${filenames} COMPREPLY=($(compgen -f -- "$current"));`;
    case 'folders':
      return `${filenames} COMPREPLY=($(compgen -d -- "$current"));`;
    case 'anything':
      return ':;';
  }
}

function indented(line: string): string {
  return `    ${line}`;
}
