import { join } from 'node:path';
import uniqWith from 'lodash/uniqWith.js';
import {
  allowed,
  conversionWebhook,
  mutatingWebhook,
  validatingWebhook,
} from '../../manager/index.js';
import type { AdmissionWebhookOptions, Webhook } from '../../manager/index.js';
import { deepEqual } from '../../object/index.js';
import type { CustomResourceDefinition } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { ownRolePath, rolePath } from '../manifests/role-file.js';
import { declaredRules, ownNamespace } from '../manifests/role-files.js';
import { webhookManifestFiles } from '../manifests/webhook-manifests.js';
import { builtInKind, isAdmission, laterName, valuesOf, webhookValues } from './api-values.js';
import type { WebhookSubject } from './api-values.js';
import { hasConversion } from './current-schema.js';
import {
  foreignResource,
  foreignTest,
  ofBuiltIn,
  testDefinition,
  typeFile,
} from './foreign-kind.js';
import { forTestRunner, initFiles } from './init-project.js';
import { insertionsOf } from './insertions.js';
import { kebabCase } from './names.js';
import { carryOut, textIfExists } from './plan-files.js';
import type { PlannedFile, WantedFile } from './plan-files.js';
import {
  isSameKind,
  openProject,
  projectChange,
  webhookWords,
  wholeGroup,
  withResource,
} from './project-file.js';
import type { Project, ProjectResource, ProjectWebhooks } from './project-file.js';
import { definedNow, sampleContent, withContentOfTest } from './sample-content.js';
import type { ScaffoldOptions } from './scaffold-command.js';
import { mergedRole, spokesOf } from './api-files.js';
import { readTemplate } from './template.js';
import type { TemplateFile } from './template.js';

export interface CreateWebhookOptions extends ScaffoldOptions {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly defaulting: boolean;
  readonly validation: boolean;
  readonly conversion: boolean;
}

/**
 * Adds webhooks for an existing version of a kind to a project.
 * @throws UsageError the webhooks are impossible or exist
 * @throws OperatorError `InvalidConfig`: not a project, or a file can't be changed
 */
export async function createWebhook(
  options: CreateWebhookOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const { folder, path, text, project } = await openProject(options, context);
  const subject = subjectOf(project, options);
  const asked = askedOf(subject, options);
  const { resource } = subject;
  const { force } = options;
  if (resource.external !== true) await refuseMissingSchemas(subject, folder);
  const crd = await crdNow(subject, folder);
  refuseMovedStorage(subject, asked, crd);
  const files = await webhookFiles({ ...subject, wanted: asked, folder, force, crd });
  const noted = withResource(
    text,
    { ...resource, webhooks: { ...resource.webhooks, ...asked } },
    path,
  );
  const wanted = [...files, projectChange(text, noted)];
  const next = ['npm test', 'npm run deploy'];
  return carryOut({ wanted: forTestRunner(wanted, project), next }, options, context);
}

/** @throws UsageError unknown version */
function subjectOf(
  project: Project,
  { group, version, kind }: CreateWebhookOptions,
): WebhookSubject {
  const versions = project.resources.filter((one) => isSameKind(one, { group, kind }));
  const [first, ...others] = versions;
  const resource = versions.find((one) => one.version === version);
  if (first !== undefined && resource !== undefined) return { project, resource, first, others };
  const builtIn = builtInKind({ group, version, kind })?.type;
  if (builtIn !== undefined) {
    const own = foreignResource({ group, version, kind }, builtIn);
    return { project, resource: own, first: own, others: [] };
  }
  const twin = project.resources.find((one) => one.kind === kind && one.group !== group);
  if (twin !== undefined) {
    throw new UsageError(
      `--group: the project has ${kind} in ${twin.group}, not in ${group}; pass --group ${twin.group}`,
    );
  }
  const command = `operator-builder create api --group ${group} --version ${version} --kind ${kind}`;
  const near = versions.length === 0 ? project.resources : versions;
  const known = near.map((one) => `${one.kind} ${one.version} of ${one.group}`).join(', ');
  const but = known === '' ? '' : `, but ${known}`;
  throw new UsageError(
    `the project has no ${kind} ${version} of ${group}${but}; create it first: ${command}`,
  );
}

/** @throws UsageError no webhook is requested, or it exists or is impossible */
function askedOf(
  { resource, first, others }: WebhookSubject,
  options: CreateWebhookOptions,
): ProjectWebhooks {
  const asked = webhookWords.filter((word) => options[word]);
  if (asked.length === 0) {
    const flags = webhookWords.map((word) => `--${word}`).join(', ');
    throw new UsageError(`no webhook requested; pass at least one of ${flags}`);
  }
  const { kind, version, webhooks } = resource;
  // All versions of a kind share one conversion.
  const conversion = [first, ...others].some((one) => one.webhooks?.conversion === true);
  const had: ProjectWebhooks = { ...webhooks, conversion };
  const twice = asked.filter((word) => had[word] === true);
  if (twice.length > 0 && !options.force) {
    const kept = twice.includes('conversion') ? ', except the functions that convert' : '';
    const remedy = `--force overwrites its code${kept}`;
    throw new UsageError(`${kind} ${version} already has ${twice.join(' and ')}; ${remedy}`);
  }
  if (options.conversion && resource.external === true) {
    throw new UsageError(
      `--conversion: not possible for kinds of other operators and of Kubernetes, such as ${kind}; leave it out`,
    );
  }
  if (options.conversion && others.length === 0) {
    const remedy = 'add another one with operator-builder create api first';
    throw new UsageError(`--conversion: ${kind} has only one version, ${version}; ${remedy}`);
  }
  return Object.fromEntries(asked.map((word) => [word, true]));
}

