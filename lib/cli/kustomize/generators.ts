import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import { isJsonObject } from '../../object/json.js';
import type { Json } from './json-values.js';
import { objectAt, textAt, textsAt } from './json-values.js';
import type { KustomizationFile } from './kustomization-file.js';
import { kustomizationError, unsupportedField } from './kustomization-error.js';
import { Resource } from './resource.js';

/** Reads a file below the kustomization. */
export type ReadSource = (path: string) => Promise<Buffer>;

type GeneratedKind = 'ConfigMap' | 'Secret';

/**
 * Makes the ConfigMap or Secret of an entry of `configMapGenerator` or `secretGenerator`.
 * @throws OperatorError `InvalidConfig`: invalid entry, or a file can't be read
 */
export async function generated(
  kind: GeneratedKind,
  entry: Json,
  { file, read }: { readonly file: KustomizationFile; readonly read: ReadSource },
): Promise<Resource> {
  const at = kind === 'Secret' ? 'secretGenerator' : 'configMapGenerator';
  const [name, behavior] = [textAt(entry, 'name'), textAt(entry, 'behavior') || 'create'];
  if (name === '') throw kustomizationError(file.path, `${at}: an entry has no name`);
  if (behavior !== 'create') {
    throw unsupportedField(file.folder, file.path, `${at}: behavior: ${behavior}`);
  }
  const pairs = await pairsOf(entry, { file: file.path, read });
  const options = optionsOf(entry, file);
  const metadata: Json = {};
  for (const member of ['labels', 'annotations']) {
    const texts = textsAt(options, member);
    if (Object.keys(texts).length > 0) metadata[member] = { ...texts };
  }
  const namespace = textAt(entry, 'namespace');
  const object: Json = {
    ...{ apiVersion: 'v1', kind },
    metadata: { ...metadata, name, ...(namespace !== '' && { namespace }) },
    ...(kind === 'Secret' ? secretContent(pairs, entry) : configMapContent(pairs)),
    ...(options['immutable'] === true && { immutable: true }),
  };
  return new Resource(object, options['disableNameSuffixHash'] !== true);
}

function optionsOf(entry: Json, { content }: KustomizationFile): Json {
  const [all, own] = [content['generatorOptions'], objectAt(entry, 'options') ?? {}];
  if (!isJsonObject(all)) return own;
  const merged = (member: string) => ({ ...textsAt(all, member), ...textsAt(own, member) });
  const flag = (member: string) => all[member] === true || own[member] === true;
  return {
    labels: merged('labels'),
    annotations: merged('annotations'),
    immutable: flag('immutable'),
    disableNameSuffixHash: flag('disableNameSuffixHash'),
  };
}

type Pairs = ReadonlyMap<string, Buffer>;

async function pairsOf(
  entry: Json,
  { file, read }: { readonly file: string; readonly read: ReadSource },
): Promise<Pairs> {
  const pairs = new Map<string, Buffer>();
  const add = (key: string, value: Buffer): void => {
    if (!/^[-._a-zA-Z0-9]+$/.test(key)) throw kustomizationError(file, `${key} can't be a key`);
    if (pairs.has(key)) throw kustomizationError(file, `the key ${key} is there twice`);
    pairs.set(key, value);
  };
  const sources = [...textsOf(entry['envs']), ...textsOf([entry['env']])];
  for (const path of sources) addLines(await read(path), { file, add });
  for (const literal of textsOf(entry['literals'])) {
    const [key, value] = halves(literal, file);
    add(key, Buffer.from(value.replace(/^(["'])(.*)\1$/s, '$2')));
  }
  for (const source of textsOf(entry['files'])) {
    const [key, path] = source.includes('=') ? halves(source, file) : [basename(source), source];
    add(key, await read(path));
  }
  return pairs;
}

function textsOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.filter((one) => typeof one === 'string');
}

function halves(text: string, file: string): readonly [string, string] {
  const place = text.indexOf('=');
  if (place > 0) return [text.slice(0, place), text.slice(place + 1)];
  throw kustomizationError(file, `want KEY=VALUE, got ${text}`);
}

interface Lines {
  readonly file: string;
  readonly add: (key: string, value: Buffer) => void;
}

function addLines(content: Buffer, { file, add }: Lines): void {
  for (const line of content
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)) {
    const text = line.trimStart();
    if (text === '' || text.startsWith('#')) continue;
    const [key, value] = halves(text, file);
    add(key, Buffer.from(value));
  }
}

function configMapContent(pairs: Pairs): Json {
  const data: Json = {};
  const binaryData: Json = {};
  for (const [key, value] of sorted(pairs)) {
    if (isUtf8(value)) data[key] = value.toString('utf8');
    else binaryData[key] = wrappedBase64(value);
  }
  return {
    ...(Object.keys(data).length > 0 && { data }),
    ...(Object.keys(binaryData).length > 0 && { binaryData }),
  };
}

function secretContent(pairs: Pairs, entry: Json): Json {
  const data = sorted(pairs).map(([key, value]) => [key, wrappedBase64(value)] as const);
  return { type: textAt(entry, 'type') || 'Opaque', data: Object.fromEntries(data) };
}

function sorted(pairs: Pairs): readonly (readonly [string, Buffer])[] {
  return [...pairs].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** Encodes in lines of 70 characters, which the hash depends on. */
function wrappedBase64(value: Buffer): string {
  const text = value.toString('base64');
  const lines = text.match(/.{1,70}/g) ?? [];
  return text.length >= 70 ? lines.map((line) => `${line}\n`).join('') : text;
}

const letters: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };

/** Returns the hash suffix of a generated name. It changes with the content, so that pods roll. */
export function contentHash({ object }: Resource): string {
  const { kind, type, data = '', binaryData } = object;
  const members: readonly (readonly [string, unknown])[] = [
    ...(kind === 'ConfigMap' && binaryData !== undefined
      ? [['binaryData', binaryData] as const]
      : []),
    // Kustomize intends to include the name, but leaves it empty.
    ...[['data', data] as const, ['kind', kind] as const, ['name', ''] as const],
    ...(kind === 'Secret' ? [['type', type] as const] : []),
  ];
  const hash = createHash('sha256').update(goJson(members)).digest('hex');
  return hash.slice(0, 10).replace(/[013ae]/g, (letter) => letters[letter] ?? letter);
}

/** Encodes JSON as Go does: members sorted by name (numeric names too), HTML characters escaped. */
function goJson(members: readonly (readonly [string, unknown])[]): string {
  const texts = members.map(([name, value]) => {
    const nested = isJsonObject(value)
      ? goJson(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : JSON.stringify(value);
    return `${JSON.stringify(name)}:${nested}`;
  });
  return `{${texts.join(',')}}`.replace(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
