import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { OperatorError } from '../system/index.js';

/** Environment variables, for example `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface KubeConfigSource {
  /**
   * The file, or several that are merged: the first definition of a name wins.
   * @defaultValue the files of the variable `KUBECONFIG`, else `~/.kube/config`
   */
  readonly path?: string | readonly string[] | undefined;
  /** The configuration itself, instead of a file. */
  readonly text?: string | undefined;
  /** The name of the context. @defaultValue the file's `current-context` */
  readonly context?: string | undefined;
  /** The environment that has `KUBECONFIG`. @defaultValue `process.env` */
  readonly env?: Environment | undefined;
}

/** An entry of `clusters`, by the names in the file; paths are absolute. */
export interface ClusterEntry {
  readonly server?: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
  readonly 'proxy-url'?: string;
  readonly 'disable-compression'?: boolean;
  readonly extensions?: readonly { readonly name?: string; readonly extension?: unknown }[];
}

/** An entry of `users`, by the names in the file; paths are absolute. */
export interface UserEntry {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly username?: string;
  readonly password?: string;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
  readonly exec?: ExecEntry;
  readonly 'auth-provider'?: { readonly name?: string; readonly config?: object };
}

/** `users[].user.exec`: a program that prints credentials. */
export interface ExecEntry {
  readonly apiVersion?: string;
  readonly command?: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly interactiveMode?: string;
  readonly provideClusterInfo?: boolean;
}

/** One context of a kubeconfig with its cluster and user. */
export interface KubeConfigContext {
  /** The file or files, for messages. */
  readonly source: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly cluster: ClusterEntry & { readonly server: string };
  readonly user: UserEntry;
}

interface ContextEntry {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

type Entries<T> = ReadonlyMap<string, T>;

interface KubeConfigFile {
  readonly currentContext: string;
  readonly contexts: Entries<ContextEntry>;
  readonly clusters: Entries<ClusterEntry>;
  readonly users: Entries<UserEntry>;
}

/**
 * Reads a kubeconfig by client-go's rules and resolves one of its contexts.
 * @throws OperatorError `InvalidKubeConfig`: a file or an entry is missing or invalid.
 */
export async function readKubeConfig(source: KubeConfigSource): Promise<KubeConfigContext> {
  const { text, env = process.env } = source;
  if (text !== undefined) {
    const file = await parseKubeConfig(text, { name: 'kubeconfig', directory: '' });
    return resolveContext([file], 'kubeconfig', source.context);
  }
  const paths = kubeConfigPaths(source.path, env);
  const name = `kubeconfig ${paths.join(delimiter)}`;
  const read = await Promise.all(paths.map((path) => readFileOf(path, paths.length > 1)));
  const files = read.filter((file) => file !== undefined);
  if (files.length === 0) throw invalidKubeConfig(name, 'no such file', 'set KUBECONFIG');
  return resolveContext(files, name, source.context);
}

/** Returns an error that names the file and the remedy. */
export function invalidKubeConfig(
  name: string,
  reason: string,
  remedy: string,
  cause?: unknown,
): OperatorError {
  return new OperatorError('InvalidKubeConfig', `${name}: ${reason} (${remedy})`, { cause });
}

function kubeConfigPaths(path: KubeConfigSource['path'], env: Environment): readonly string[] {
  if (typeof path === 'string') return [path];
  if (path !== undefined) return path;
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((entry) => entry !== '');
  return listed.length > 0 ? listed : [join(homedir(), '.kube', 'config')];
}

/** @param optional - skips a file that does not exist or is empty, as client-go does. */
async function readFileOf(path: string, optional: boolean): Promise<KubeConfigFile | undefined> {
  const name = `kubeconfig ${path}`;
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (optional && code === 'ENOENT') return undefined;
    throw invalidKubeConfig(name, message, 'give the path of a readable kubeconfig', error);
  }
  if (optional && text.trim() === '') return undefined;
  return parseKubeConfig(text, { name, directory: dirname(path) });
}

interface Origin {
  readonly name: string;
  /** The base of relative paths; itself relative to the working directory. */
  readonly directory: string;
}

