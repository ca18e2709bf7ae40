import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import escapeRegExp from 'lodash/escapeRegExp.js';
import { dns1123LabelProblem, isJsonObject, parseYamlValues } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import type { CommandContext } from '../command-context.js';
import { contentError, fileError, whileWriting, exists } from '../files.js';
import { objectAt, objectsAt, textAt, textsOf } from '../json-values.js';
import type { Json } from '../json-values.js';
import { namespacesFolder } from '../manifests/role-file.js';
import { objectsOfText } from '../object-files.js';
import { refuse } from '../scaffold/names.js';
import { findProject } from '../load-operator.js';

/** Options of commands that build an overlay of a project. */
export interface OverlayOptions {
  /** The project's folder or one below it. */
  readonly project: string;
  /** Path of the kustomization in the project's folder. */
  readonly overlay: string;
  /** Image of the manager. @defaultValue the image in the kustomizations */
  readonly image?: string | undefined;
  /** Namespace of all objects. @defaultValue the namespace in the kustomizations */
  readonly namespace?: string | undefined;
  /** Further entries of the `resources` of the overlay. @defaultValue none */
  readonly resources?: readonly string[] | undefined;
  /** Further entries of the `components` of the overlay. @defaultValue none */
  readonly components?: readonly string[] | undefined;
}

/** The objects of a project's overlay. */
export interface BuiltOverlay {
  /** The project's folder. */
  readonly folder: string;
  readonly objects: readonly BuiltObject[];
}

/**
 * Builds an overlay of a project, with the operator's Roles in other namespaces.
 * @throws UsageError invalid image or namespace
 * @throws OperatorError `InvalidConfig`: the project does not exist, or its kustomizations can't be built; `Aborted`: a
 * signal stopped the command
 */
export async function builtOverlay(
  { project, overlay, ...given }: OverlayOptions,
  { cwd, stopSignal }: Pick<CommandContext, 'cwd' | 'stopSignal'>,
): Promise<BuiltOverlay> {
  // From here on, a signal no longer ends the process, so that no copy of a kustomization stays.
  const signal = stopSignal();
  const { namespace, resources, components } = given;
  const image = given.image === undefined ? undefined : imageWithTag(given.image);
  if (namespace !== undefined) refuse('--namespace', dns1123LabelProblem(namespace));
  const folder = await findProject(resolve(cwd, project));
  const path = join(folder, overlay);
  const built = await buildKustomization(path, { namespace, resources, components, signal });
  const moving = namespace === undefined ? undefined : { path, to: namespace, signal };
  const objects = moving === undefined ? built : await withMovedTexts(built, moving);
  if (image !== undefined) replaceImage(objects, image, overlay);
  return { folder, objects: await withNamespacedRoles({ folder, from: overlay, objects, signal }) };
}

/** Replaces the image of all containers that use the manager's image. */
function replaceImage(objects: readonly BuiltObject[], image: string, from: string): void {
  const { container } = managerDeployment(objects, from);
  const old = container['image'];
  for (const object of objects) {
    const podSpec = podSpecOf(object);
    for (const field of ['initContainers', 'containers']) {
      for (const one of objectsAt(podSpec, field)) if (one['image'] === old) one['image'] = image;
    }
  }
}

function podSpecOf(workload: Json): Json {
  const template = objectAt(objectAt(workload, 'spec') ?? {}, 'template');
  return objectAt(template ?? {}, 'spec') ?? {};
}

/** Updates the namespace in texts, such as Service names in certificates. */
async function withMovedTexts(
  objects: readonly BuiltObject[],
  { path, to, signal }: Readonly<Record<'path' | 'to', string>> & { readonly signal: AbortSignal },
): Promise<readonly BuiltObject[]> {
  const [before] = managersAmong(await buildKustomization(path, { signal }));
  const from = textAt(before && objectAt(before.deployment, 'metadata'), 'namespace');
  return from === '' ? objects : objects.map((object) => movedObject(object, { from, to }));
}

/** The previous and the new namespace. */
interface Move {
  readonly from: string;
  readonly to: string;
}

/** Replaces the namespace in `namespace/name` and in Service names: `name.namespace.svc`. */
export function movedText(text: string, { from, to }: Move): string {
  const namespace = escapeRegExp(from);
  const pattern = new RegExp(
    `^${namespace}(?=/)|(?<=^[a-z0-9-]+\\.)${namespace}(?=\\.svc(?:\\.|$))`,
  );
  return text.replace(pattern, () => to);
}

