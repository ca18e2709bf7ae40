import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { packageVersion } from '../../client/client-options.js';
import { textIfExists } from './plan-files.js';
import type { PlannedFile, WantedFile } from './plan-files.js';
import { projectFileName } from './project-file.js';
import type { Project } from './project-file.js';

/** The template version of a project's file. */
export interface RecordedFile {
  /** Text from the templates: the common ancestor when newer templates are merged. */
  readonly text: string;
  /** Hash of the written text; differs from the template if the user's schema or sample was used. */
  readonly hash: string;
}

/** A record by file paths. */
export type ProjectRecord = ReadonlyMap<string, RecordedFile>;

const folderName = '.operator-builder/templates';
const ending = '.txt';

/** Files that `operator-builder manifests` generates; these and PROJECT are not recorded. */
const generated =
  /^config\/(?:crd\/bases\/|rbac\/(?:leader_election_)?role\.yaml$|webhook\/manifests\.yaml$|default\/conversion_in_)/;

/** Whether `operator-builder manifests` generates a file. */
export function isGeneratedPath(path: string): boolean {
  return generated.test(path);
}

/** Whether newer templates are merged into a file. */
export function isRecorded(path: string): boolean {
  return (
    path !== projectFileName && !isGeneratedPath(path) && !path.startsWith('.operator-builder/')
  );
}

/** Returns the hash of a text, regardless of its line ends. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
}

/** Reads the record of a project; unreadable files count as not recorded. */
export async function readRecord(folder: string): Promise<ProjectRecord> {
  const root = join(folder, folderName);
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const record = new Map<string, RecordedFile>();
  for (const file of files) {
    const recorded = parsed((await textIfExists(file)) ?? '');
    const path = file
      .slice(root.length + 1, -ending.length)
      .split(sep)
      .join('/');
    if (recorded !== undefined) record.set(path, recorded);
  }
  return record;
}

/** Input of an update of the record. */
export interface RecordUpdate {
  /** The present project. */
  readonly project: Project;
  /** All its files, rendered from this version's templates. */
  readonly rendered: ReadonlyMap<string, string>;
  /** Files that the command writes. */
  readonly written: readonly PlannedFile[];
}

/** Returns the files of a record that a command changes. */
export async function recordFiles(
  folder: string,
  { project, rendered, written }: RecordUpdate,
): Promise<readonly WantedFile[]> {
  const before = await readRecord(folder);
  // With newer templates, the ancestors of existing files stay.
  const isSameVersion = project.cliVersion === packageVersion;
  const planned = new Map(written.map((file) => [file.path, file]));
  const paths = [...rendered.keys()].filter(isRecorded);
  const changed = paths.flatMap((path): WantedFile[] => {
    const old = before.get(path);
    const fresh = rendered.get(path) ?? '';
    const text = isSameVersion ? fresh : (old?.text ?? fresh);
    const own = planned.get(path);
    const isOurs = own !== undefined && isWholly(own, old);
    const hash = isOurs ? hashOf(own.text) : (old?.hash ?? hashOf(text));
    if (old?.text === text && old.hash === hash) return [];
    return [{ type: 'edited', path: placeOf(path), text: printed({ text, hash }) }];
  });
  const gone = [...before.keys()].filter((path) => !rendered.has(path));
  return [...changed, ...gone.map((path) => ({ type: 'delete', path: placeOf(path) }) as const)];
}

/** Whether a file has no content of the user's. */
function isWholly({ action, before }: PlannedFile, old: RecordedFile | undefined): boolean {
  if (action === 'create' || action === 'overwrite') return true;
  return before !== undefined && hashOf(before) === old?.hash;
}

function placeOf(path: string): string {
  return `${folderName}/${path}${ending}`;
}

/** Compresses the text, so that searches in the project do not find every line twice. */
function printed({ text, hash }: RecordedFile): string {
  const lines =
    gzipSync(text, { level: 9 })
      .toString('base64')
      .match(/.{1,100}/g) ?? [];
  return [hash, ...lines, ''].join('\n');
}

function parsed(file: string): RecordedFile | undefined {
  const [hash = '', ...lines] = file.split('\n').map((line) => line.trim());
  try {
    return { hash, text: gunzipSync(Buffer.from(lines.join(''), 'base64')).toString() };
  } catch {
    // A damaged or conflicting record counts as absent.
    return undefined;
  }
}
