import type { Output } from '../options/output-option.js';
import type { PlannedFile } from './plan-files.js';

/** Report of a scaffolding command. */
export interface ScaffoldReport {
  /** Folder of the project, absolute. */
  readonly folder: string;
  readonly dryRun: boolean;
  readonly files: readonly PlannedFile[];
  /** Command lines to suggest as next steps. */
  readonly next: readonly string[];
}

const verbs: Readonly<Record<PlannedFile['action'], readonly [done: string, planned: string]>> = {
  create: ['created', 'would create'],
  overwrite: ['overwrote', 'would overwrite'],
  change: ['changed', 'would change'],
  keep: ['kept', 'would keep'],
  delete: ['deleted', 'would delete'],
};

/** Returns the report as text or JSON. */
export function reportText(report: ScaffoldReport, output: Output): string {
  const { folder, dryRun, files, next } = report;
  if (output === 'json') {
    const said = files.map(({ path, action, note }) => ({ path, action, note }));
    return `${JSON.stringify({ folder, dryRun, files: said, next }, undefined, 2)}\n`;
  }
  const lines = files.flatMap((file) => {
    const [done, planned] = verbs[file.action];
    const note = file.note === undefined ? '' : ` (${file.note})`;
    const line = `${dryRun ? planned : done} ${file.path}${note}`;
    return dryRun && file.action === 'change' ? [line, ...addedLines(file)] : [line];
  });
  const then = dryRun ? ['Nothing was written.'] : ['', 'Next:', ...next.map((one) => `  ${one}`)];
  return `${[...lines, ...then].join('\n')}\n`;
}

/** Returns the lines that a file did not have before; removed lines are not shown. */
function addedLines({ before = '', text }: PlannedFile): readonly string[] {
  const known = new Set(before.split('\n'));
  return text
    .split('\n')
    .filter((line) => !known.has(line))
    .map((line) => `  + ${line}`);
}
