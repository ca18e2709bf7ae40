import { join } from 'node:path';
import { isMap, isSeq, parseDocument } from 'yaml';
import type { YAMLMap, YAMLSeq } from 'yaml';
import type { PolicyRule } from '../../apiserver/internal.js';
import type { Convertible } from '../../crd/index.js';
import type { CustomResourceDefinition, ResourceType } from '../../object/index.js';
import { checkYamlDepth } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { namespacedRolesPath, parseRoleFile, rolePath } from '../manifests/role-file.js';
import { widenedWebhooks } from '../manifests/webhook-manifests.js';
import { valuesOf, webhookValues } from './api-values.js';
import type { ApiParts, WebhookSubject } from './api-values.js';
import {
  withFieldsOfKind,
  definedNow,
  refuseOtherDomain,
  sampleContent,
  withContent,
} from './sample-content.js';
import { isStoredIn, withCurrentSchema } from './current-schema.js';
import { initFiles } from './init-project.js';
import { insertionsOf } from './insertions.js';
import type { Insertion } from './insertions.js';
import { textIfExists } from './plan-files.js';
import type { WantedFile } from './plan-files.js';
import { isSameKind, wholeGroup } from './project-file.js';
import type { Project, ProjectResource, ProjectWebhooks } from './project-file.js';
import { readTemplate } from './template.js';
import type { TemplateFile } from './template.js';

const crdFiles = /^config\/crd\/bases\//;
const controllerFiles = /^(?:src\/controllers|test)\//;
/** A project that an earlier version created may lack this file. */
const planRolePath = 'config/plan/plan_role.yaml';

