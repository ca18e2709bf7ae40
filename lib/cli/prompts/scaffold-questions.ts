import { basename, resolve } from 'node:path';
import type { CommandContext } from '../command-context.js';
import {
  checkDomain,
  checkGroup,
  checkKind,
  checkProjectName,
  checkVersion,
} from '../scaffold/names.js';
import { openProject } from '../scaffold/open-project.js';
import type { ScaffoldOptions } from '../scaffold/scaffold-command.js';
import { answered, refuse, terminalOf } from './ask-missing.js';
import type { Asking, AskingOptions, Question } from './ask-missing.js';

/** Returns the questions of `init`. */
export function initQuestions(
  { directory }: ScaffoldOptions,
  { cwd }: CommandContext,
): readonly Question<'domain' | 'name'>[] {
  return [
    {
      name: 'domain',
      message: 'Which domain do the groups of your kinds end with?',
      placeholder: 'example.com',
      required: true,
      check: checkDomain,
    },
    {
      name: 'name',
      message: 'What is the operator called?',
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
      message: `Which group is the kind of, without .${domain}?`,
      placeholder: 'shop',
      initialValue: resources.at(-1)?.group,
      required: true,
      check: (group) => checkGroup(group, domain),
    },
    {
      name: 'version',
      message: 'Which version of it?',
      initialValue: 'v1alpha1',
      required: true,
      check: checkVersion,
    },
    {
      name: 'kind',
      message: 'What is the kind called?',
      placeholder: 'CronTab',
      required: true,
      check: checkKind,
    },
  ];
}

type KindNames = Readonly<Partial<Record<'group' | 'version' | 'kind', string | undefined>>>;

/**
 * Asks for a kind of the project if the options do not name one completely.
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
  // The message lists the kinds and how to create one.
  if (fitting.length === 0) return refuse(needed, command);
  const { select } = await import('@clack/prompts');
  const choice = await select({
    message: 'For which kind?',
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
