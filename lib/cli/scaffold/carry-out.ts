import { resolve } from 'node:path';
import type { CommandContext } from '../command-context.js';
import { planFiles } from './plan-files.js';
import type { PlanOptions, PlannedFile, WantedFile } from './plan-files.js';
import { reportText } from './report.js';
import type { ScaffoldOptions } from './scaffold-command.js';
import { writeFiles } from './write-files.js';

/** The result of a scaffolding command. */
export interface Scaffold {
  readonly wanted: readonly WantedFile[];
  /** Command lines to suggest as next steps. */
  readonly next: readonly string[];
}

/** Options of {@link carryOut}. */
export interface CarryOutOptions extends ScaffoldOptions, Pick<PlanOptions, 'outside'> {}

/** Writes all files or none, prints a report and returns the files. */
export async function carryOut(
  { wanted, next }: Scaffold,
  { directory, dryRun, force, output, outside }: CarryOutOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const folder = resolve(context.cwd, directory);
  const files = await planFiles(wanted, { folder, force, outside });
  if (!dryRun) await writeFiles(folder, files, context.stopSignal());
  context.stdout.write(reportText({ folder, dryRun, files, next }, output));
  return files;
}
