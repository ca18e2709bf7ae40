import type { Command } from 'commander';
import { asError } from '../../system/as-error.js';
import { OperatorError } from '../../system/operator-error.js';
import type { CommandContext, Terminal } from '../command-context.js';
import type { Output } from '../options/output-option.js';

/** Options as the command line has them: some that are needed may be missing. */
export type Unasked<Options, Name extends keyof Options> = Omit<Options, Name> &
  Partial<Pick<Options, Name>>;

/** Whether a command may ask. */
export interface AskingOptions {
  readonly input?: boolean | undefined;
  readonly output: Output;
}

/** A question for the value of an option. */
export interface Question<Name extends string> {
  readonly name: Name;
  readonly message: string;
  /** Shown where nothing is entered yet. */
  readonly placeholder?: string | undefined;
  /** Entered already. */
  readonly initialValue?: string | undefined;
  /** Whether the command can't do without. */
  readonly required: boolean;
  /** @throws UsageError the value is none */
  readonly check: (value: string) => void;
}

/** Where something is asked. */
export interface Asking {
  readonly command: Command;
  readonly context: CommandContext;
}

/**
 * Asks for options that are missing, where somebody is there to answer: at a terminal, not in CI, nor
 * with `--no-input` or `--output json`. What can be left out is asked only along with what can't.
 * @returns the options that were asked for; empty: nothing is missing
 * @throws CommanderError one is missing, and nobody can be asked
 * @throws OperatorError `Aborted`: whoever was asked has had enough
 */
export async function askMissing<Name extends string>(
  options: AskingOptions & Readonly<Partial<Record<Name, unknown>>>,
  questions: readonly Question<Name>[],
  asking: Asking,
): Promise<Partial<Record<Name, string>>> {
  const missing = questions.filter(({ name }) => options[name] === undefined);
  const needed = missing.find(({ required }) => required);
  if (needed === undefined) return {};
  const terminal = terminalOf(options, asking.context) ?? refuse(needed.name, asking.command);
  const answers: Partial<Record<Name, string>> = {};
  for (const question of missing) answers[question.name] = await ask(question, terminal);
  return answers;
}

/** Where somebody can be asked; undefined: nowhere. */
export function terminalOf(
  { input = true, output }: AskingOptions,
  { terminal, env }: CommandContext,
): Terminal | undefined {
  const isCI = !['', '0', 'false', undefined].includes(env['CI']);
  return input && output === 'text' && !isCI ? terminal : undefined;
}

/** In the words that the parser has for it. */
export function refuse(name: string, command: Command): never {
  const option = command.options.find((one) => one.attributeName() === name);
  return command.error(`error: required option '${option?.flags ?? name}' not specified`, {
    code: 'commander.missingMandatoryOptionValue',
  });
}

async function ask<Name extends string>(
  { message, placeholder = '', initialValue = '', check }: Question<Name>,
  { input, output }: Terminal,
): Promise<string> {
  const { text } = await import('@clack/prompts');
  const validate = (value = ''): string | undefined => problemOf(() => check(value));
  const answer = await text({ message, placeholder, initialValue, validate, input, output });
  return answered(answer);
}

/** @throws OperatorError `Aborted`: it is none, for Ctrl-C or Escape was pressed */
export function answered<T>(answer: T): Exclude<T, symbol> {
  if (typeof answer !== 'symbol') return answer as Exclude<T, symbol>;
  throw new OperatorError('Aborted', 'stopped: nothing was written');
}

/** What is wrong, without the name of the option: the question says what it is about. */
function problemOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return asError(error).message.replace(/^--[a-z-]+: /, '');
  }
}
