import { join } from 'node:path';
import { UsageError } from '../usage-error.js';
import { insertionsOf } from './insertions.js';
import { textIfExists } from './plan-files.js';
import type { WantedFile } from './plan-files.js';
import type { Project, ProjectResource } from './project-file.js';
import { readTemplate } from './template.js';
import type { TemplateFile, TemplateValues } from './template.js';

/** Optional parts of a project, by the names of their templates. */
export const projectParts = ['scorecard', 'olm'] as const;

/** An optional part of a project. */
export type ProjectPart = (typeof projectParts)[number];

type Named = Pick<Project, 'name' | 'domain'>;

/**
 * Returns the named parts without duplicates.
 * @throws UsageError unknown part
 */
export function partsOf(names: readonly string[]): readonly ProjectPart[] {
  const parts = names.map(partOf);
  return projectParts.filter((part) => parts.includes(part));
}

/** Returns the files of parts of a project. */
export async function partFiles(
  project: Named,
  parts: readonly ProjectPart[],
): Promise<readonly TemplateFile[]> {
  const values = valuesOf(project, new Set(parts));
  const files = await Promise.all(parts.map((part) => readTemplate(part, values)));
  return files.flat();
}

function partOf(name: string): ProjectPart {
  const part = projectParts.find((one) => one === name);
  if (part !== undefined) return part;
  throw new UsageError(`--with: want ${projectParts.join(', ')}, got ${JSON.stringify(name)}`);
}

function valuesOf(
  { name, domain }: Named,
  conditions: ReadonlySet<string>,
  resource?: ProjectResource,
): TemplateValues {
  const words = { 'operator-name': name, 'domain.example': domain };
  if (resource === undefined) return { words, conditions };
  const { group, version, kind, plural } = resource;
  const own = { KindName: kind, kindnames: plural, groupname: group, v99alpha99: version };
  return { words: { ...words, ...own }, conditions };
}

/** Returns a kind's insertions into the present parts of a project: the catalogue's entries. */
export async function partInsertions(
  project: Project,
  resource: ProjectResource,
  folder: string,
): Promise<readonly WantedFile[]> {
  const bare = await readTemplate('olm', valuesOf(project, new Set()));
  const more = await readTemplate('olm-api', valuesOf(project, new Set(), resource));
  const wanted: WantedFile[] = [];
  for (const { path, text } of more) {
    const before = bare.find((file) => file.path === path);
    if (before === undefined || (await textIfExists(join(folder, path))) === undefined) continue;
    wanted.push({ type: 'insert', path, insertions: insertionsOf(before.text, text) });
  }
  return wanted;
}
