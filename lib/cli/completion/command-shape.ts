import type { Command, Option } from 'commander';

/** The parts of a command that can be completed. */
export interface CommandShape {
  /** The words of the command without the program's name; empty: the program itself. */
  readonly words: readonly string[];
  readonly commands: readonly Named[];
  readonly options: readonly OptionShape[];
  /** Values of its arguments. */
  readonly values: Values;
}

/** A word and its description. */
export interface Named {
  readonly name: string;
  readonly description: string;
}

/** An option with all its names. */
export interface OptionShape {
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined: a flag. */
  readonly values: Values | undefined;
}

/** The possible values of an argument or option. */
export type Values =
  | { readonly type: 'files' | 'folders' | 'anything' }
  | { readonly type: 'choices'; readonly choices: readonly string[] };

/** Returns the shapes of a program and all its subcommands, the program first. */
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

/** Returns the values of the command's argument; without one, of a variadic option. */
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
