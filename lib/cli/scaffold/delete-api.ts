import type { CommandContext } from '../command-context.js';
import { UsageError } from '../usage-error.js';
import { carryOut } from './carry-out.js';
import { mergedFiles } from './merge-files.js';
import { openProject } from './open-project.js';
import type { PlannedFile } from './plan-files.js';
import { isSameKind, projectFileName, withoutKind } from './project-file.js';
import { readRecord } from './project-record.js';
import { renderProject } from './render-project.js';
import type { ScaffoldOptions } from './scaffold-command.js';

/** Options of `operator-builder delete api`. */
export interface DeleteApiOptions extends ScaffoldOptions {
  readonly group: string;
  readonly kind: string;
}

/**
 * Removes a kind with its versions, controllers and webhooks from a project. Files and lines that the user
 * has changed stay, and the report lists them.
 * @throws UsageError unknown kind
 * @throws OperatorError `InvalidConfig`: not a project, or git is missing
 */
export async function deleteApi(
  options: DeleteApiOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const { folder, path, text, project } = await openProject(options, context);
  const { group, kind } = options;
  if (!project.resources.some((one) => isSameKind(one, options))) {
    const known = project.resources.map((one) => `${one.kind} of ${one.group}`);
    const remedy =
      known.length === 0 ? 'it has no kinds' : `want one of ${[...new Set(known)].join(', ')}`;
    throw new UsageError(`--kind: the project has no ${kind} of ${group}; ${remedy}`);
  }
  const others = project.resources.filter((one) => !isSameKind(one, options));
  const from = await renderProject(project, folder, context);
  const to = await renderProject({ ...project, resources: others }, folder, context);
  const record = await readRecord(folder);
  const { wanted, conflicts, left } = await mergedFiles(folder, {
    from,
    to,
    record,
    onConflict: 'leave',
  });
  const noted = withoutKind(text, options, path);
  const files = [...wanted, { type: 'edited', path: projectFileName, text: noted } as const];
  const steps = [
    ...left.map((file) => `rm ${file}  # it has changes of yours`),
    ...conflicts.map((file) => `edit ${file}  # what it has of ${kind} is beside changes of yours`),
  ];
  const next = [...steps, 'npm run manifests', 'npm test'];
  return carryOut({ wanted: files, next }, options, context);
}
