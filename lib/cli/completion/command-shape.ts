import type { Command, Option } from 'commander';

/** What of a command can be completed. */
export interface CommandShape {
  /** The words that lead to it, without the program's; none: the program. */
  readonly words: readonly string[];
  readonly commands: readonly Named[];
  readonly options: readonly OptionShape[];
  /** What stands in it without an option. */
  readonly values: Values;
}

/** A word, and what it means. */
export interface Named {
  readonly name: string;
  readonly description: string;
}

/** An option, by all its names. */
export interface OptionShape {
  readonly names: readonly string[];
  readonly description: string;
  /** undefined: it has none. */
  readonly values: Values | undefined;
}

/** What can be given somewhere. */
export type Values =
  | { readonly type: 'files' | 'folders' | 'anything' }
  | { readonly type: 'choices'; readonly choices: readonly string[] };

/** What there is in a program, itself first. */
export function shapesOf(program: Command): readonly CommandShape[] {
  return below(program, []);
}

function below(command: Command, words: readonly string[]): readonly CommandShape[] {
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
  return [own, ...command.commands.flatMap((child) => below(child, [...words, child.name()]))];
}

function optionShape(option: Option): OptionShape {
  const { short, long, description, required, optional } = option;
  const names = [short, long].filter((name) => name !== undefined);
  const values = required || optional ? valuesOf(option.flags, option.argChoices) : undefined;
  return { names, description: firstSentence(description), values };
}

/** Its arguments; else the rest of an option that takes several. */
function positional(command: Command): Values {
  const [argument] = command.registeredArguments;
  if (argument !== undefined) return valuesOf(`<${argument.name()}>`, argument.argChoices);
  const several = command.options.find(({ variadic }) => variadic);
  return several === undefined ? { type: 'anything' } : valuesOf(several.flags, several.argChoices);
}

/** By what the help calls it. */
function valuesOf(flags: string, choices: readonly string[] | undefined): Values {
  if (choices !== undefined) return { type: 'choices', choices };
  if (/[<[](?:file|path)(?:\.\.\.)?[>\]]/.test(flags)) return { type: 'files' };
  if (/[<[](?:directory|folder|dir)(?:\.\.\.)?[>\]]/.test(flags)) return { type: 'folders' };
  return { type: 'anything' };
}

/** There is a line for each. */
function firstSentence(text: string): string {
  const [first = ''] = text.split(/(?<=\.)\s|\n/);
  return first.replace(/\.$/, '');
}
