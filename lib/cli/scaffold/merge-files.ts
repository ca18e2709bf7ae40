import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../system/operator-error.js';
import { textIfExists } from './plan-files.js';
import type { WantedFile } from './plan-files.js';
import { hashOf, isGeneratedPath, isRecorded } from './project-record.js';
import type { ProjectRecord } from './project-record.js';

/** Two renderings of a project, whose difference is merged into its files. */
export interface Merge {
  readonly from: ReadonlyMap<string, string>;
  readonly to: ReadonlyMap<string, string>;
  /** Record of the project, to recognize unchanged files. */
  readonly record: ProjectRecord;
  /** Handling of lines that both the user and the templates changed. */
  readonly onConflict: 'mark' | 'leave';
}

/** The files of a merge. */
export interface MergedFiles {
  readonly wanted: readonly WantedFile[];
  /** Paths of files with conflicting changes. */
  readonly conflicts: readonly string[];
  /** Paths of obsolete files that stay because the user changed them. */
  readonly left: readonly string[];
}

/**
 * Merges the difference of two renderings into the files of a project.
 * @throws OperatorError `InvalidConfig`: git is missing
 */
export async function mergedFiles(folder: string, merge: Merge): Promise<MergedFiles> {
  const { from, to } = merge;
  const wanted: WantedFile[] = [];
  const conflicts: string[] = [];
  const left: string[] = [];
  for (const path of new Set([...from.keys(), ...to.keys()])) {
    const [base, theirs] = [from.get(path), to.get(path)];
    if (base === theirs) continue;
    const ours = await textIfExists(join(folder, path));
    if (theirs === undefined) {
      if (ours === undefined) continue;
      if (isUnchanged(path, ours, merge)) wanted.push({ type: 'delete', path });
      else left.push(path);
    } else if (isRecorded(path)) {
      const merged = await mergedText({ ours, base, theirs });
      if (merged === undefined) continue;
      if (merged.isClean || merge.onConflict === 'mark') {
        wanted.push({ type: 'edited', path, text: merged.text });
      }
      if (!merged.isClean) conflicts.push(path);
    }
  }
  return { wanted, conflicts, left };
}

function isUnchanged(path: string, ours: string, { from, record }: Merge): boolean {
  if (isGeneratedPath(path)) return true;
  const hash = hashOf(ours);
  return hash === record.get(path)?.hash || hash === hashOf(from.get(path) ?? '');
}

interface Sides {
  /** The project's text; undefined if the file does not exist. */
  readonly ours: string | undefined;
  readonly base: string | undefined;
  readonly theirs: string;
}

interface Merged {
  readonly text: string;
  readonly isClean: boolean;
}

/** Undefined: the file stays unchanged, as the user deleted it or it has the change. */
async function mergedText({ ours, base, theirs }: Sides): Promise<Merged | undefined> {
  if (ours === undefined) return base === undefined ? { text: theirs, isClean: true } : undefined;
  const isWindows = ours.includes('\r\n');
  const own = ours.replaceAll('\r\n', '\n');
  if (own === theirs) return undefined;
  const merged =
    own === base ? { text: theirs, isClean: true } : await gitMerge([own, base ?? '', theirs]);
  return isWindows ? { ...merged, text: merged.text.replaceAll('\n', '\r\n') } : merged;
}

/** @throws OperatorError `InvalidConfig`: git is missing, or fails */
async function gitMerge(
  texts: readonly [ours: string, base: string, theirs: string],
): Promise<Merged> {
  const folder = await mkdtemp(join(tmpdir(), 'operator-builder-merge-'));
  try {
    const names = ['yours', 'before', 'templates'] as const;
    for (const [index, name] of names.entries()) {
      await writeFile(join(folder, name), texts[index] ?? '');
    }
    const labels = names.flatMap((name) => ['-L', name]);
    return await new Promise<Merged>((resolve, reject) => {
      const args = ['merge-file', '-p', '-q', ...labels, ...names];
      execFile('git', args, { cwd: folder, maxBuffer: 64_000_000 }, (error, text) => {
        const code = error === null ? 0 : error.code;
        // The number of conflicts, at most 127; failures are above.
        if (typeof code === 'number' && code <= 127) resolve({ text, isClean: code === 0 });
        else reject(noGit(error));
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function noGit(cause: unknown): OperatorError {
  const remedy = 'install git, whose merge-file merges templates into your files';
  return new OperatorError('InvalidConfig', `git merge-file failed; ${remedy}`, { cause });
}
