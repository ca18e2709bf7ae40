import { resolve } from 'node:path';
import { OperatorError } from '../../system/operator-error.js';
import type { CommandContext } from '../command-context.js';
import type { Output } from '../options/output-option.js';
import { loadOperator } from '../project/load-operator.js';
import { planFiles } from '../scaffold/plan-files.js';
import type { PlannedFile } from '../scaffold/plan-files.js';
import { writeFiles } from '../scaffold/write-files.js';
import { crdFiles } from './crd-files.js';
import { manifestsText } from './manifests-report.js';
import { roleFiles } from './role-files.js';
import { webhookManifestFiles } from './webhook-manifests.js';

/** Options of `operator-builder manifests`. */
export interface ManifestsOptions {
  /** A folder in the project. */
  readonly project: string;
  readonly check: boolean;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly output: Output;
}

/**
 * Regenerates the manifests of a project from its operator, all or none; or reports the changes.
 * @throws OperatorError `InvalidConfig`: the operator can't be loaded, or a file can't be changed; with
 * `check`: some files are stale
 */
export async function writeManifests(
  options: ManifestsOptions,
  context: CommandContext,
): Promise<void> {
  const { project, check, force, output } = options;
  const { root, operator } = await loadOperator(resolve(context.cwd, project));
  const parts = [
    await crdFiles(root, operator.resources ?? []),
    await roleFiles(root, operator),
    await webhookManifestFiles(root, operator, { keep: false }),
  ];
  const wanted = parts.flatMap((part) => part.wanted);
  const files = await planFiles(wanted, { folder: root, force });
  const dryRun = check || options.dryRun;
  if (!dryRun) await writeFiles(root, files, context.stopSignal());
  const notes = parts.flatMap((part) => part.notes);
  context.stdout.write(manifestsText({ folder: root, dryRun, files, notes }, output));
  if (check) refuseStale(files);
}

function refuseStale(files: readonly PlannedFile[]): void {
  const stale = files.filter(({ action }) => action !== 'keep').map(({ path }) => path);
  if (stale.length === 0) return;
  const remedy = 'run npx operator-builder manifests';
  throw new OperatorError('InvalidConfig', `stale manifests: ${stale.join(', ')}; ${remedy}`);
}
