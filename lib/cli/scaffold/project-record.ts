import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { packageVersion } from '../../client/index.js';
import { asError, OperatorError } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { definitionsAt } from '../definition-sources.js';
import { exists, textsBelow } from '../files.js';
import { replayApi } from './create-api.js';
import { createWebhook } from './create-webhook.js';
import { initProject } from './init-project.js';
import { kebabCase } from './names.js';
import { planFiles, writeFiles } from './plan-files.js';
import type { PlannedFile, WantedFile } from './plan-files.js';
import { openProject, projectFileName } from './project-file.js';
import type { Project, ProjectResource } from './project-file.js';
import type { ScaffoldOptions } from './scaffold-command.js';

/** The record of a project's file, as the templates and the last command wrote it. */
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

/** Returns the hash of a text, regardless of its line endings. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
}

/** Reads the record of a project; unreadable files count as not recorded. */
export async function readRecord(folder: string): Promise<ProjectRecord> {
  const root = join(folder, folderName);
  const files = (await exists(root)) ? await textsBelow(root) : [];
  const record = new Map<string, RecordedFile>();
  for (const [path, text] of files) {
    const recorded = path.endsWith(ending) ? parsed(text) : undefined;
    if (recorded !== undefined) record.set(path.slice(0, -ending.length), recorded);
  }
  return record;
}

export interface RecordUpdate {
  readonly project: Project;
  /** All files of the project, rendered from this version's templates. */
  readonly rendered: ReadonlyMap<string, string>;
  /** Files that the command writes. */
  readonly written: readonly PlannedFile[];
}

/** Returns the changes of the record in `folder` that follow from the files that a command writes. */
export async function recordFiles(
  folder: string,
  { project, rendered, written }: RecordUpdate,
): Promise<readonly WantedFile[]> {
  const before = await readRecord(folder);
  // If the templates are newer than the project, the recorded texts of existing files stay: they are the
  // common ancestors for a later merge.
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

/**
 * Renders a project from this version's templates, as if its commands ran again, without the users' changes.
 * `manifests` generates the rest.
 * @param folder - the folder of the project, which has the definitions of foreign kinds
 * @returns the texts of the files, by path
 */
export async function renderProject(
  project: Project,
  folder: string,
  context: CommandContext,
): Promise<ReadonlyMap<string, string>> {
  const directory = await mkdtemp(join(tmpdir(), 'operator-builder-'));
  try {
    const quiet: CommandContext = {
      ...context,
      ...{ stdout: { write: () => true }, stderr: { write: () => true } },
      terminal: undefined,
    };
    const options = { directory, dryRun: false, force: false, output: 'json' } as const;
    const { name, domain, parts, testRunner } = project;
    await initProject({ ...options, name, domain, with: parts, testRunner }, quiet);
    for (const resource of project.resources) {
      await addKind(resource, folder, options, quiet);
    }
    for (const { webhooks, ...resource } of project.resources) {
      if (webhooks === undefined) continue;
      const none = { defaulting: false, validation: false, conversion: false };
      const asked = { ...none, ...(webhooks as Partial<typeof none>) };
      await createWebhook({ ...options, ...resource, ...asked }, quiet);
    }
    return await textsBelow(directory);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // The error names an option that the user has not given: PROJECT has the value.
    const what = `the templates can't be filled from ${join(folder, projectFileName)}; correct that file`;
    throw new OperatorError('InvalidConfig', `${what}: ${error.message}`, { cause: error });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Updates the record of a project after `upgrade-project` and `delete api`.
 * @param written - files that the command wrote
 */
export async function recordProject(
  written: readonly PlannedFile[],
  options: ScaffoldOptions,
  context: CommandContext,
): Promise<void> {
  if (options.dryRun) return;
  // The files are written by now: an interrupt must not leave them without their record.
  const { signal } = new AbortController();
  const settled: CommandContext = { ...context, stopSignal: () => signal };
  const { folder, project } = await openProject(options, settled);
  const rendered = await renderProject(project, folder, settled).catch((thrown: unknown) => {
    const { message } = asError(thrown);
    const what = 'the files were written, but the record for upgrade-project was not';
    const remedy = 'the next create command writes it, once this is corrected';
    const said = `${what} (${remedy}): ${message}`;
    throw new OperatorError('InvalidConfig', said, { cause: thrown });
  });
  const wanted = await recordFiles(folder, { project, rendered, written });
  const files = await planFiles(wanted, { folder, force: true });
  await writeFiles(folder, files, signal);
}

async function addKind(
  resource: ProjectResource,
  folder: string,
  options: ScaffoldOptions,
  context: CommandContext,
): Promise<void> {
  const { external = false, controller, scope } = resource;
  // A built-in kind without a controller has only webhooks, which are added separately.
  if (external && controller === undefined) return;
  const crdFile = external ? await testDefinitionOf(resource, folder, context) : undefined;
  const wanted = {
    ...{ resource: !external, controller: controller !== undefined },
    ...{ namespaced: scope === 'Namespaced', style: controller ?? 'builder', crdFile },
  } as const;
  await replayApi({ ...options, ...resource, ...wanted }, context);
}

/**
 * Returns the definition that the tests of a foreign kind install; undefined if it no longer has the version: users
 * replace it by the definition of a newer release.
 */
async function testDefinitionOf(
  { group, version, kind }: ProjectResource,
  folder: string,
  context: CommandContext,
): Promise<string | undefined> {
  const file = join(folder, 'test/crds', `${kebabCase(kind)}.json`);
  if (!(await exists(file))) return undefined;
  const definitions = await definitionsAt([file], context);
  const own = definitions.find(({ spec }) => spec.group === group && spec.names.kind === kind);
  return own?.spec.versions.some(({ name }) => name === version) === true ? file : undefined;
}
