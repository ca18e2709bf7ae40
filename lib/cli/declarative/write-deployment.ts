import { basename, join, resolve } from 'node:path';
import { packageVersion } from '../../client/index.js';
import { operatorAccess } from '../../declarative/internal.js';
import { eventAccess } from '../../manager/index.js';
import type { OperatorDefinition } from '../../manager/index.js';
import { isJsonObject, parseYamlValues } from '../../object/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { definitionsAt } from '../definition-sources.js';
import { objectsAt, textsOf } from '../json-values.js';
import { shellQuoted } from '../object-texts.js';
import { generatedFile, isGenerated } from '../manifests/generated-file.js';
import type { WantedManifests } from '../manifests/generated-file.js';
import { namespacesFolder } from '../manifests/role-file.js';
import { roleFiles } from '../manifests/role-files.js';
import { generate } from '../manifests/write-manifests.js';
import type { GeneratingOptions } from '../manifests/write-manifests.js';
import type { ClusterOptions } from '../options.js';
import { initFiles } from '../scaffold/init-project.js';
import { checkProjectName } from '../scaffold/names.js';
import { parseProject, projectFileName } from '../scaffold/project-file.js';
import { textIfExists } from '../scaffold/plan-files.js';
import type { PlannedFile, WantedFile } from '../scaffold/plan-files.js';
import { readTemplate } from '../scaffold/template.js';
import type { TemplateFile } from '../scaffold/template.js';
import { managerImage, withManagerImage } from './deployment-image.js';
import { knownKinds } from './known-kinds.js';
import { operatorsOfTexts, operatorTexts, refuseOddNames } from './operator-files.js';
import type { FileOperator, OperatorText } from './operator-files.js';

const command = 'declarative manifests';

/** Options of `operator-builder declarative manifests`. */
export interface DeploymentOptions extends ClusterOptions, GeneratingOptions {
  readonly directory: string;
  /** The name of the deployment. @defaultValue the name in PROJECT; at the first run, the name of the only operator */
  readonly name?: string | undefined;
  /**
   * The image of the container.
   * @defaultValue the image in the existing files; at the first run, `registry.example/<name>:0.1.0`
   */
  readonly image?: string | undefined;
  /**
   * Namespaces that the operators are limited to; `*`: all.
   * @defaultValue the namespaces in the existing files; at the first run, all
   */
  readonly namespaces?: readonly string[] | undefined;
  /** Whether to serve the views over HTTPS. */
  readonly apiServer: boolean;
  /** Sources of CustomResourceDefinitions. @defaultValue none */
  readonly crds?: readonly string[] | undefined;
  readonly cluster: boolean;
}

/**
 * Writes the manifests that run declarative operators in a cluster: those of `init`, with the operators in a
 * ConfigMap and a role of least privilege. Existing files of the user stay.
 * @throws UsageError invalid options
 * @throws OperatorError `InvalidSpec`: an operator is invalid; `UnknownKind`: a kind without a definition;
 * `InvalidConfig`: a file can't be read or changed; with `check`: some files are stale
 */
export async function writeDeployment(
  paths: readonly string[],
  options: DeploymentOptions,
  context: CommandContext,
): Promise<void> {
  const folder = resolve(context.cwd, options.directory);
  const texts = (await operatorTexts(paths, context)).map(({ file, text }) => {
    // An operator without a name takes the name of its file, so the standard input needs a file name.
    return { file: file === '-' ? 'operator.yaml' : file, text };
  });
  const operators = operatorsOfTexts(texts);
  refuseOddNames(operators);
  const name = await nameOf(operators, folder, options);
  const access = await operatorAccess(operators, knownKinds(await definitions(options, context)));
  const former = await formerOperators(folder);
  const namespaces = namespacesFor(options, former);
  const roles = await roleFiles(folder, definitionOf(name, access, namespaces), command);
  const fixed = await fixedFiles(folder, name, options);
  const own = await operatorFiles(folder, texts, { namespaces, former });
  const wanted = [...fixed.wanted, ...own, ...roles.wanted];
  const notes = [...roles.notes, ...fixed.notes];
  const generated = { folder, wanted, notes, command: `operator-builder ${command}` };
  const files = await generate(generated, options, context);
  const { check, dryRun, output } = options;
  if (check || dryRun || output === 'json') return;
  context.stdout.write(nextSteps(name, files, options));
}

/**
 * Returns the name of the deployment: the name that an earlier run has recorded in the directory, else the given one.
 */
async function nameOf(
  operators: readonly FileOperator[],
  folder: string,
  { directory, name }: DeploymentOptions,
): Promise<string> {
  if (name !== undefined) checkProjectName(name);
  const path = join(folder, projectFileName);
  const text = await textIfExists(path);
  if (text !== undefined) {
    const { name: present } = parseProject(text, path);
    if (name === undefined || name === present) return present;
    const remedy = `pass --name ${present} or no name, or another --directory`;
    throw new UsageError(`--name: ${directory} already deploys ${present}; ${remedy}`);
  }
  if (name !== undefined) return name;
  const [only, ...others] = operators;
  if (only === undefined || others.length > 0) {
    throw new UsageError('--name: missing; with several operators, pass a name for the deployment');
  }
  checkProjectName(only.name, 'give --name, because the name of the operator is invalid');
  return only.name;
}