/** Returns the files that a kind adds to a project. */
export async function apiFiles(
  project: Project,
  resource: ProjectResource,
  { parts, folder }: { readonly parts: ApiParts; readonly folder: string },
): Promise<readonly WantedFile[]> {
  const { withResource, withController } = parts;
  const template = await readTemplate('api', valuesOf(project, resource, parts));
  const crd = withResource ? undefined : await definedNow(folder, namesOf(project, resource));
  const files =
    crd === undefined ? template : await withFieldsOfKind(template, folder, { resource, crd });
  const bare = new Map((await initFiles(project)).map(({ path, text }) => [path, text]));
  const role = withController ? await controllerRole(folder, files) : [];
  const hasPlans = (await textIfExists(join(folder, planRolePath))) !== undefined;
  const others = files.flatMap((file): WantedFile[] => {
    const { path, text } = file;
    if (path === rolePath || (path === planRolePath && !hasPlans)) return [];
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

/** Predicts the role that `operator-builder manifests` generates, for a project that can't be loaded yet. */
export async function controllerRole(
  folder: string,
  files: readonly TemplateFile[],
): Promise<readonly WantedFile[]> {
  // Only the operator's code names the namespaces that it is limited to, and a cluster-wide role would grant too much.
  if ((await textIfExists(join(folder, namespacedRolesPath))) !== undefined) return [];
  const { text = '' } = files.find(({ path }) => path === rolePath) ?? {};
  const role = await mergedRole(folder, rolePath, parseRoleFile(text, rolePath).rules);
  // Write a deleted role file again, because the kustomization lists it.
  return role.length > 0 ? role : [{ type: 'default', path: rolePath, text }];
}

/** Returns the file of a role with further rules; if the user has deleted the file, it stays deleted. */
export async function mergedRole(
  folder: string,
  path: string,
  rules: readonly PolicyRule[],
): Promise<readonly WantedFile[]> {
  const text = await textIfExists(join(folder, path));
  if (text === undefined) return [];
  const role = parseRoleFile(text, path);
  return [{ type: 'edited', path, text: role.withRules([...role.rules, ...rules]) }];
}

/**
 * Returns the files that a further version of a kind adds to a project.
 * @throws OperatorError `InvalidConfig`: the project's sources define the kind with another domain
 */
export async function versionFiles(
  project: Project,
  first: ProjectResource,
  { resource, folder }: { readonly resource: ProjectResource; readonly folder: string },
): Promise<readonly WantedFile[]> {
  // The style of the controller determines the status, and only the first version has a controller.
  const values = valuesOf(project, { ...resource, controller: first.controller });
  const words = { ...values.words, v98alpha98: first.version };
  const pair = { project, first, spoke: resource };
  const known = project.resources.filter((one) => isSameKind(one, first));
  // If the version is created again, its conversion belongs to the user.
  const isConverted =
    known.some(({ webhooks }) => webhooks?.conversion === true) &&
    known.every(({ version }) => version !== resource.version);
  const bare = await bareFiles(project, first);
  const files = await readTemplate('version', { ...values, words });
  await refuseOtherDomain(folder, namesOf(project, first), first.group);
  const crd = await definedNow(folder, namesOf(project, first));
  const copied = { ...first, version: copiedVersion(crd, resource) ?? first.version };
  // A version that the project does not record is in the file of the first version.
  const home = known.some(({ version }) => version === copied.version) ? copied : first;
  const sample = await sampleContent(folder, copied, crd);
  const current = async (path: string, further: string): Promise<string> => {
    if (path.startsWith('config/samples/')) return sample ? withContent(further, sample) : further;
    const same = path.replace(`/${resource.version}/`, `/${home.version}/`);
    const own = await textIfExists(join(folder, same));
    const replaced = (await textIfExists(join(folder, path))) ?? '';
    const isStored = isStoredIn(replaced, resource.version);
    const versions = { copied: copied.version, version: resource.version, isStored };
    return own === undefined
      ? further
      : withCurrentSchema({ own, path: same, further, ...versions });
  };
  const wanted = files.map(async ({ path, text }): Promise<WantedFile> => {
    const before = bare.get(path);
    if (before === undefined) return { type: 'whole', path, text: await current(path, text) };
    if (!crdFiles.test(path)) {
      const isApi = path.startsWith(`src/api/${first.version}/`);
      const spokes = isApi && isConverted ? [await spokeInsertion(pair)] : [];
      return { type: 'insert', path, insertions: [...insertionsOf(before, text), ...spokes] };
    }
    const own = await textIfExists(join(folder, path));
    // Keep what the user has changed in the file. Insertions are not possible, because generated files have no markers.
    const edited = own === undefined ? text : withCrdVersion(own, path, resource.version);
    return { type: 'edited', path, text: edited };
  });
  return [
    ...(await Promise.all(wanted)),
    ...(await widenedWebhooks(folder, versionsOf(project, first))),
  ];
}

/** Returns the stored version; undefined if it is unknown, or the one that is created again. */
function copiedVersion(
  crd: CustomResourceDefinition | undefined,
  { version }: ProjectResource,
): string | undefined {
  return crd?.spec.versions.find(({ name, storage }) => storage && name !== version)?.name;
}

function namesOf(
  project: Project,
  resource: ProjectResource,
): Pick<ResourceType, 'group' | 'kind' | 'plural'> {
  const { kind, plural } = resource;
  return { group: wholeGroup(project, resource), kind, plural };
}

/** Returns the versions of a kind that a project has. */
function versionsOf(project: Project, first: ProjectResource): Omit<Convertible, 'convert'> {
  const versions = project.resources.filter((one) => isSameKind(one, first));
  return { ...namesOf(project, first), versions: versions.map(({ version }) => version) };
}

/** Returns the files of a project with the first version of a kind. */
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

const marker = '// +operator-builder:scaffold:spokes';

/** The stored version of a kind and another version. */
interface Pair {
  readonly project: Project;
  readonly first: ProjectResource;
  readonly spoke: ProjectResource;
}

/** Returns the conversion between all versions of a kind, in the file of the stored version. */
export async function spokesOf({ project, first, others }: WebhookSubject): Promise<WantedFile> {
  const [nearest = first, ...more] = others;
  const pair = { project, first, spoke: nearest };
  const { path, text } = await apiOf(pair, { conversion: true });
  const insertions = insertionsOf((await apiOf(pair, {})).text, text);
  const further: string[] = [];
  for (const spoke of more) {
    further.push(...(await spokeInsertion({ project, first, spoke })).lines);
  }
  const all = insertions.map((insertion): Insertion => {
    const place = insertion.lines.findIndex((line) => line.trim() === marker);
    return { ...insertion, lines: insertion.lines.toSpliced(place, 0, ...further) };
  });
  return { type: 'insert', path, insertions: all };
}

/** Returns the insertion for one more version of a kind that has a conversion. */
async function spokeInsertion(pair: Pair): Promise<Insertion> {
  const { text } = await apiOf(pair, { conversion: true });
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.trim() === 'spokes: {') + 1;
  const end = lines.findIndex((line) => line.trim() === marker);
  const [indentation = ''] = /^ */.exec(lines[end] ?? '') ?? [];
  return { marker, lines: lines.slice(start, end), indentation };
}

/** Returns the file of the stored version for a kind with two versions. */
async function apiOf(
  { project, first, spoke }: Pair,
  webhooks: ProjectWebhooks,
): Promise<TemplateFile> {
  const subject = { project, resource: first, first, others: [spoke] };
  const files = await readTemplate('webhook', webhookValues(subject, webhooks));
  const file = files.find(({ path }) => path.startsWith(`src/api/${first.version}/`));
  if (file === undefined) throw new OperatorError('InvalidConfig', 'the template has no versions');
  return file;
}

/**
 * Adds a further version with the schema of the stored one to a CustomResourceDefinition's text; unchanged if it
 * has the version. Keeps the rest.
 * @throws OperatorError `InvalidConfig`: not a definition, or without a stored version
 */
function withCrdVersion(text: string, path: string, version: string): string {
  const document = parseDocument(checkYamlDepth(text, 'CustomResourceDefinition'));
  const versions = crdVersionsOf(document.get('spec'), path);
  if (find(versions, 'name', version) !== undefined) return text;
  const added = find(versions, 'storage', true)?.clone() as YAMLMap | undefined;
  if (added === undefined) throw noVersions(path);
  added.set('name', version);
  added.set('storage', false);
  for (const field of ['deprecated', 'deprecationWarning']) added.delete(field);
  versions.add(added);
  return document.toString({ lineWidth: 0 });
}

function crdVersionsOf(spec: unknown, path: string): YAMLSeq {
  const versions = isMap(spec) ? spec.get('versions') : undefined;
  if (!isSeq(versions)) throw noVersions(path);
  return versions;
}

function find({ items }: YAMLSeq, field: string, value: unknown): YAMLMap | undefined {
  return items.filter((item) => isMap(item)).find((item) => item.get(field) === value);
}

function noVersions(path: string): OperatorError {
  const remedy = 'restore its versions, or delete the file and run the command again';
  return new OperatorError('InvalidConfig', `${path} has no stored version; ${remedy}`);
}