/** @throws OperatorError `InvalidConfig`: the code of the webhooks would import a file that does not exist */
async function refuseMissingSchemas(
  { resource, first }: WebhookSubject,
  folder: string,
): Promise<void> {
  for (const { version, kind } of [first, resource]) {
    const path = `src/api/${version}/${kebabCase(kind)}.ts`;
    if ((await textIfExists(join(folder, path))) !== undefined) continue;
    const remedy = 'restore it, or move it back while this command runs';
    const message = `${path} does not exist, but the webhooks import it; ${remedy}\nNothing was written.`;
    throw new OperatorError('InvalidConfig', message);
  }
}

/** Returns the current definition of the kind; undefined for a foreign one, or if the operator can't be loaded. */
async function crdNow(
  { project, resource, first }: WebhookSubject,
  folder: string,
): Promise<CustomResourceDefinition | undefined> {
  if (resource.external === true) return undefined;
  return definedNow(folder, { group: wholeGroup(project, first), kind: first.kind });
}

/**
 * The webhooks in the folder of the first version receive the stored version, which the user may have changed since.
 * @throws UsageError the requested webhooks would receive another version, or exist already there
 */
function refuseMovedStorage(
  { resource, first }: WebhookSubject,
  asked: ProjectWebhooks,
  crd: CustomResourceDefinition | undefined,
): void {
  const stored = crd?.spec.versions.find(({ storage }) => storage)?.name ?? first.version;
  if (stored === first.version || !isAdmission(asked)) return;
  const { kind, version } = resource;
  const path = `src/webhooks/${first.version}/${kebabCase(kind)}-webhook.ts`;
  const why = `${kind} is stored in ${stored}, so the webhooks in ${path} receive ${stored}`;
  if (version === first.version) {
    throw new UsageError(`--version ${version}: ${why}; pass --version ${stored}`);
  }
  const had = webhookWords.filter(
    (word) => asked[word] === true && first.webhooks?.[word] === true,
  );
  if (version !== stored || had.length === 0) return;
  const remedy = `change ${had.join(' and ')} there`;
  throw new UsageError(`--version ${version}: ${why} already; ${remedy}`);
}

/** Webhooks to add. */
export interface WebhookScaffold extends WebhookSubject {
  readonly wanted: ProjectWebhooks;
  /** Folder of the project, absolute. */
  readonly folder: string;
  readonly force: boolean;
  /** Present definition of the kind, if it is known. */
  readonly crd: CustomResourceDefinition | undefined;
}

const apiFile = /^src\/api\//;
const admissionFile = /^(?:src\/webhooks\/|test\/.*-webhook\.test\.ts$)/;
const conversionFile = /^test\/.*-conversion\.test\.ts$/;

/** Returns the files that webhooks add to a project. */
export async function webhookFiles(scaffold: WebhookScaffold): Promise<readonly WantedFile[]> {
  const { project, resource, wanted } = scaffold;
  const filled = async (webhooks: ProjectWebhooks): Promise<ReadonlyMap<string, string>> =>
    textsOf(await readTemplate('webhook', webhookValues(scaffold, webhooks)));
  const whole = await withSamples(scaffold, await filled({ ...resource.webhooks, ...wanted }));
  const templates: Templates = {
    init: textsOf(await initFiles(project)),
    bare: await filled({}),
    // Render each webhook alone, because a file may already have the additions of another webhook.
    single: await Promise.all(
      webhookWords.filter((word) => wanted[word]).map((word) => filled({ [word]: true })),
    ),
    whole,
  };
  const files: WantedFile[] = [];
  for (const path of whole.keys()) {
    if (isWanted(path, wanted)) files.push(...(await wantedOf(path, templates, scaffold)));
  }
  if (wanted.conversion === true) files.push(await conversionIn(scaffold));
  if (resource.external === true) files.push(...(await missingTypeFile(scaffold)));
  return [...files, ...(await webhookConfig(scaffold))];
}

/** Returns the file with the type of a built-in kind, which a controller may have added before. */
async function missingTypeFile({
  project,
  resource,
  folder,
}: WebhookScaffold): Promise<readonly WantedFile[]> {
  const files = await readTemplate('foreign', valuesOf(project, resource));
  const file = files.find(({ path }) => apiFile.test(path));
  if (file === undefined) return [];
  const isThere = (await textIfExists(join(folder, file.path))) !== undefined;
  return isThere ? [] : typeFile(file, resource, undefined);
}