async function definitions(
  { crds = [], cluster, kubeconfig, context: named }: DeploymentOptions,
  context: CommandContext,
) {
  if (crds.length === 0 && !cluster) return [];
  return definitionsAt(crds, context, cluster ? { kubeconfig, context: named } : undefined);
}

/** Returns an operator that never runs: its declared access becomes the roles. */
function definitionOf(
  name: string,
  access: Awaited<ReturnType<typeof operatorAccess>>,
  namespaces: readonly string[] | undefined,
): OperatorDefinition {
  return {
    name,
    ...(namespaces !== undefined && { cacheOptions: { namespaces } }),
    setup: (manager) => {
      const requires = [...access, ...eventAccess];
      manager.add({ name: 'operators', run: () => Promise.resolve() }, { requires });
    },
  };
}

/** The files of a project of `init` that do not depend on its code, apart from the roles. */
const ofInit =
  /^(?:PROJECT|\.dockerignore|\.gitignore|config\/(?:default|manager|metrics-auth|network-policy|prometheus|rbac)\/.*)$/;
const notOfInit = /^config\/(?:network-policy\/allow_plan|rbac\/(?:leader_election_)?role)\.yaml$/;

const overlayPath = 'config/default/kustomization.yaml';
const imagePath = 'config/manager/kustomization.yaml';

/**
 * Returns the files that do not depend on the operators. They are written once, and belong to the user from then on.
 */
async function fixedFiles(
  folder: string,
  name: string,
  { apiServer, image }: DeploymentOptions,
): Promise<WantedManifests> {
  const words = { 'operator-name': name };
  const files = [
    ...(await initFiles({ name, domain: 'dcontroller.io' }, 'declarative')).filter(
      ({ path }) => ofInit.test(path) && !notOfInit.test(path),
    ),
    ...(await readTemplate('declarative', { words, conditions: new Set() })),
  ];
  const filled = files.map((file) => filledFile(file, apiServer));
  const wanted = filled.map(({ path, text }) => ({ type: 'default', path, text }) as const);
  const overlay = await textIfExists(join(folder, overlayPath));
  const isOff = apiServer && overlay !== undefined && !/^ *- \.\.\/views\s*$/m.test(overlay);
  const notes = isOff ? [`list ../views in the components of ${overlayPath}`] : [];
  const manager = filled.find(({ path }) => path === imagePath);
  if (image === undefined || manager === undefined) return { wanted, notes };
  const others = wanted.filter(({ path }) => path !== imagePath);
  const before = (await textIfExists(join(folder, imagePath))) ?? manager.text;
  const text = withManagerImage(before, image, imagePath);
  return { wanted: [...others, { type: 'edited', path: imagePath, text }], notes };
}

function filledFile({ path, text }: TemplateFile, apiServer: boolean): TemplateFile {
  if (path === overlayPath && apiServer) {
    return { path, text: text.replace('# - ../views', '- ../views') };
  }
  if (path !== 'package.json') return { path, text };
  return { path, text: text.replace('"*"', JSON.stringify(`^${packageVersion}`)) };
}

const operatorsFolder = 'config/operators';
const operatorsPath = `${operatorsFolder}/kustomization.yaml`;

/** The operators in the kustomization of an earlier run. */
interface FormerOperators {
  /** Names of the operators' files; empty if the kustomization was not generated. */
  readonly names: readonly string[];
  /** Undefined: all namespaces. */
  readonly namespaces: readonly string[] | undefined;
}

/** Reads the kustomization of an earlier run. */
async function formerOperators(folder: string): Promise<FormerOperators> {
  const path = join(folder, operatorsPath);
  const text = (await textIfExists(path)) ?? '';
  const [parsed] = parseYamlValues(text, path);
  const content = isJsonObject(parsed) ? parsed : {};
  const [generator] = objectsAt(content, 'configMapGenerator');
  const files = isGenerated(text) ? textsOf(generator?.['files']) : [];
  const patches = objectsAt(content, 'patches').map(({ patch }) => textsOf([patch]).join());
  const [, limit] = /--namespaces=([\w.,-]+)/.exec(patches.join('\n')) ?? [];
  return { names: files.filter((file) => keyPattern.test(file)), namespaces: limit?.split(',') };
}

/**
 * Returns the namespaces to limit the operators to; undefined: all. A run without the option keeps the namespaces in
 * the files, so that leaving out the option grants no further permissions.
 */
