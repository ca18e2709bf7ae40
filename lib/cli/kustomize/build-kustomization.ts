import { readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { fileError } from '../file-error.js';
import { builtinSpecs } from './builtin-specs.js';
import { parseConfiguration } from './configurations.js';
import { contentHash, generated } from './generators.js';
import type { Json } from './json-values.js';
import { objectAt, textAt, textsAt } from './json-values.js';
import { splitImage } from './images.js';
import { readKustomization } from './kustomization-file.js';
import type { KustomizationFile } from './kustomization-file.js';
import { kustomizationError } from './kustomization-error.js';
import { fixNameReferences } from './name-references.js';
import { inOrder, usualOrder } from './output-order.js';
import type { KindOrder } from './output-order.js';
import { Resource } from './resource.js';
import { ResourceSet } from './resource-set.js';
import { transform } from './transform.js';
import { parseObjects } from './yaml-documents.js';

/** An object to apply to a cluster. */
export type BuiltObject = UnstructuredObject;

/** Overrides for a kustomization. */
export interface BuildOptions {
  /** Namespace of all objects. @defaultValue the kustomization's */
  readonly namespace?: string | undefined;
  /**
   * Replacements of images, by the names in `images` of any kustomization, such as `controller`.
   * @defaultValue the kustomizations' own
   */
  readonly images?: Readonly<Record<string, string>> | undefined;
  /** Further entries of the `resources` of this kustomization. @defaultValue none */
  readonly resources?: readonly string[] | undefined;
  /** Further entries of its `components`. @defaultValue none */
  readonly components?: readonly string[] | undefined;
}

/** State that all kustomizations of a build share. */
interface Build {
  readonly images: Readonly<Record<string, string>>;
  /** The folders of the kustomizations that use this one. */
  readonly above: readonly string[];
}

/**
 * Builds the kustomization of a folder as `kubectl kustomize` does: the same objects in the same order.
 * Rejects unsupported fields.
 * @param folder - absolute
 * @throws OperatorError `InvalidConfig`: a file is missing, invalid, or uses an unsupported field
 */
export async function buildKustomization(
  folder: string,
  { namespace = '', images = {}, ...more }: BuildOptions = {},
): Promise<readonly BuiltObject[]> {
  const root = await realFolder(folder);
  const said = await readKustomization(root);
  const resources = [...textsOf(said.content['resources']), ...(more.resources ?? [])];
  const components = [...textsOf(said.content['components']), ...(more.components ?? [])];
  const file = { ...said, content: { ...said.content, resources, components } };
  const set = new ResourceSet(builtinSpecs);
  await accumulate(file, set, { images, above: [root] });
  if (namespace !== '') {
    const content = { namespace };
    await transform(set, { ...file, content }, (path) => readSource(file, path));
  }
  for (const resource of set.all.filter(({ needsHash }) => needsHash)) {
    resource.remember();
    resource.name = `${resource.name}-${contentHash(resource)}`;
  }
  fixNameReferences(set.all, set.specs.nameReference, file.path);
  const kept = set.all.filter(({ metadata }) => {
    const local = textsAt(metadata, 'annotations')['config.kubernetes.io/local-config'];
    return local === undefined || local === 'false';
  });
  const order = orderOf(file);
  const ordered = order === undefined ? kept : inOrder(kept, order);
  return ordered.map(({ object }) => object as unknown as BuiltObject);
}

function orderOf({ content, path }: KustomizationFile): KindOrder | undefined {
  const options = objectAt(content, 'sortOptions');
  if (options === undefined) return usualOrder;
  const { order, legacySortOptions } = options;
  if (order === 'fifo') return undefined;
  if (order !== 'legacy') throw kustomizationError(path, 'sortOptions: order: want fifo or legacy');
  const { orderFirst = [], orderLast = [] } = (legacySortOptions ?? {}) as Readonly<
    Record<string, readonly string[]>
  >;
  return legacySortOptions === undefined ? usualOrder : { first: orderFirst, last: orderLast };
}

/** Adds the objects of a kustomization to a set and transforms them. */
async function accumulate(file: KustomizationFile, set: ResourceSet, build: Build): Promise<void> {
  const { content, path } = file;
  for (const entry of textsOf(content['resources'])) {
    const folder = await folderOf(file, entry);
    if (folder === undefined) {
      const source = await readSource(file, entry);
      const objects = parseObjects(source.toString('utf8'), join(file.folder, entry));
      set.add(
        objects.map((object) => new Resource(object)),
        path,
      );
      continue;
    }
    const inner = await readInner(file, folder, build);
    if (inner.isComponent) throw kustomizationError(path, `${entry} belongs to components`);
    const own = new ResourceSet(builtinSpecs);
    await accumulate(inner, own, within(build, folder));
    set.add(own.all, path);
    set.addSpecs(own.specs);
  }
  const read = (source: string): Promise<Buffer> => readSource(file, source);
  for (const entry of textsOf(content['configurations'])) {
    set.addSpecs(parseConfiguration((await read(entry)).toString('utf8'), entry, file));
  }
  for (const [kind, field] of generators) {
    for (const entry of listOf(content[field])) {
      set.add([await generated(kind, entry, { file, read })], path);
    }
  }
  await addComponents(file, set, build);
  await transform(set, { ...file, content: withImages(content, build) }, read);
}

const generators = [
  ['ConfigMap', 'configMapGenerator'],
  ['Secret', 'secretGenerator'],
] as const;

async function addComponents(
  file: KustomizationFile,
  set: ResourceSet,
  build: Build,
): Promise<void> {
  for (const entry of textsOf(file.content['components'])) {
    const folder = await folderOf(file, entry);
    if (folder === undefined) throw kustomizationError(file.path, `${entry} is no folder`);
    const inner = await readInner(file, folder, build);
    if (!inner.isComponent) throw kustomizationError(inner.path, 'kind: want Component');
    await accumulate(inner, set, within(build, folder));
  }
}

const within = (build: Build, folder: string): Build => {
  return { ...build, above: [...build.above, folder] };
};

function withImages(content: Json, { images }: Build): Json {
  const entries = listOf(content['images']).map((entry) => {
    const image = images[textAt(entry, 'name')];
    if (image === undefined) return entry;
    const { name, tag, digest } = splitImage(image);
    return { name: entry['name'], newName: name, newTag: tag, digest };
  });
  return entries.length === 0 ? content : { ...content, images: entries };
}

async function readInner(
  file: KustomizationFile,
  folder: string,
  { above }: Build,
): Promise<KustomizationFile> {
  if (above.includes(folder)) {
    throw kustomizationError(file.path, `${folder} would be a part of itself`);
  }
  return readKustomization(folder);
}

function textsOf(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[];
}

function listOf(value: unknown): readonly Json[] {
  return (value ?? []) as readonly Json[];
}

/** Returns the folder that an entry names; undefined if it is a file. */
async function folderOf(file: KustomizationFile, entry: string): Promise<string | undefined> {
  const path = resolve(file.folder, entry);
  try {
    const found = await stat(path);
    return found.isDirectory() ? await realpath(path) : undefined;
  } catch (error) {
    if (!isRemote(entry)) throw kustomizationError(file.path, `${entry} can't be read`, error);
    const remedy = `use kubectl kustomize ${file.folder}, or keep a copy of it`;
    throw kustomizationError(file.path, `${entry} is not on this machine (${remedy})`, error);
  }
}

const isRemote = (entry: string): boolean =>
  /:\/\/|^git@|^[a-z0-9-]+(?:\.[a-z0-9-]+)+\/|\?ref=/i.test(entry);

/** Reads a file in the kustomization's own folder; rejects files outside. */
async function readSource(file: KustomizationFile, entry: string): Promise<Buffer> {
  const path = resolve(file.folder, entry);
  try {
    const real = await realpath(path);
    const below = relative(file.folder, real);
    if (below === '..' || below.startsWith(`..${sep}`)) {
      throw kustomizationError(file.path, `${entry} is outside of the kustomization's folder`);
    }
    return await readFile(real);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw error instanceof Error && 'errno' in error ? fileError(path, 'read', error) : error;
  }
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    throw fileError(folder, 'read', error);
  }
}