/** Returns the conversion for the file of the stored version. A conversion of the user's stays, even with `--force`. */
async function conversionIn(scaffold: WebhookScaffold): Promise<WantedFile> {
  const wanted = await spokesOf(scaffold);
  const text = await textIfExists(join(scaffold.folder, wanted.path));
  if (text === undefined || !hasConversion(text)) return wanted;
  return { type: 'edited', path: wanted.path, text };
}

/** Uses the samples of the versions for the objects in tests. */
async function withSamples(
  { resource, first, folder, crd }: WebhookScaffold,
  texts: Texts,
): Promise<Texts> {
  if (resource.external === true) return foreignTexts(resource, folder, texts);
  const entries = [...texts].map(async ([path, text]) => {
    if (!path.startsWith('test/')) return [path, text] as const;
    const version = conversionFile.test(path) ? first : resource;
    const sample = await sampleContent(folder, version, crd);
    return [path, sample === undefined ? text : withContentOfTest(text, sample)] as const;
  });
  return new Map(await Promise.all(entries));
}

/** Returns the texts for a foreign kind, which has no sample. */
async function foreignTexts(
  resource: ProjectResource,
  folder: string,
  texts: Texts,
): Promise<Texts> {
  const definition = await testDefinition(folder, resource);
  const entries = [...texts].map(([path, text]) => {
    const whole = path.startsWith('test/') ? foreignTest(text, resource, definition) : text;
    return [path, ofBuiltIn(whole, resource)] as const;
  });
  return new Map(entries);
}

/** File contents by path. */
type Texts = ReadonlyMap<string, string>;

/** Renderings of a template for different webhooks. */
interface Templates {
  /** Files of a new project. */
  readonly init: Texts;
  /** Files with empty regions above the markers. */
  readonly bare: Texts;
  /** For each new webhook: the files with only this webhook. */
  readonly single: readonly Texts[];
  /** Files with all webhooks. */
  readonly whole: Texts;
}

function textsOf(files: readonly TemplateFile[]): Texts {
  return new Map(files.map(({ path, text }) => [path, text]));
}

function isWanted(path: string, wanted: ProjectWebhooks): boolean {
  if (admissionFile.test(path)) return isAdmission(wanted);
  if (conversionFile.test(path)) return wanted.conversion === true;
  return !apiFile.test(path);
}

async function wantedOf(
  path: string,
  { init, bare, single, whole }: Templates,
  { folder, force }: WebhookScaffold,
): Promise<readonly WantedFile[]> {
  const text = whole.get(path) ?? '';
  const insertionsTo = (before: string): readonly WantedFile[] => {
    const all = single.flatMap((texts) => insertionsOf(before, texts.get(path) ?? before));
    const insertions = uniqWith(all, deepEqual);
    return insertions.length === 0 ? [] : [{ type: 'insert', path, insertions }];
  };
  const before = init.get(path);
  if (before !== undefined) return insertionsTo(before);
  const isThere = (await textIfExists(join(folder, path))) !== undefined;
  if (!isThere || force || conversionFile.test(path)) return [{ type: 'whole', path, text }];
  // An earlier webhook has created the file, and the user may have changed it: insert only above its markers.
  return text.includes('+operator-builder:scaffold:') ? insertionsTo(bare.get(path) ?? '') : [];
}

/**
 * Predicts the files that `operator-builder manifests` generates with the webhooks, for a project that may
 * not be installed yet.
 */
export async function webhookConfig(scaffold: WebhookScaffold): Promise<readonly WantedFile[]> {
  const { folder, project } = scaffold;
  const operator = { name: project.name, webhooks: webhooksOf(scaffold), setup: () => undefined };
  const { everywhere, inNamespaces } = await declaredRules(operator);
  const { wanted } = await webhookManifestFiles(folder, operator, { keep: true });
  return [
    ...(await mergedRole(folder, rolePath, everywhere)),
    ...(await mergedRole(folder, ownRolePath, inNamespaces.get(ownNamespace) ?? [])),
    ...wanted,
  ];
}

/** Returns the webhooks as in the template's code. */
function webhooksOf(scaffold: WebhookScaffold): readonly Webhook[] {
  const { project, resource, wanted, others, first } = scaffold;
  const { kind, plural, version, scope } = resource;
  const group = wholeGroup(project, resource);
  const versions = [first, ...others].map((one) => one.version);
  const type = { group, version, kind, plural, namespaced: scope === 'Namespaced', versions };
  const later = laterName(scaffold);
  const optIn = { [`${project.name}.${project.domain}/webhooks`]: 'enabled' };
  const named = (letter: string): AdmissionWebhookOptions => ({
    ...(later !== '' && { name: `${letter}${kind.toLowerCase()}${later}.${group}` }),
    ...(resource.external === true && { namespaceSelector: { matchLabels: optIn } }),
  });
  const convertible = { group, kind, plural, versions, convert: <T>(object: T): T => object };
  return [
    ...(wanted.conversion === true ? [conversionWebhook(convertible)] : []),
    ...(wanted.defaulting === true ? [mutatingWebhook(type, () => allowed(), named('m'))] : []),
    ...(wanted.validation === true ? [validatingWebhook(type, () => allowed(), named('v'))] : []),
  ];
}