/** Members whose strings contain slashes but are not `namespace/name`: API versions, images, subresources in rules. */
export const withoutReferences: ReadonlySet<string> = new Set(['apiVersion', 'image', 'resources']);

/** Replaces the namespace in texts of an object that kustomize does not cover. */
function movedObject(object: BuiltObject, move: Move): BuiltObject {
  // Leave the schemas of a definition as they are: they may contain any text.
  if (object.kind !== 'CustomResourceDefinition') return moved(object, move) as BuiltObject;
  return { ...object, metadata: moved(object.metadata, move) as BuiltObject['metadata'] };
}

function moved(value: unknown, move: Move): unknown {
  if (typeof value === 'string') return movedText(value, move);
  if (Array.isArray(value)) return value.map((item) => moved(item, move));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, one]) => {
    return [name, withoutReferences.has(name) ? one : moved(one, move)] as const;
  });
  return Object.fromEntries(entries);
}

/** The objects of an overlay and their source. */
interface OverlayObjects extends BuiltOverlay {
  /** The overlay, for messages. */
  readonly from: string;
  readonly signal: AbortSignal;
}

/**
 * Adds the Roles in other namespaces to the objects of an overlay, before the Deployment. They have a
 * kustomization of their own, since `namespace` puts all objects into one. An overlay without the operator
 * stays unchanged. So does the overlay of an OLM bundle, in which a Role would apply to every namespace.
 */
async function withNamespacedRoles(source: OverlayObjects): Promise<readonly BuiltObject[]> {
  const { folder, from, objects, signal } = source;
  const path = join(folder, namespacesFolder);
  const isOfCatalogue = objects.some(({ kind }) => kind === 'ClusterServiceVersion');
  if (isOfCatalogue || managersAmong(objects).length === 0) return objects;
  if (!(await exists(join(path, 'kustomization.yaml')))) return objects;
  const { deployment, podSpec } = managerDeployment(objects, from);
  const namespace = textAt(objectAt(deployment, 'metadata'), 'namespace');
  const account = {
    name: textAt(podSpec, 'serviceAccountName'),
    // If the overlay has no namespace, the user chooses one when applying.
    ...(namespace !== '' && { namespace }),
  };
  const there = new Set(objects.map(keyOf));
  const roles = (await buildKustomization(path, { signal })).filter(
    (object) => !there.has(keyOf(object)),
  );
  for (const role of roles) bindTo(role, account);
  const place = objects.findIndex((object) => object === deployment);
  return objects.toSpliced(place, 0, ...roles);
}

const keyOf = ({ kind, metadata: { namespace = '', name = '' } }: BuiltObject): string =>
  [kind, namespace, name].join('/');

/** Binds the role to the account in the overlay, which may differ from the one `manifests` assumed. */
function bindTo(role: Json, account: object): void {
  const accounts = objectsAt(role, 'subjects').filter(({ kind }) => kind === 'ServiceAccount');
  for (const subject of accounts) Object.assign(subject, account);
}

/** The Deployment of an operator, and its container. */
interface ManagerDeployment {
  readonly deployment: Json;
  readonly podSpec: Json;
  readonly container: Json;
}

/**
 * Finds the operator among objects: the Deployment with a container called `manager`.
 * @param from - the overlay, for messages
 * @throws OperatorError `InvalidConfig`: no such Deployment, or several
 */
export function managerDeployment(objects: readonly object[], from: string): ManagerDeployment {
  const [first, ...others] = managersAmong(objects);
  if (first !== undefined && others.length === 0) return first;
  const count = first === undefined ? 'no Deployment' : 'several Deployments';
  throw new OperatorError(
    'InvalidConfig',
    `${from} has ${count} with a container named manager; want exactly one`,
  );
}

function managersAmong(objects: readonly object[]): readonly ManagerDeployment[] {
  return (objects as readonly Json[]).flatMap(managersIn);
}

function managersIn(deployment: Json): readonly ManagerDeployment[] {
  if (textAt(deployment, 'kind') !== 'Deployment') return [];
  const podSpec = podSpecOf(deployment);
  const managers = objectsAt(podSpec, 'containers').filter(({ name }) => name === 'manager');
  return managers.map((container) => ({ deployment, podSpec, container }));
}

const imagePattern =
  /^[\w.-]+(?::\d+(?=\/))?(?:\/[\w.-]+)*(?<tag>:[\w.-]+)?(?<digest>@\w+:[\da-f]+)?$/;

