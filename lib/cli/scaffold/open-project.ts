import { join, resolve } from 'node:path';
import { OperatorError } from '../../system/operator-error.js';
import type { CommandContext } from '../command-context.js';
import { textIfExists } from './plan-files.js';
import { parseProject, projectFileName } from './project-file.js';
import type { Project } from './project-file.js';
import type { ScaffoldOptions } from './scaffold-command.js';

/** A project with its parsed file. */
export interface OpenProject {
  /** Absolute path. */
  readonly folder: string;
  /** Path of the project's file. */
  readonly path: string;
  readonly text: string;
  readonly project: Project;
}

/**
 * Reads the file of a project.
 * @throws OperatorError `InvalidConfig`: the file is missing or invalid
 */
export async function openProject(
  { directory }: Pick<ScaffoldOptions, 'directory'>,
  { cwd }: Pick<CommandContext, 'cwd'>,
): Promise<OpenProject> {
  const folder = resolve(cwd, directory);
  const path = join(folder, projectFileName);
  const text = await textIfExists(path);
  if (text !== undefined) return { folder, path, text, project: parseProject(text, path) };
  const remedy = 'go to the folder of a project, or make one with operator-builder init';
  throw new OperatorError('InvalidConfig', `there is no file ${path}: ${remedy}`);
}
