import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import type { CommandContext } from '../command-context.js';
import { createApi } from './create-api.js';
import { createWebhook } from './create-webhook.js';
import { initProject } from './init-project.js';
import { kebabCase } from './names.js';
import { openProject } from './open-project.js';
import { planFiles } from './plan-files.js';
import type { PlannedFile } from './plan-files.js';
import type { Project, ProjectResource } from './project-file.js';
import { recordFiles } from './project-record.js';
import type { ScaffoldOptions } from './scaffold-command.js';
import { writeFiles } from './write-files.js';

/**
 * Renders a project from this version's templates, as if its commands ran again, without the users' changes.
 * `manifests` generates the rest.
 * @param folder - of the project, with the definitions of foreign kinds
 * @returns texts by paths
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
      await addKind(resource, { folder, options, context: quiet });
    }
    for (const { webhooks, ...resource } of project.resources) {
      if (webhooks === undefined) continue;
      const none = { defaulting: false, validation: false, conversion: false };
      const asked = { ...none, ...(webhooks as Partial<typeof none>) };
      await createWebhook({ ...options, ...resource, ...asked }, quiet);
    }
    return await textsBelow(directory);
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
  const { folder, project } = await openProject(options, context);
  const rendered = await renderProject(project, folder, context);
  const wanted = await recordFiles(folder, { project, rendered, written });
  const files = await planFiles(wanted, { folder, force: true });
  await writeFiles(folder, files, context.stopSignal());
}

interface Replay {
  readonly folder: string;
  readonly options: ScaffoldOptions;
  readonly context: CommandContext;
}

async function addKind(
  resource: ProjectResource,
  { folder, options, context }: Replay,
): Promise<void> {
  const { external = false, controller, scope, kind } = resource;
  // A built-in kind with webhooks only.
  if (external && controller === undefined) return;
  const names = await readdir(join(folder, 'test/crds')).catch((): string[] => []);
  const definition = `${kebabCase(kind)}.json`;
  const crdFile =
    external && names.includes(definition) ? join(folder, 'test/crds', definition) : undefined;
  const wanted = {
    ...{ resource: !external, controller: controller !== undefined },
    ...{ namespaced: scope === 'Namespaced', style: controller ?? 'builder', crdFile },
  } as const;
  await createApi({ ...options, ...resource, ...wanted }, context);
}

async function textsBelow(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const texts = paths.map(async (path) => {
    const below = path
      .slice(folder.length + 1)
      .split(sep)
      .join('/');
    return [below, await readFile(path, 'utf8')] as const;
  });
  return new Map(await Promise.all(texts));
}