/**
 * Adds the tag `latest` to an image that has neither a tag nor a digest.
 * @throws UsageError invalid image, such as the text of an unset variable
 */
export function imageWithTag(image: string): string {
  const { groups } = imagePattern.exec(image) ?? {};
  if (groups === undefined) {
    const wanted = 'want an image, such as registry.example/shop:1.2.0';
    throw new UsageError(`--image: ${wanted}, got ${JSON.stringify(image)}`);
  }
  const { tag, digest } = groups as Readonly<Record<string, string | undefined>>;
  return tag === undefined && digest === undefined ? `${image}:latest` : image;
}

/** Splits an image: `host:5000/name:tag@sha256:…`. A part is empty if it is absent. */
export function splitImage(image: string) {
  const [, name = '', tag = '', digest = ''] = /^(.*?)(?::([^:@/]*))?(?:@(.*))?$/.exec(image) ?? [];
  return { name, tag, digest };
}

/** An object to apply to a cluster. */
export type BuiltObject = UnstructuredObject;

/** Overrides for a kustomization. */
interface BuildOptions extends Pick<OverlayOptions, 'namespace' | 'resources' | 'components'> {
  /** Stops kubectl. @defaultValue never */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Builds the kustomization of a folder with `kubectl kustomize`.
 * @param folder - an absolute path
 * @throws OperatorError `InvalidConfig`: kubectl is missing, or it refuses the kustomization; `Aborted`: the signal was
 *   aborted
 */
export async function buildKustomization(
  folder: string,
  { namespace, resources = [], components = [], signal }: BuildOptions = {},
): Promise<readonly BuiltObject[]> {
  if (namespace === undefined && resources.length === 0 && components.length === 0) {
    return kustomize(folder, { signal });
  }
  // A copy beside the original, so that the paths in it lead to the same files.
  const copy = await whileWriting(dirname(folder), () =>
    mkdtemp(join(dirname(folder), `.${basename(folder)}-`)),
  );
  try {
    await cp(folder, copy, { recursive: true });
    const file = await kustomizationIn(copy, folder);
    const content = await contentOf(file);
    const changed = {
      ...content,
      ...(namespace !== undefined && { namespace }),
      resources: [...textsOf(content['resources']), ...resources],
      components: [...textsOf(content['components']), ...components],
    };
    await writeFile(file, JSON.stringify(changed));
    return await kustomize(copy, { said: folder, signal });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function kustomizationIn(copy: string, folder: string): Promise<string> {
  for (const name of ['kustomization.yaml', 'kustomization.yml', 'Kustomization']) {
    if (await exists(join(copy, name))) return join(copy, name);
  }
  throw contentError(folder, 'no kustomization.yaml found');
}

async function contentOf(file: string): Promise<Readonly<Record<string, unknown>>> {
  const [content = {}] = parseYamlValues(await readFile(file, 'utf8'), file);
  return isJsonObject(content) ? content : {};
}

/**
 * Builds a folder with kustomize.
 * @param said - the folder that messages name
 */
async function kustomize(
  folder: string,
  { said = folder, signal }: { readonly said?: string; readonly signal: AbortSignal | undefined },
): Promise<readonly BuiltObject[]> {
  if (!(await exists(folder))) {
    throw fileError(folder, 'read', Object.assign(new Error(), { code: 'ENOENT' }));
  }
  const text = await new Promise<string>((resolve, reject) => {
    const options = { maxBuffer: 256_000_000, signal };
    execFile('kubectl', ['kustomize', folder], options, (error, stdout, stderr) => {
      // Ctrl-C in a terminal also stops kubectl, which may then fail before this process aborts it.
      if (signal?.aborted === true)
        reject(new OperatorError('Aborted', 'stopped: nothing was written'));
      else if (error === null) resolve(stdout);
      else reject(kubectlError(said, error, stderr.replaceAll(folder, said)));
    });
  });
  return objectsOfText(text, said);
}

function kubectlError(folder: string, error: Error, stderr: string): OperatorError {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
    const remedy = 'install kubectl, which builds kustomizations';
    return contentError(folder, `kubectl kustomize: kubectl is not on the PATH; ${remedy}`, error);
  }
  const problem = stderr.trim().replace(/^(?:error: |.* err=)/, '') || error.message;
  return contentError(folder, `kubectl kustomize: ${problem}`, error);
}
