import { commandPatterns } from './bash-script.js';
import type { CommandShape, Named, OptionShape, Values } from './command-shape.js';
import { pathOf, quoted } from './shell-text.js';

/** Returns a completion script for zsh with descriptions. */
export function zshScript(program: string, shapes: readonly CommandShape[]): string {
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
if [[ "\${funcstack[1]}" == ${name} ]]; then
  ${name} "$@"
else
  compdef ${name} ${program}
fi
`;
}

function valueCases(shape: CommandShape): readonly string[] {
  return shape.options.flatMap(({ names, values }: OptionShape) => {
    if (values === undefined) return [];
    const patterns = names.map((name) => quoted(`${pathOf(shape)} ${name}`)).join('|');
    return [`(${patterns}) ${reply(values)}; return ;;`];
  });
}

function optionCase(shape: CommandShape): string {
  const named = shape.options.flatMap(({ names, description }) =>
    names.map((name) => ({ name, description })),
  );
  return `(${quoted(pathOf(shape))}) ${described(named, '-o option')} ;;`;
}

function wordCase(shape: CommandShape): string {
  const { commands, values } = shape;
  const offered = commands.length > 0 ? described(commands, 'command') : reply(values);
  return `(${quoted(pathOf(shape))}) ${offered} ;;`;
}

function described(named: readonly Named[], what: string): string {
  const list = named.map(({ name, description }) =>
    quoted(`${name.replaceAll(':', '\\:')}:${description}`),
  );
  return `offered=(${list.join(' ')}); _describe ${what} offered`;
}

function reply(values: Values): string {
  switch (values.type) {
    case 'choices':
      return `compadd -- ${values.choices.map(quoted).join(' ')}`;
    case 'files':
      return '_files';
    case 'folders':
      return '_files -/';
    case 'anything':
      return ':';
  }
}

function indented(line: string): string {
  return `    ${line}`;
}