function namespacesFor(
  { namespaces = [] }: DeploymentOptions,
  former: FormerOperators,
): readonly string[] | undefined {
  const [first, ...others] = namespaces;
  if (first === undefined) return former.namespaces;
  if (!namespaces.includes('*')) return namespaces;
  if (others.length === 0) return undefined;
  throw new UsageError(`--namespaces: want names, or only '*', got ${namespaces.join()}`);
}

/** Returns the files of the operators, from which kustomize makes a ConfigMap. */
async function operatorFiles(
  folder: string,
  texts: readonly OperatorText[],
  {
    namespaces,
    former,
  }: Pick<FormerOperators, 'namespaces'> & { readonly former: FormerOperators },
): Promise<readonly WantedFile[]> {
  refuseUnfit(texts);
  const names = texts.map(({ file }) => basename(file));
  const from = 'the operators given to it';
  const component = {
    ...{ apiVersion: 'kustomize.config.k8s.io/v1alpha1', kind: 'Component' },
    // The name in the cluster ends with a hash of the content: a change replaces the pods.
    configMapGenerator: [{ name: 'operators', namespace: 'system', files: names }],
    ...(namespaces !== undefined && { patches: [limitedTo(namespaces)] }),
  };
  const copies = texts.map(({ text }, index): WantedFile => {
    return { type: 'edited', path: `${operatorsFolder}/${names[index] ?? ''}`, text };
  });
  const gone = former.names.filter((name) => !names.includes(name));
  return [
    await generatedFile(folder, { path: operatorsPath, from, objects: [component], command }),
    ...copies,
    ...gone.map((name) => ({ type: 'delete', path: `${operatorsFolder}/${name}` }) as const),
  ];
}

/** Returns a patch of the Deployment that limits the operators to namespaces. */
function limitedTo(namespaces: readonly string[]): object {
  const path = '/spec/template/spec/containers/0/args/-';
  const operation = { op: 'add', path, value: `--namespaces=${namespaces.join()}` };
  const target = { kind: 'Deployment', name: 'controller-manager' };
  return { target, patch: JSON.stringify([operation]) };
}

/** Keys of a ConfigMap that `declarative run` reads as files. */
const keyPattern = /^(?!kustomization\.)[\w.-]{1,240}\.(?:ya?ml|json)$/;
/** Limit of the API server, in bytes. */
const largestMap = 1024 ** 2;

/** @throws UsageError a ConfigMap can't hold the files */
function refuseUnfit(texts: readonly OperatorText[]): void {
  const files = new Map<string, string>();
  for (const { file } of texts) {
    const name = basename(file);
    if (!keyPattern.test(name)) {
      throw new UsageError(`${file}: rename it; want a name such as shop.yaml, without spaces`);
    }
    const other = files.get(name);
    if (other !== undefined) {
      throw new UsageError(`${other} and ${file} have the same name; rename one of them`);
    }
    files.set(name, file);
  }
  const size = texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (size <= largestMap) return;
  const remedy = 'deploy them separately, with different names and directories';
  throw new UsageError(`the files have ${size} bytes, and a ConfigMap at most 1 MiB; ${remedy}`);
}

/** Returns the commands that build the image of the Deployment, and deploy. */
function nextSteps(
  name: string,
  files: readonly PlannedFile[],
  { directory, apiServer }: DeploymentOptions,
): string {
  const [namespace, keys] = [`${name}-system`, `${directory}/view-keys`];
  const keyFiles = ['tls.crt', 'tls.key', 'token.pub'];
  const fromFiles = keyFiles.map((file) => shellWord(`--from-file=${keys}/${file}`));
  const ofViews = [
    `operator-builder declarative keys -d ${shellWord(keys)} --host ${name}-views.${namespace}.svc`,
    `kubectl create namespace ${namespace}`,
    `kubectl -n ${namespace} create secret generic ${name}-view-keys ${fromFiles.join(' ')}`,
  ];
  const apply = (folder: string): string =>
    `kubectl apply --server-side -k ${shellWord(`${directory}/${folder}`)}`;
  const isLimited = files.some(
    ({ path, action }) => path === `${namespacesFolder}/kustomization.yaml` && action !== 'delete',
  );
  const steps = [
    ...imageSteps(files, directory),
    ...(apiServer ? ofViews : []),
    ...(isLimited ? [apply(namespacesFolder)] : []),
    apply('config/default'),
  ];
  return `\nNext:\n${steps.map((step) => `  ${step}\n`).join('')}`;
}

function imageSteps(files: readonly PlannedFile[], directory: string): readonly string[] {
  const manager = files.find(({ path }) => path === imagePath);
  const image = manager && managerImage(manager.text, imagePath);
  // An image with a digest has been built already.
  if (image?.includes('@') === true) return [];
  const variable = image === undefined ? '' : `IMG=${shellWord(image)} `;
  const scripts = ['docker:build', 'docker:push'];
  return scripts.map((script) => `${variable}npm --prefix ${shellWord(directory)} run ${script}`);
}

/** Quotes a text for a POSIX shell, if it needs quotes. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : shellQuoted(text);
}