async function parseKubeConfig(text: string, origin: Origin): Promise<KubeConfigFile> {
  const root = await parseYaml(text, origin);
  if (!isRecord(root)) {
    throw invalidKubeConfig(origin.name, 'it is not a kubeconfig', 'want a mapping with clusters');
  }
  const currentContext = root['current-context'];
  return {
    currentContext: typeof currentContext === 'string' ? currentContext : '',
    contexts: entriesOf<ContextEntry>(root, ['contexts', 'context'], origin),
    clusters: entriesOf<ClusterEntry>(root, ['clusters', 'cluster'], origin),
    users: entriesOf<UserEntry>(root, ['users', 'user'], origin),
  };
}

async function parseYaml(text: string, { name }: Origin): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const { checkYamlDepth } = await import('../object/index.js');
  const document = parseDocument(checkYamlDepth(text, name));
  const [error] = document.errors;
  if (error === undefined) return document.toJS();
  // The parser's message would quote the line, which may be a token.
  const line = text.slice(0, error.pos[0]).split('\n').length;
  throw invalidKubeConfig(name, `line ${line} is not YAML: ${error.code}`, 'correct it');
}

function entriesOf<T extends object>(
  root: Readonly<Record<string, unknown>>,
  [listName, entryName]: readonly [string, string],
  { name: file, directory }: Origin,
): Entries<T> {
  const list = root[listName] ?? [];
  const entries = new Map<string, T>();
  if (!Array.isArray(list)) {
    throw invalidKubeConfig(file, `${listName} is not a list`, 'want a list of named entries');
  }
  for (const [index, item] of list.entries()) {
    const where = `${listName}[${index}]`;
    const { name, [entryName]: entry } = isRecord(item) ? item : {};
    if (typeof name !== 'string') {
      throw invalidKubeConfig(file, `${where}.name is missing`, 'name every entry');
    }
    if (entry !== undefined && entry !== null && !isRecord(entry)) {
      throw invalidKubeConfig(file, `${where}.${entryName} is not a mapping`, 'correct it');
    }
    if (!entries.has(name)) entries.set(name, resolved((entry ?? {}) as T, directory));
  }
  return entries;
}

const pathFields = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

/**
 * Makes relative paths absolute: they are relative to the directory of the file. The command of `exec` counts as a path
 * only if it contains a slash. Drops members that are null: they count as absent, as in client-go.
 */
function resolved<T extends object>(entry: T, directory: string): T {
  const given = Object.entries(entry).filter(([, value]) => value !== null);
  const fields: Record<string, unknown> = Object.fromEntries(given);
  const absolute = (value: unknown): unknown =>
    typeof value !== 'string' || value === '' ? value : resolve(directory, value);
  for (const field of pathFields) {
    if (field in fields) fields[field] = absolute(fields[field]);
  }
  const { exec } = fields;
  if (isRecord(exec) && typeof exec['command'] === 'string' && exec['command'].includes('/')) {
    fields['exec'] = { ...exec, command: absolute(exec['command']) };
  }
  return fields as T;
}

function resolveContext(
  files: readonly KubeConfigFile[],
  source: string,
  wanted: string | undefined,
): KubeConfigContext {
  const current = files.find((file) => file.currentContext !== '')?.currentContext;
  const name = wanted ?? current;
  if (name === undefined) {
    const remedy = 'choose one with kubectl config use-context, or give a context';
    throw invalidKubeConfig(source, 'current-context is missing', remedy);
  }
  const find = <T>(list: 'contexts' | 'clusters' | 'users', entry: string): T => {
    const holder = files.find((file) => file[list].has(entry));
    if (holder !== undefined) return holder[list].get(entry) as T;
    const known = files.flatMap((file) => [...file[list].keys()]).join(', ');
    const remedy = known === '' ? `${list} is empty` : `there are: ${known}`;
    throw invalidKubeConfig(source, `${list} has no ${JSON.stringify(entry)}`, remedy);
  };
  const context = find<ContextEntry>('contexts', name);
  const cluster = find<ClusterEntry>('clusters', context.cluster ?? '');
  const user = (context.user ?? '') === '' ? {} : find<UserEntry>('users', context.user ?? '');
  const { server } = cluster;
  const where = `cluster ${JSON.stringify(context.cluster)}`;
  if (typeof server !== 'string' || server === '') {
    throw invalidKubeConfig(source, `${where} has no server`, 'want the URL of the API server');
  }
  if (!/^https?:$/.test(URL.canParse(server) ? new URL(server).protocol : '')) {
    throw invalidKubeConfig(source, `${where}: server is not an http or https URL`, 'correct it');
  }
  return { source, name, namespace: context.namespace, cluster: { ...cluster, server }, user };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
