import {
  describeObject,
  isJsonObject,
  ConfigMap,
  Secret,
  Service,
  dns1123LabelProblem,
  dns1123SubdomainProblem,
  labelsProblem,
  pathSegmentProblem,
  groupOf,
} from '../object/index.js';
import type { TypeMeta, UnstructuredObject } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import { isKind } from './kind-traits.js';
import { podTemplateIn } from './pod-template.js';

/** The API server's limit for all values of a ConfigMap or Secret together, in bytes: 1 MiB. */
export const maxDataBytes = 1_048_576;

/**
 * Throws if the API server would refuse the object without a clear reason, or accept an object that can't
 * work.
 * @throws OperatorError `InvalidObject`; the message names the remedy.
 */
export function validateObject(object: UnstructuredObject): void {
  const problem =
    nameProblem(object) ??
    metadataProblem(object) ??
    dataProblem(object) ??
    podProblem(object) ??
    duplicateProblem(object);
  if (problem === undefined) return;
  const message = `${describeObject(object)} can't be applied: ${problem}`;
  throw new OperatorError('InvalidObject', message);
}

function nameProblem(object: UnstructuredObject): string | undefined {
  const { name = '' } = object.metadata;
  const problem = nameRuleOf(object)(name);
  return problem === undefined ? undefined : `metadata.name ${problem}`;
}

/** Returns a function that checks a name of an object of this kind, and returns the problem of an invalid name. */
export function nameRuleOf(type: TypeMeta): (name: string) => string | undefined {
  // Only newer servers accept a Service whose name begins with a digit; older servers return an error.
  if (isKind(type, Service)) return dns1123LabelProblem;
  if (groupOf(type.apiVersion) === 'rbac.authorization.k8s.io') return pathSegmentProblem;
  return dns1123SubdomainProblem;
}

function metadataProblem({ metadata }: UnstructuredObject): string | undefined {
  const { labels = {}, generateName } = metadata;
  if (generateName !== undefined)
    return 'metadata.generateName is set: set metadata.name instead, so that the next reconcile finds the object';
  const problem = labelsProblem(labels);
  return problem === undefined ? undefined : `metadata.labels: ${problem}`;
}

function dataProblem(object: UnstructuredObject): string | undefined {
  if (!isKind(object, ConfigMap) && !isKind(object, Secret)) return undefined;
  for (const field of ['data', 'stringData', 'binaryData']) {
    const [key, value] = memberOfOtherType(object[field]) ?? [];
    if (key === undefined) continue;
    return `${field}[${JSON.stringify(key)}]: want a string, got ${typeof value}; convert it with String(…)`;
  }
  const encoded = isKind(object, ConfigMap) ? object['binaryData'] : object['data'];
  const plain = isKind(object, ConfigMap) ? object['data'] : undefined;
  const broken = keyOfBrokenBase64(encoded);
  if (broken !== undefined) {
    const field = isKind(object, ConfigMap) ? 'binaryData' : 'data';
    const instead = isKind(object, ConfigMap) ? 'data' : 'stringData';
    return `${field}[${JSON.stringify(broken)}] is not base64; encode it, or give the text in ${instead}`;
  }
  const bytes =
    sizeOf(plain, (value) => Buffer.byteLength(value)) +
    sizeOf(encoded, (value) => Buffer.byteLength(value, 'base64'));
  if (bytes <= maxDataBytes) return undefined;
  return `its values have ${bytes} bytes, at most ${maxDataBytes} are allowed: split it`;
}

// Finds a value that is not a string. The server would answer 500, with names of Go types.
function memberOfOtherType(data: unknown): [key: string, value: unknown] | undefined {
  if (!isJsonObject(data)) return undefined;
  return Object.entries(data).find(([, value]) => typeof value !== 'string' && value !== null);
}

// Never returns the value, which may be the unencoded secret.
function keyOfBrokenBase64(data: unknown): string | undefined {
  if (!isJsonObject(data)) return undefined;
  const broken = Object.entries(data).find(
    ([, value]) => typeof value === 'string' && !base64.test(value.replaceAll(/[\r\n]/g, '')),
  );
  return broken?.[0];
}

