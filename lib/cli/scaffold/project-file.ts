import { dirname, join, relative, resolve } from 'node:path';
import { isMap, isSeq, parseDocument, visit } from 'yaml';
import type { Document, YAMLMap } from 'yaml';
import { checkYamlDepth } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { exists } from '../files.js';
import {
  checkDomain,
  checkGroupName,
  checkKindName,
  checkPlural,
  checkProjectName,
  checkVersion,
} from './names.js';
import { textIfExists } from './plan-files.js';
import type { WantedFile } from './plan-files.js';
import { styles, testRunners } from './scaffold-command.js';
import type { ScaffoldOptions, Style, TestRunner } from './scaffold-command.js';

/** Name of the file that describes a project. */
export const projectFileName = 'PROJECT';

const layout = 'operator-builder/v1';

/** A version of a kind in the project's file. */
export interface ProjectResource {
  /** Name without the domain. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /** Whether the kind is built in or another operator's. `group` is the full name then. */
  readonly external?: boolean | undefined;
  /** Style of the controller, at the first version of a kind; undefined: no controller. */
  readonly controller?: Style | undefined;
  /** Undefined if the version has no webhooks. */
  readonly webhooks?: ProjectWebhooks | undefined;
}

export interface ProjectWebhooks {
  readonly defaulting?: boolean | undefined;
  readonly validation?: boolean | undefined;
  /** Conversion between all versions of the kind. */
  readonly conversion?: boolean | undefined;
}

/** Words for webhooks in the file. */
export const webhookWords = ['defaulting', 'validation', 'conversion'] as const;

/** The content of a project's file. */
export interface Project {
  readonly name: string;
  readonly domain: string;
  /** Version of the templates that created or last upgraded the project. */
  readonly cliVersion?: string | undefined;
  /** Optional parts of the project. @defaultValue none */
  readonly parts?: readonly string[] | undefined;
  /** The test runner of the specs. @defaultValue 'node' */
  readonly testRunner?: TestRunner | undefined;
  readonly resources: readonly ProjectResource[];
}

/**
 * Parses a project's file.
 * @param path - the path of the file, for messages
 * @throws OperatorError `InvalidConfig`: invalid YAML, another layout, a missing field or an invalid name
 */
export function parseProject(text: string, path: string): Project {
  const content: unknown = documentOf(text, path).toJS();
  const {
    layout: found,
    name,
    domain,
    cliVersion,
    parts,
    testRunner,
    resources,
  } = recordOf(content);
  if (found !== layout) {
    fail(
      path,
      `want layout: ${layout}, got ${JSON.stringify(found)}; another tool may have written it`,
      'choose another folder, or move the file away',
    );
  }
  if (!Array.isArray(resources)) return fail(path, 'want a list of resources');
  const project = {
    name: textOf('name', name, path),
    domain: textOf('domain', domain, path),
    ...(cliVersion !== undefined && { cliVersion: textOf('cliVersion', cliVersion, path) }),
    ...(Array.isArray(parts) && { parts: parts.map((one) => textOf('parts', one, path)) }),
    ...(testRunner !== undefined && { testRunner: testRunnerOf(testRunner, path) }),
    resources: resources.map((one: unknown, index) =>
      resourceOf(recordOf(one), (field) => `resources[${index}].${field}`, path),
    ),
  };
  checkNames(project, path);
  refuseTwice(project.resources, path);
  return project;
}

/** Refuses a version that is listed twice, for example after a merge in git: `upgrade-project` could not render it. */
function refuseTwice(resources: readonly ProjectResource[], path: string): void {
  for (const [index, one] of resources.entries()) {
    const first = resources.findIndex((other) => isSameVersion(one, other));
    const what = `${one.kind} ${one.version} of ${one.group}`;
    if (first < index) fail(path, `resources[${index}]: ${what} is in resources[${first}], too`);
  }
}

/** Checks names that become paths, code and YAML: an invalid one could write outside the project. */
function checkNames({ name, domain, resources }: Project, path: string): void {
  try {
    checkProjectName(name, 'name');
    checkDomain(domain, 'domain');
    for (const [index, { group, version, kind, plural }] of resources.entries()) {
      checkGroupName(group, domain, `resources[${index}].group`);
      checkVersion(version, `resources[${index}].version`);
      checkKindName(kind, `resources[${index}].kind`);
      checkPlural(plural, `resources[${index}].plural`);
    }
  } catch (error) {
    if (error instanceof UsageError) fail(path, error.message);
    throw error;
  }
}

