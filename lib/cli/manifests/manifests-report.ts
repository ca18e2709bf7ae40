import type { Output } from '../options/output-option.js';
import type { PlannedFile } from '../scaffold/plan-files.js';
import { textDiff } from '../object-texts.js';

/** Report of `operator-builder manifests`. */
export interface ManifestsReport {
  /** The project's folder, absolute. */
  readonly folder: string;
  /** Whether the command only shows changes and writes nothing. */
  readonly dryRun: boolean;
  readonly files: readonly PlannedFile[];
  /** Further notes. */
  readonly notes: readonly string[];
}

const done: Readonly<Record<PlannedFile['action'], string>> = {
  create: 'created',
  overwrite: 'overwrote',
  change: 'changed',
  keep: 'kept',
  delete: 'deleted',
};

/** Returns the report as text or JSON. */
export function manifestsText(report: ManifestsReport, output: Output): string {
  const { folder, dryRun, files, notes } = report;
  if (output === 'json') {
    const said = files.map((file) => {
      const diff = dryRun && file.action !== 'keep' ? { diff: diffOf(file) } : {};
      return { path: file.path, action: file.action, ...diff };
    });
    return `${JSON.stringify({ folder, dryRun, files: said, notes }, undefined, 2)}\n`;
  }
  const changes = files.filter(({ action }) => action !== 'keep');
  const texts = dryRun
    ? changes.map(diffOf)
    : changes.map(({ path, action }) => `${done[action]} ${path}\n`);
  if (changes.length === 0) texts.push('The manifests are up to date.\n');
  return [...texts, ...notes.map((note) => `note: ${note}\n`)].join('');
}

function diffOf({ path, action, before, text }: PlannedFile): string {
  return textDiff(path, before, action === 'delete' ? undefined : text);
}