// Matches the server's rules: padding, and the standard alphabet of RFC 4648. Line breaks are removed first.
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function sizeOf(data: unknown, bytesOf: (value: string) => number): number {
  if (!isJsonObject(data)) return 0;
  const values = Object.values(data).filter((value) => typeof value === 'string');
  return values.reduce((total, value) => total + bytesOf(value), 0);
}

function podProblem(object: UnstructuredObject): string | undefined {
  const template = podTemplateIn(object);
  if (template === undefined) return undefined;
  const containers: unknown = template.spec?.containers;
  const some = Array.isArray(containers) && containers.length > 0;
  return some ? undefined : 'its pod template has no containers';
}

function duplicateProblem(object: UnstructuredObject): string | undefined {
  const found = duplicatesOf(object)[0];
  if (found === undefined) return undefined;
  return `${found.path} has two entries with ${found.key}; the server would merge or refuse them`;
}

function duplicatesOf(object: UnstructuredObject): readonly DuplicateKey[] {
  if (isKind(object, Service)) return duplicatesInService(object['spec'], 'spec');
  const template = podTemplateIn(object);
  return template === undefined ? [] : duplicatesInPod(template.spec, 'spec.template.spec');
}

/** A list that the server merges by key, and its keys. The value of a key is its default in an entry that lacks it. */
interface KeyedList {
  readonly list: string;
  readonly keys: Readonly<Record<string, unknown>>;
}

// The lists of a container and a pod that apply merges by key (`x-kubernetes-list-map-keys`).
const containerLists: readonly KeyedList[] = [
  { list: 'env', keys: { name: undefined } },
  { list: 'ports', keys: { containerPort: undefined, protocol: 'TCP' } },
  { list: 'volumeMounts', keys: { mountPath: undefined } },
  { list: 'volumeDevices', keys: { devicePath: undefined } },
];
const podLists: readonly KeyedList[] = [
  { list: 'containers', keys: { name: undefined } },
  { list: 'initContainers', keys: { name: undefined } },
  { list: 'volumes', keys: { name: undefined } },
  { list: 'imagePullSecrets', keys: { name: undefined } },
  { list: 'hostAliases', keys: { ip: undefined } },
];
const serviceLists: readonly KeyedList[] = [
  { list: 'ports', keys: { port: undefined, protocol: 'TCP' } },
];

/** Two entries of a list with the same key. */
export interface DuplicateKey {
  /** Path of the list, for example `spec.template.spec.containers[name=web].env`. */
  readonly path: string;
  /** The key of both entries, for example `name=P_ADDR`. */
  readonly key: string;
}

/** Returns the entries of a pod specification that the server would merge; see {@link DuplicateKey}. */
export function duplicatesInPod(spec: unknown, path: string): readonly DuplicateKey[] {
  const own = duplicatesIn(spec, podLists, path);
  const ofContainers = ['initContainers', 'containers'].flatMap((list) =>
    itemsOf(spec, list).flatMap((container) => {
      const name = isJsonObject(container) ? String(container['name']) : '';
      return duplicatesIn(container, containerLists, `${path}.${list}[name=${name}]`);
    }),
  );
  return [...own, ...ofContainers];
}

/** Returns the entries of a Service's specification that the server would merge. */
export function duplicatesInService(spec: unknown, path: string): readonly DuplicateKey[] {
  return duplicatesIn(spec, serviceLists, path);
}

function duplicatesIn(
  value: unknown,
  lists: readonly KeyedList[],
  path: string,
): readonly DuplicateKey[] {
  return lists.flatMap(({ list, keys }) => {
    const seen = new Set<string>();
    return itemsOf(value, list).flatMap((item) => {
      const key = keyOfItem(item, keys);
      const twice = seen.has(key);
      seen.add(key);
      return twice ? [{ path: `${path}.${list}`, key }] : [];
    });
  });
}

function itemsOf(value: unknown, list: string): readonly unknown[] {
  const items = isJsonObject(value) ? value[list] : undefined;
  return Array.isArray(items) ? items : [];
}

function keyOfItem(item: unknown, keys: KeyedList['keys']): string {
  if (!isJsonObject(item)) return String(item);
  return Object.entries(keys)
    .map(([name, absent]) => `${name}=${String(item[name] ?? absent)}`)
    .join(',');
}
