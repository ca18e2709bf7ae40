import type { CommandContext } from '../command-context.js';
import { UsageError } from '../command-context.js';
import { builtInKind } from './api-values.js';
import { apiFiles, versionFiles } from './api-files.js';
import { carryOut } from './plan-files.js';
import { foreignFiles, foreignKind } from './foreign-kind.js';
import type { ForeignOptions } from './foreign-kind.js';
import {
  checkGroup,
  checkKind,
  checkKindName,
  checkPlural,
  checkVersion,
  englishPlural,
  kebabCase,
} from './names.js';
import { openProject, isSameKind, projectChange, withResource } from './project-file.js';
import type { OpenProject, Project, ProjectResource } from './project-file.js';
import type { PlannedFile } from './plan-files.js';
import { partInsertions, forTestRunner } from './init-project.js';
import type { ScaffoldOptions, Style } from './scaffold-command.js';

export interface CreateApiOptions extends ScaffoldOptions, ForeignOptions {
  readonly resource: boolean;
  readonly controller: boolean;
  readonly style: Style;
  /** The properties of the kind that the user has named; others have default values. */
  readonly named?: readonly NamedProperty[] | undefined;
}

/** Options whose values can't change after the kind was created. */
export const namedProperties = ['plural', 'namespaced', 'style'] as const;

type NamedProperty = (typeof namedProperties)[number];

/**
 * Adds a kind, a version of a kind, or the controller of a kind to a project.
 * @throws UsageError invalid name or combination of options
 * @throws OperatorError `InvalidConfig`: not a project, or a file can't be changed
 */
export async function createApi(
  options: CreateApiOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const { project } = await openProject(options, context);
  refuseDefinition(options, project);
  if (isForeign(options, project)) refuseForeign(options, project);
  else checkNames(options, project);
  return replayApi(options, context);
}

/**
 * Does the same as {@link createApi}, without the checks that earlier versions of this program lacked: their
 * projects may contain what `createApi` refuses now.
 */
export async function replayApi(
  options: CreateApiOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const opened = await openProject(options, context);
  const { folder, path, text, project } = opened;
  if (isForeign(options, project)) return createForeignApi(opened, options, context);
  const added = addedTo(project, options);
  const { resource } = added;
  if (added.type === 'version') refuseOtherStyle(added.first, options);
  refuseOthers(resource, options);
  const files = await (added.type === 'version'
    ? versionFiles(project, added.first, { resource, folder })
    : apiFiles(project, resource, { parts: added, folder }));
  const noted = withResource(text, resource, path);
  const inParts = await partInsertions(project, resource, folder);
  const wanted = [...files, ...inParts, projectChange(text, noted)];
  const next = ['npm test', 'npx operator-builder run --embedded', 'npm run deploy'];
  return carryOut({ wanted: forTestRunner(wanted, project), next }, options, context);
}

function isForeign(options: CreateApiOptions, { resources }: Project): boolean {
  if (options.resource) return false;
  const own = resources.find((one) => isSameKind(one, options));
  return own === undefined || own.external === true;
}

/** @throws UsageError a definition is given, which only kinds of other operators need */
function refuseDefinition(options: CreateApiOptions, project: Project): void {
  const { crdFile, resource, kind } = options;
  if (crdFile === undefined) return;
  if (resource) {
    throw new UsageError('--crd-file: only for kinds of other operators; pass --no-resource, too');
  }
  if (isForeign(options, project) && builtInKind(options) === undefined) return;
  throw new UsageError(`--crd-file: ${kind} is not a kind of another operator; leave it out`);
}

/** Adds a controller of a kind that the project does not define. */
async function createForeignApi(
  { folder, path, text, project }: OpenProject,
  options: CreateApiOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const { resource, definition } = await foreignKind(options, context);
  refuseOthers(resource, options);
  refuseTwins(project.resources, resource);
  const controlled = { ...resource, controller: options.style };
  const noted = withResource(text, controlled, path);
  const wanted = [
    ...(await foreignFiles(project, { resource: controlled, definition }, folder)),
    projectChange(text, noted),
  ];
  const next = ['npm test', 'npm run deploy'];
  return carryOut({ wanted: forTestRunner(wanted, project), next }, options, context);
}

/** @throws UsageError such a controller is impossible or exists */
function refuseForeign(options: CreateApiOptions, { resources }: Project): void {
  const { version, kind, controller, style, force } = options;
  if (!controller) throw nothingToDo();
  checkVersion(version);
  checkKindName(kind);
  if (builtInKind(options) === undefined) checkKind(kind);
  // `builder` is the default of the option. A controller of a foreign kind always has the style `reconciles`.
  if (style !== 'builder' && style !== 'reconciles') {
    const remedy = 'pass --style reconciles, or leave it out';
    throw new UsageError(
      `--style ${style}: not possible for kinds of other operators and of Kubernetes, such as ${kind}; ${remedy}`,
    );
  }
  const own = resources.find((one) => isSameKind(one, options));
  if (own?.controller === undefined || force) return;
  throw new UsageError(`${kind} already has a controller; --force overwrites it`);
}

function nothingToDo(): UsageError {
  return new UsageError(
    '--no-resource and --no-controller: nothing to add; leave out one of the two',
  );
}

/** An addition to a project. */
type Added = { readonly resource: ProjectResource } & (
  | { readonly type: 'kind'; readonly withResource: boolean; readonly withController: boolean }
  /** A further version of a kind; its schema is in the file of the first. */
  | { readonly type: 'version'; readonly first: ProjectResource }
);

function checkNames({ group, version, kind, plural }: CreateApiOptions, project: Project): void {
  checkGroup(group, project.domain);
  checkVersion(version);
  checkKind(kind);
  if (plural !== undefined) checkPlural(plural);
}

