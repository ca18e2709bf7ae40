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

/** What `init` asks for. */
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

/** What `create api` asks for. @throws as `openProject` does */
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
 * Has one of the kinds of the project chosen, where they are not named in full.
 * @throws as `askMissing` does, and `openProject`
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
  // It says what there is, and how it is made.
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
