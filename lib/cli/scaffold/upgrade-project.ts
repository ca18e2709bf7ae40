import { execFile } from 'node:child_process';
import { packageVersion } from '../../client/client-options.js';
import { OperatorError } from '../../system/operator-error.js';
import { exitCodes } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { carryOut } from './carry-out.js';
import { mergedFiles } from './merge-files.js';
import { openProject } from './open-project.js';
import type { PlannedFile } from './plan-files.js';
import { projectFileName, withCliVersion } from './project-file.js';
import { isRecorded, readRecord } from './project-record.js';
import { renderProject } from './render-project.js';
import type { ScaffoldOptions } from './scaffold-command.js';

/**
 * Merges this version's templates into a project of older ones. Conflicting changes both stay, between git's
 * conflict markers.
 * @throws OperatorError `InvalidConfig`: the project has no record of its templates, has uncommitted changes
 * (without `--force`), or git is missing
 */
export async function upgradeProject(
  options: ScaffoldOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const { folder, path, text, project } = await openProject(options, context);
  const record = await readRecord(folder);
  if (record.size === 0) {
    const remedy = 'take .operator-builder from your version control';
    const what = `${folder} has no record of the templates that it was made by`;
    throw new OperatorError('InvalidConfig', `${what}; ${remedy}`);
  }
  if (!options.force && !options.dryRun) await refuseUncommitted(folder);
  const from = new Map([...record].map(([file, { text: before }]) => [file, before]));
  const rendered = await renderProject(project, folder, context);
  // `manifests` generates the rest.
  const to = new Map([...rendered].filter(([file]) => isRecorded(file)));
  const { wanted, conflicts, left } = await mergedFiles(folder, {
    from,
    to,
    record,
    onConflict: 'mark',
  });
  const noted = withCliVersion(text, packageVersion, path);
  const files = [...wanted, { type: 'edited', path: projectFileName, text: noted } as const];
  const steps = [
    ...conflicts.map((file) => `edit ${file}  # it has conflicts`),
    ...left.map(
      (file) => `rm ${file}  # the templates have it no longer, and it has changes of yours`,
    ),
  ];
  const next = [...steps, 'npm install', 'npm run manifests', 'npm test'];
  const written = await carryOut({ wanted: files, next }, options, context);
  if (conflicts.length > 0) context.setExitCode(exitCodes.changes);
  return written;
}

/** @throws OperatorError `InvalidConfig`: uncommitted changes, so that a merge could not be undone */
async function refuseUncommitted(folder: string): Promise<void> {
  const status = await new Promise<string | undefined>((resolve) => {
    execFile('git', ['status', '--porcelain'], { cwd: folder }, (error, text) =>
      resolve(error === null ? text : undefined),
    );
  });
  if (status === '') return;
  const what = status === undefined ? 'is no git repository' : 'has changes that are not committed';
  const remedy = 'commit first, or give --force: a merge could not be undone';
  throw new OperatorError('InvalidConfig', `${folder} ${what}; ${remedy}`);
}
