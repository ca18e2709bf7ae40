import { execFile } from 'node:child_process';
import { posix } from 'node:path';
import get from 'lodash/get.js';
import { CustomResourceDefinition } from '../object/index.js';
import type { UnstructuredObject } from '../object/index.js';
import { asError, OperatorError, silentLogger } from '../system/index.js';
import type { CommandContext } from './command-context.js';
import { objectsOfText, resourcesAt } from './object-files.js';
import { clusterClient } from './options.js';
import type { ClusterOptions } from './options.js';

/** The other objects of a bundle are ignored, so they may lack a name. */
const inBundle = { mayLackNames: true };

/**
 * Reads the CustomResourceDefinitions of files, folders, URLs, the standard input (`-`) and git revisions
 * (`main:config/crd`).
 * @param cluster - a cluster whose definitions are read too; undefined: no cluster
 * @throws OperatorError `InvalidConfig`: a source can't be read, or there are no definitions
 */
export async function definitionsAt(
  sources: readonly string[],
  context: CommandContext,
  cluster?: ClusterOptions,
): Promise<readonly CustomResourceDefinition[]> {
  const objects = [...(await objectsFrom(sources, context))];
  if (cluster !== undefined) objects.push(...(await objectsInCluster(cluster, context)));
  const definitions = objects.filter(
    ({ apiVersion, kind }) =>
      apiVersion === 'apiextensions.k8s.io/v1' && kind === CustomResourceDefinition.kind,
  );
  if (definitions.length > 0) return definitions.map(definitionOf);
  const what = cluster === undefined ? sources.join(', ') : 'the cluster';
  const message = `${what}: no CustomResourceDefinitions of apiextensions.k8s.io/v1 found`;
  throw new OperatorError('InvalidConfig', message);
}

/**
 * Reads all objects of the sources, as {@link definitionsAt}.
 * @throws OperatorError `InvalidConfig`: a source can't be read
 */
export async function objectsFrom(
  sources: readonly string[],
  context: CommandContext,
): Promise<readonly UnstructuredObject[]> {
  const paths = sources.filter((source) => !isUrl(source) && !isRevision(source));
  const objects: UnstructuredObject[] = [];
  if (paths.length > 0) objects.push(...(await resourcesAt(paths, context, inBundle)));
  for (const url of sources.filter(isUrl)) objects.push(...(await objectsAt(url)));
  for (const source of sources.filter(isRevision)) {
    objects.push(...(await objectsInGit(source, context)));
  }
  return objects;
}

/** @throws OperatorError `InvalidConfig`: fields are missing, as in a file that is only partly written */
function definitionOf(object: UnstructuredObject): CustomResourceDefinition {
  const versions: unknown = get(object, 'spec.versions');
  const length = Array.isArray(versions) ? Math.max(versions.length, 1) : 1;
  const ofVersions = Array.from({ length }, (_, index) => `spec.versions[${index}]`);
  const names = ['spec.group', 'spec.names.kind', 'spec.names.plural'];
  const texts = ['metadata.name', ...names, ...ofVersions.map((version) => `${version}.name`)];
  const missing = texts.find((path) => typeof get(object, path) !== 'string');
  if (missing === undefined) return object as unknown as CustomResourceDefinition;
  const what = `CustomResourceDefinition ${JSON.stringify(get(object, 'metadata.name', ''))}: ${missing}`;
  throw new OperatorError(
    'InvalidConfig',
    `${what}: is missing or invalid; complete the definition`,
  );
}

function isUrl(source: string): boolean {
  return /^https?:\/\//.test(source);
}

/** Whether a source is `<revision>:<path>`; a single letter before the colon is a drive of Windows. */
export function isRevision(source: string): boolean {
  return !isUrl(source) && /^[^:]{2,}:[^\\]/.test(source);
}

const urlTimeoutMs = 60_000;

async function objectsAt(url: string): Promise<readonly UnstructuredObject[]> {
  // Messages must not show the user and password of a URL.
  const shown = url.replace(/^(https?:\/\/)[^/]*@/, '$1');
  const unreadable = (problem: string, cause?: unknown): OperatorError =>
    new OperatorError('InvalidConfig', `${shown} can't be read: ${problem}`, { cause });
  let text = '';
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(urlTimeoutMs) });
    if (!response.ok) throw unreadable(`the server answered ${response.status}`);
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.length > largestFile) throw unreadable(`it has more than ${largestFile} characters`);
    }
    text += decoder.decode();
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    // The message of `fetch` is always the same; its cause has the reason.
    const { cause = error } = error as Error;
    throw unreadable(asError(cause).message, error);
  }
  return objectsOfText(text, shown, inBundle);
}

/** Reads a file, or the YAML files directly in a folder, of a git revision. */
async function objectsInGit(
  source: string,
  { cwd }: CommandContext,
): Promise<readonly UnstructuredObject[]> {
  const [, revision = '', path = ''] = /^([^:]+):(.*)$/.exec(source) ?? [];
  const read = async (file: string): Promise<readonly UnstructuredObject[]> =>
    objectsOfText(await git(['show', `${revision}:${file}`], cwd, source), source, inBundle);
  // Git takes paths in revisions as relative to the root of the repository, unless they start with a dot.
  const own = `./${posix.normalize(path)}`;
  const type = await git(['cat-file', '-t', `${revision}:${own}`], cwd, source);
  if (type.trim() === 'blob') return read(own);
  const listed = await git(['ls-tree', '-z', '--name-only', `${revision}:${own}`], cwd, source);
  const names = listed
    .split('\0')
    .filter((name) => /^(?!kustomization\.).*\.(?:ya?ml|json)$/.test(name));
  const objects: UnstructuredObject[] = [];
  // Run one git process at a time, because a folder can have hundreds of files.
  for (const name of names) objects.push(...(await read(`./${posix.join(own, name)}`)));
  return objects;
}

function git(args: readonly string[], cwd: string, source: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('git', args, { cwd, maxBuffer: largestFile }, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout);
        return;
      }
      const [problem = ''] = (stderr || asError(error).message).trim().split('\n');
      const message = `${source} can't be read from git: ${problem.replace(/^fatal: /, '')}`;
      reject(new OperatorError('InvalidConfig', message, { cause: error }));
    });
  });
}

const largestFile = 64 * 1024 * 1024;

async function objectsInCluster(
  options: ClusterOptions,
  context: CommandContext,
): Promise<readonly UnstructuredObject[]> {
  const client = await clusterClient(options, context, silentLogger);
  try {
    const { items } = await client.list(CustomResourceDefinition);
    // Items of a list have no apiVersion and kind.
    const type = { apiVersion: 'apiextensions.k8s.io/v1', kind: CustomResourceDefinition.kind };
    return items.map((item) => ({ ...item, ...type }));
  } finally {
    await client.close();
  }
}
