import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { asError, OperatorError } from '../system/index.js';
import { UsageError } from './command-context.js';
import type { CommandContext, Terminal } from './command-context.js';
import type { Output } from './options.js';
import {
  checkDomain,
  checkGroup,
  checkKind,
  checkProjectName,
  checkVersion,
} from './scaffold/names.js';
import { openProject } from './scaffold/project-file.js';
import type { ScaffoldOptions } from './scaffold/scaffold-command.js';

export function initQuestions(
  { directory }: ScaffoldOptions,
  { cwd }: CommandContext,
): readonly Question<'domain' | 'name'>[] {
  return [
    {
      name: 'domain',
      message: 'What is the domain of your API groups?',
      placeholder: 'example.com',
      required: true,
      check: checkDomain,
    },
    {
      name: 'name',
      message: 'What is the name of the operator?',
      initialValue: basename(resolve(cwd, directory)).toLowerCase(),
      required: false,
      check: checkProjectName,
    },
  ];
}

/** Returns the questions of `create api`. @throws as `openProject` does */
export async function apiQuestions(
  options: ScaffoldOptions,
  context: CommandContext,
): Promise<readonly Question<'group' | 'version' | 'kind'>[]> {
  const { project } = await openProject(options, context);
  const { domain, resources } = project;
  return [
    {
      name: 'group',
      message: `What is the API group of the kind, without .${domain}?`,
      placeholder: 'shop',
      initialValue: resources.at(-1)?.group,
      required: true,
      check: (group) => checkGroup(group, domain),
    },
    {
      name: 'version',
      message: 'What is the version of the kind?',
      initialValue: 'v1alpha1',
      required: true,
      check: checkVersion,
    },
    {
      name: 'kind',
      message: 'What is the name of the kind?',
      placeholder: 'CronTab',
      required: true,
      check: checkKind,
    },
  ];
}

function noneFits(
  resources: readonly Required<KindNames>[],
  { group, version, kind }: KindNames,
): UsageError {
  if (resources.length === 0) {
    return new UsageError(
      'the project has no kinds; create one with operator-builder create api first',
    );
  }
  const asked = Object.entries({ group, version, kind }).flatMap(([name, value]) =>
    value === undefined ? [] : `--${name} ${value}`,
  );
  const known = resources.map((one) => `${one.kind} ${one.version} of ${one.group}`);
  return new UsageError(
    `${asked.join(' ')}: the project has no such kind; want one of ${known.join(', ')}`,
  );
}

type KindNames = Readonly<Partial<Record<'group' | 'version' | 'kind', string | undefined>>>;

/**
 * Asks for a kind of the project if the options do not name one completely.
 * @throws UsageError no kind of the project fits the options
 * @throws as `askMissing` and `openProject` do
 */
export async function chooseKind(
  options: ScaffoldOptions & AskingOptions & KindNames,
  { command, context }: Asking,
): Promise<KindNames> {
  const names = ['group', 'version', 'kind'] as const;
  const needed = names.find((name) => options[name] === undefined);
  if (needed === undefined) return {};
  const terminal = terminalOf(options, context) ?? refuse(needed, command);
  const { project } = await openProject(options, context);
  const fitting = project.resources.filter((resource) =>
    names.every((name) => options[name] === undefined || options[name] === resource[name]),
  );
  if (fitting.length === 0) throw noneFits(project.resources, options);
  const { select } = await import('@clack/prompts');
  const choice = await select({
    message: 'Which kind gets the webhook?',
    options: fitting.map(({ kind, group, version }, value) => ({
      value,
      label: `${kind} ${version}`,
      hint: `${group}.${project.domain}`,
    })),
    ...terminal,
  });
  const { group, version, kind } = fitting[answered(choice)] ?? {};
  return { group, version, kind };
}

/** Options from the command line; required ones may be missing. */
export type Unasked<Options, Name extends keyof Options> = Omit<Options, Name> &
  Partial<Pick<Options, Name>>;

/** Options that allow or forbid questions. */
export interface AskingOptions {
  readonly input?: boolean | undefined;
  readonly output: Output;
}

/** A question for the value of an option. */
export interface Question<Name extends string> {
  readonly name: Name;
  readonly message: string;
  /** Shown while the input is empty. */
  readonly placeholder?: string | undefined;
  /** Initial input. */
  readonly initialValue?: string | undefined;
  /** Whether the command requires a value. */
  readonly required: boolean;
  /** @throws UsageError invalid value */
  readonly check: (value: string) => void;
}

/** The command that asks, and its terminal. */
export interface Asking {
  readonly command: Command;
  readonly context: CommandContext;
}

/**
 * Asks for missing options if the command is interactive: at a terminal, not in CI, without `--no-input` and
 * `--output json`. Asks for optional values only along with required ones.
 * @returns the answers; empty if no option is missing
 * @throws CommanderError a required option is missing, and the command is not interactive
 * @throws OperatorError `Aborted`: the user cancelled
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

/** Returns the terminal for questions; undefined if the command is not interactive. */
export function terminalOf(
  { input = true, output }: AskingOptions,
  { terminal, env }: CommandContext,
): Terminal | undefined {
  const isCI = !['', '0', 'false', undefined].includes(env['CI']);
  return input && output === 'text' && !isCI ? terminal : undefined;
}

/** Fails with the parser's own message for a missing option. */
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

/** @throws OperatorError `Aborted`: the user pressed Ctrl-C or Escape */
export function answered<T>(answer: T): Exclude<T, symbol> {
  if (typeof answer !== 'symbol') return answer as Exclude<T, symbol>;
  throw new OperatorError('Aborted', 'stopped: nothing was written');
}

/** Returns the problem without the option's name, since the question shows it. */
function problemOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return asError(error).message.replace(/^--[a-z-]+: /, '');
  }
}