/** Adds or replaces a version of a kind in a project's file; a replaced entry keeps its webhooks. Keeps comments. */
export function withResource(text: string, resource: ProjectResource, path: string): string {
  const document = documentOf(text, path);
  const { resources } = parseProject(text, path);
  const found = resources.findIndex((one) => isSameVersion(one, resource));
  const list = document.get('resources');
  // An empty list is in flow style, with brackets.
  if (isSeq(list)) list.flow = false;
  const { controller, webhooks = resources[found]?.webhooks, ...rest } = resource;
  const entry = {
    ...{ ...rest, ...(controller !== undefined && { controller }) },
    ...(webhooks !== undefined && { webhooks: webhooksEntry(webhooks) }),
  };
  const place = ['resources', found < 0 ? resources.length : found];
  if (found < 0) document.setIn(place, document.createNode(entry));
  else setFields(document, place, entry);
  return document.toString({ lineWidth: 0 });
}

/** Gives the map at `place` exactly these fields, in this order. Fields that stay keep their comments. */
function setFields(document: Document, place: readonly unknown[], fields: object): void {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  for (const [name, value] of given as [string, unknown][]) {
    const at = [...place, name];
    if (typeof value !== 'object' || value === null) document.setIn(at, value);
    else if (isMap(document.getIn(at))) setFields(document, at, value);
    else document.setIn(at, document.createNode(value));
  }
  const map = document.getIn(place);
  if (!isMap(map)) return;
  const names = given.map(([name]) => name);
  const placeOf = (pair: { readonly key: unknown }): number => names.indexOf(String(pair.key));
  map.items = map.items.filter((pair) => placeOf(pair) >= 0);
  map.items.sort((one, other) => placeOf(one) - placeOf(other));
}

/** Removes a kind from a project's file. */
export function withoutKind(
  text: string,
  kind: Pick<ProjectResource, 'group' | 'kind'>,
  path: string,
): string {
  const document = documentOf(text, path);
  const { resources } = parseProject(text, path);
  for (const [index, one] of [...resources.entries()].toReversed()) {
    if (isSameKind(one, kind)) document.deleteIn(['resources', index]);
  }
  return document.toString({ lineWidth: 0 });
}

/** Sets the version of the program in a project's file. */
export function withCliVersion(text: string, version: string, path: string): string {
  const document = documentOf(text, path);
  document.set('cliVersion', version);
  return document.toString({ lineWidth: 0 });
}

/** Returns the full group of a kind; empty for the core group. */
export function wholeGroup(
  { domain }: Pick<Project, 'domain'>,
  { group, external }: Pick<ProjectResource, 'group' | 'external'>,
): string {
  if (external !== true) return `${group}.${domain}`;
  return group === 'core' ? '' : group;
}

/** Adds choices other than the default to a project's file. */
export function withChoices(
  text: string,
  { parts, testRunner }: { readonly parts: readonly string[]; readonly testRunner: TestRunner },
  path: string,
): string {
  if (parts.length === 0 && testRunner === 'node') return text;
  const document = documentOf(text, path);
  const choices = [
    ...(parts.length === 0 ? [] : [document.createPair('parts', parts)]),
    ...(testRunner === 'node' ? [] : [document.createPair('testRunner', testRunner)]),
  ];
  // Resources stay last, since the list grows.
  document.contents.items.splice(-1, 0, ...choices);
  return document.toString({ lineWidth: 0 });
}

/** Returns a project's file `text` with the kinds of `present`, and with the version of its templates. */
export function withKindsOf(present: string, text: string, path: string): string {
  const [document, from] = [documentOf(text, path), documentOf(present, path)];
  for (const field of ['cliVersion', 'resources']) {
    if (from.has(field)) document.set(field, from.get(field, true));
  }
  return document.toString({ lineWidth: 0 });
}

/** Whether two entries name the same version of a kind. */
function isSameVersion(one: ProjectResource, other: ProjectResource): boolean {
  return isSameKind(one, other) && one.version === other.version;
}

/** Whether two entries name the same kind. */
export function isSameKind(
  one: Pick<ProjectResource, 'group' | 'kind'>,
  other: Pick<ProjectResource, 'group' | 'kind'>,
): boolean {
  return one.group === other.group && one.kind === other.kind;
}

type MapDocument = Document & { readonly contents: YAMLMap };