function addedTo({ resources }: Project, options: CreateApiOptions): Added {
  const { group, version, kind, controller } = options;
  const first = resources.find((one) => isSameKind(one, { group, kind }));
  const { plural, scope, style } = propertiesOf(first, options);
  refuseTwins(resources, { group, kind, plural });
  if (resources.some((one) => one.external === true && isSameKind(one, options))) {
    throw new UsageError(
      `${kind} of ${group} is a kind of another operator or of Kubernetes; pass --no-resource`,
    );
  }
  if (!options.resource) return controllerOf(first, { ...options, style });
  const named = { group, version, kind };
  const own = controller ? style : first?.controller;
  if (first === undefined || (options.force && first.version === version)) {
    if (first !== undefined) refuseOtherVersions(resources, first);
    const resource = { ...named, plural, scope, controller: own } as const;
    return { type: 'kind', resource, withResource: true, withController: controller };
  }
  const isThere = resources.some((one) => isSameKind(one, named) && one.version === version);
  if (isThere && !options.force) {
    const remedy = 'pass another version, or --force to overwrite its files';
    throw new UsageError(`the project already has ${kind} ${version} of ${group}; ${remedy}`);
  }
  const { plural: samePlural, scope: sameScope } = first;
  return {
    type: 'version',
    first,
    resource: { ...named, plural: samePlural, scope: sameScope },
  };
}

/** Returns the options that the user passed. If the kind exists already, its other settings stay. */
function propertiesOf(
  first: ProjectResource | undefined,
  { kind, plural, namespaced, style, named = [] }: CreateApiOptions,
): Pick<ProjectResource, 'plural' | 'scope'> & { readonly style: Style } {
  const isNamed = (property: NamedProperty): boolean =>
    first === undefined || named.includes(property);
  const scope = namespaced ? 'Namespaced' : 'Cluster';
  return {
    plural: plural ?? first?.plural ?? englishPlural(kind.toLowerCase()),
    scope: isNamed('namespaced') ? scope : (first?.scope ?? scope),
    style: isNamed('style') ? style : (first?.controller ?? style),
  };
}

/** @throws UsageError the command would overwrite the file of the first version, which lists and converts the others */
function refuseOtherVersions(resources: readonly ProjectResource[], first: ProjectResource): void {
  const { group, version, kind } = first;
  const others = resources.filter((one) => isSameKind(one, first) && one !== first);
  if (others.length === 0) return;
  const names = others.map((one) => one.version).join(', ');
  const path = `src/api/${version}/${kebabCase(kind)}.ts`;
  const remedy = `change the files by hand, pass --no-resource for the controller alone, or remove the kind first: operator-builder delete api --group ${group} --kind ${kind}`;
  throw new UsageError(`--force: ${path} also has the versions ${names} of ${kind}; ${remedy}`);
}

/** @throws UsageError the options name another plural or scope than the kind has */
function refuseOthers(
  { kind, plural, scope }: ProjectResource,
  { named = [], ...options }: CreateApiOptions,
): void {
  if (named.includes('plural') && options.plural !== plural) {
    throw new UsageError(`--plural: ${kind} has the plural ${plural}; leave it out`);
  }
  if (named.includes('namespaced') && options.namespaced !== (scope === 'Namespaced')) {
    const option = options.namespaced ? '--namespaced' : '--no-namespaced';
    throw new UsageError(`${option}: ${kind} has the scope ${scope}; leave it out`);
  }
}

/** @throws UsageError the user wants a controller of another style for a further version */
function refuseOtherStyle(
  { kind, controller }: ProjectResource,
  { named = [], style }: CreateApiOptions,
): void {
  if (!named.includes('style') || controller === style) return;
  const problem =
    controller === undefined ? 'has no controller' : `has a controller of the style ${controller}`;
  throw new UsageError(`--style ${style}: ${kind} ${problem}; leave it out`);
}

/** With `--no-resource`: adds only the controller of an existing kind. */
function controllerOf(
  first: ProjectResource | undefined,
  { kind, group, version, controller, style, force }: CreateApiOptions,
): Added {
  if (!controller) throw nothingToDo();
  if (first?.version !== version) {
    const remedy = 'leave out --no-resource to create it';
    throw new UsageError(`the project has no ${kind} ${version} of ${group}; ${remedy}`);
  }
  if (first.controller !== undefined && !force) {
    const remedy = '--force overwrites it';
    throw new UsageError(`${kind} already has a controller; ${remedy}`);
  }
  if ((first.controller === 'lifecycle') !== (style === 'lifecycle')) {
    const remedy = 'leave out --no-resource, and pass --force';
    throw new UsageError(
      `--style ${style}: the schema of ${kind} has the status of another style; ${remedy}`,
    );
  }
  const resource = { ...first, controller: style };
  return { type: 'kind', resource, withResource: false, withController: true };
}

/** Rejects equal kinds, which name files, and equal plurals, which name objects in the cluster. */
function refuseTwins(
  resources: readonly ProjectResource[],
  { group, kind, plural }: Pick<ProjectResource, 'group' | 'kind' | 'plural'>,
): void {
  for (const one of resources.filter((other) => !isSameKind(other, { group, kind }))) {
    if (one.kind.toLowerCase() === kind.toLowerCase()) {
      const remedy = 'choose another name, because the names of files would be equal';
      throw new UsageError(`--kind: the project has a kind ${one.kind} in ${one.group}; ${remedy}`);
    }
    if (one.group === group && one.plural === plural) {
      throw new UsageError(
        `--plural: ${one.kind} already has the plural ${plural}; pass another one`,
      );
    }
  }
}
