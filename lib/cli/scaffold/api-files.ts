import { join } from 'node:path';
import { parseRoleFile } from '../manifests/role-file.js';
import { rolePath } from '../manifests/role-path.js';
import { withCrdVersion } from './crd-version.js';
import { initFiles } from './init-project.js';
import { insertionsOf } from './insertions.js';
import { camelCase, kebabCase } from './names.js';
import { textIfExists } from './plan-files.js';
import type { WantedFile } from './plan-files.js';
import type { Project, ProjectResource } from './project-file.js';
import { readTemplate } from './template.js';
import type { TemplateFile, TemplateValues } from './template.js';

/** Of what files are wanted. */
export interface ApiParts {
  /** The schema, the CRD, a sample, roles for people. */
  readonly withResource: boolean;
  /** The controller, its test, and what it may do. */
  readonly withController: boolean;
}

const crdFiles = /^config\/crd\/bases\//;
const controllerFiles = /^(?:src\/controllers|test)\//;

/** What a kind adds to a project. */
export async function apiFiles(
  project: Project,
  resource: ProjectResource,
  { parts, folder }: { readonly parts: ApiParts; readonly folder: string },
): Promise<readonly WantedFile[]> {
  const files = await readTemplate('api', valuesOf(project, resource, parts));
  const { withResource, withController } = parts;
  const bare = new Map((await initFiles(project)).map(({ path, text }) => [path, text]));
  const role = withController ? await mergedRole(folder, files) : [];
  const others = files.flatMap((file): WantedFile[] => {
    const { path, text } = file;
    if (path === rolePath) return [];
    const before = bare.get(path);
    if (before !== undefined) {
      const insertions = insertionsOf(before, text);
      return insertions.length === 0 ? [] : [{ type: 'insert', path, insertions }];
    }
    const isWanted = controllerFiles.test(path) ? withController : withResource;
    return isWanted ? [{ type: 'whole', path, text }] : [];
  });
  return [...others, ...role];
}

/** What `operator-builder manifests` will make of it, of a project that can't be loaded yet. */
async function mergedRole(
  folder: string,
  files: readonly TemplateFile[],
): Promise<readonly WantedFile[]> {
  const { text = '' } = files.find(({ path }) => path === rolePath) ?? {};
  const { rules } = parseRoleFile(text, rolePath);
  // It goes without one where the user has none.
  const own = (await textIfExists(join(folder, rolePath))) ?? text;
  const role = parseRoleFile(own, rolePath);
  return [{ type: 'edited', path: rolePath, text: role.withRules([...role.rules, ...rules]) }];
}

/** What a further version of a kind adds to a project. */
export async function versionFiles(
  project: Project,
  first: ProjectResource,
  { resource, folder }: { readonly resource: ProjectResource; readonly folder: string },
): Promise<readonly WantedFile[]> {
  // The status is of the style of the controller, which is with the first version.
  const values = valuesOf(project, { ...resource, controller: first.controller });
  const words = { ...values.words, v98alpha98: first.version };
  const bare = await bareFiles(project, first);
  const files = await readTemplate('version', { ...values, words });
  const wanted = files.map(async ({ path, text }): Promise<WantedFile> => {
    const before = bare.get(path);
    if (before === undefined) return { type: 'whole', path, text };
    if (!crdFiles.test(path))
      return { type: 'insert', path, insertions: insertionsOf(before, text) };
    const own = await textIfExists(join(folder, path));
    // The user's may have changed since; what is generated has no markers.
    const edited = own === undefined ? text : withCrdVersion(own, text, resource.version);
    return { type: 'edited', path, text: edited };
  });
  return Promise.all(wanted);
}

/** A project with the first version of a kind. */
async function bareFiles(
  project: Project,
  first: ProjectResource,
): Promise<ReadonlyMap<string, string>> {
  const files: readonly TemplateFile[] = [
    ...(await initFiles(project)),
    ...(await readTemplate('api', valuesOf(project, first))),
  ];
  return new Map(files.map(({ path, text }) => [path, text]));
}

/** What the templates of a version of a kind are filled in with. */
export function valuesOf(
  project: Project,
  resource: ProjectResource,
  parts: ApiParts = { withResource: true, withController: resource.controller !== undefined },
): TemplateValues {
  const { group, version, kind, plural, scope, controller } = resource;
  const style = controller ?? 'builder';
  const conditions = [
    scope === 'Cluster' ? 'cluster-scoped' : 'namespaced',
    ...(parts.withController ? ['controller', `controller-${style}`] : []),
    ...(parts.withResource ? ['resource'] : []),
  ];
  return {
    words: {
      ...{ 'operator-name': project.name, 'domain.example': project.domain, groupname: group },
      ...{ KindName: kind, kindName: camelCase(kind), 'kind-name': kebabCase(kind) },
      ...{ kindname: kind.toLowerCase(), kindnames: plural, v99alpha99: version },
      ...{ V99alpha99: version.charAt(0).toUpperCase() + version.slice(1), Namespaced: scope },
    },
    conditions: new Set(conditions),
    style,
  };
}