function documentOf(text: string, path: string): MapDocument {
  const document = parseDocument(checkYamlDepth(text, path));
  const [problem] = document.errors;
  // Leave out the lines that the parser quotes, so that the remedy follows the problem directly.
  if (problem !== undefined) fail(path, problem.message.replace(/:\n[^]*$/, ''));
  // A change of a value that has an alias would change other entries too.
  visit(document, { Alias: () => fail(path, 'it has an alias, write its value instead') });
  return holdsMap(document) ? document : fail(path, 'it is empty');
}

function holdsMap(document: Document): document is MapDocument {
  return isMap(document.contents);
}

function resourceOf(
  entry: Readonly<Record<string, unknown>>,
  at: (field: string) => string,
  path: string,
): ProjectResource {
  const text = (field: string): string => textOf(at(field), entry[field], path);
  const { scope, controller, webhooks, external } = entry;
  if (scope !== 'Namespaced' && scope !== 'Cluster') {
    return fail(path, `${at('scope')}: want Namespaced or Cluster, got ${JSON.stringify(scope)}`);
  }
  if (external !== undefined && external !== true) {
    fail(
      path,
      `${at('external')}: want true, or leave the field out, got ${JSON.stringify(external)}`,
    );
  }
  const style = styles.find((one) => one === controller);
  if (controller !== undefined && style === undefined) {
    fail(path, `${at('controller')}: want ${styles.join(', ')}, got ${JSON.stringify(controller)}`);
  }
  return {
    group: text('group'),
    version: text('version'),
    kind: text('kind'),
    plural: text('plural'),
    scope,
    ...(external === true && { external }),
    controller: style,
    ...(webhooks !== undefined && { webhooks: webhooksOf(webhooks, at('webhooks'), path) }),
  };
}

function testRunnerOf(given: unknown, path: string): TestRunner {
  const found = testRunners.find((one) => one === given);
  if (found !== undefined) return found;
  return fail(path, `testRunner: want ${testRunners.join(' or ')}, got ${JSON.stringify(given)}`);
}

function webhooksEntry(webhooks: ProjectWebhooks): object {
  const words = webhookWords.filter((word) => webhooks[word] === true);
  return { ...Object.fromEntries(words.map((word) => [word, true])), webhookVersion: 'v1' };
}

function webhooksOf(given: unknown, field: string, path: string): ProjectWebhooks {
  const entry = recordOf(given);
  const webhooks = webhookWords.map((word) => {
    const { [word]: value = false } = entry;
    if (typeof value === 'boolean') return [word, value] as const;
    return fail(path, `${field}.${word}: want true or false, got ${JSON.stringify(value)}`);
  });
  return Object.fromEntries(webhooks.filter(([, isThere]) => isThere));
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function textOf(field: string, value: unknown, path: string): string {
  if (typeof value === 'string' && value !== '') return value;
  return fail(path, `${field}: want a string, got ${JSON.stringify(value)}`);
}

function fail(
  path: string,
  problem: string,
  remedy = 'correct it, or restore it from version control',
): never {
  throw new OperatorError('InvalidConfig', `${path} can't be used: ${problem} (${remedy})`);
}

/** A project with its parsed file. */
export interface OpenProject {
  /** Absolute path. */
  readonly folder: string;
  readonly path: string;
  readonly text: string;
  readonly project: Project;
}

/**
 * Reads the file of a project.
 * @throws OperatorError `InvalidConfig`: the file is missing or invalid
 */
export async function openProject(
  { directory }: Pick<ScaffoldOptions, 'directory'>,
  { cwd }: Pick<CommandContext, 'cwd'>,
): Promise<OpenProject> {
  const folder = resolve(cwd, directory);
  const path = join(folder, projectFileName);
  const text = await textIfExists(path);
  if (text !== undefined) return { folder, path, text, project: parseProject(text, path) };
  const around = await projectAround(folder);
  const remedy =
    around === undefined
      ? 'pass the folder of a project, or create one with operator-builder init'
      : `pass the folder of the project around it: -C ${relative(cwd, around) || '.'}`;
  throw new OperatorError('InvalidConfig', `${path} does not exist; ${remedy}`);
}

/** Returns the change of a project's file, which is refused if the file no longer has the text `from`. */
export function projectChange(from: string, text: string): WantedFile {
  return { type: 'edited', path: projectFileName, text, from };
}

/** Returns the nearest folder above with a project; undefined without one. */
async function projectAround(folder: string): Promise<string | undefined> {
  const above = dirname(folder);
  if (above === folder) return undefined;
  return (await exists(join(above, projectFileName))) ? above : projectAround(above);
}
