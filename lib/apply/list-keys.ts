import { isJsonObject } from '../object/json.js';

/** A list that the server merges by key, and its keys with the values of absent ones. */
interface KeyedList {
  readonly path: readonly string[];
  readonly keys: Readonly<Record<string, unknown>>;
}

// The lists of a container and a pod that apply merges by key (`x-kubernetes-list-map-keys`).
const containerLists: readonly KeyedList[] = [
  { path: ['env'], keys: { name: undefined } },
  { path: ['ports'], keys: { containerPort: undefined, protocol: 'TCP' } },
  { path: ['volumeMounts'], keys: { mountPath: undefined } },
  { path: ['volumeDevices'], keys: { devicePath: undefined } },
];
const podLists: readonly KeyedList[] = [
  { path: ['containers'], keys: { name: undefined } },
  { path: ['initContainers'], keys: { name: undefined } },
  { path: ['volumes'], keys: { name: undefined } },
  { path: ['imagePullSecrets'], keys: { name: undefined } },
  { path: ['hostAliases'], keys: { ip: undefined } },
];
const serviceLists: readonly KeyedList[] = [
  { path: ['ports'], keys: { port: undefined, protocol: 'TCP' } },
];

/** Two entries of a list that have one key. */
export interface DuplicateKey {
  /** For example `spec.template.spec.containers[name=web].env`. */
  readonly path: string;
  /** For example `name=P_ADDR`. */
  readonly key: string;
}

/** The entries of a pod specification that the server would take for one; see {@link DuplicateKey}. */
export function duplicatesInPod(spec: unknown, path: string): readonly DuplicateKey[] {
  const own = duplicatesIn(spec, podLists, path);
  const ofContainers = ['initContainers', 'containers'].flatMap((list) =>
    itemsOf(spec, [list]).flatMap((container) => {
      const name = isJsonObject(container) ? String(container['name']) : '';
      return duplicatesIn(container, containerLists, `${path}.${list}[name=${name}]`);
    }),
  );
  return [...own, ...ofContainers];
}

/** The entries of a Service's specification that the server would take for one. */
export function duplicatesInService(spec: unknown, path: string): readonly DuplicateKey[] {
  return duplicatesIn(spec, serviceLists, path);
}

function duplicatesIn(
  value: unknown,
  lists: readonly KeyedList[],
  path: string,
): readonly DuplicateKey[] {
  return lists.flatMap((list) => {
    const seen = new Set<string>();
    return itemsOf(value, list.path).flatMap((item) => {
      const key = keyOfItem(item, list.keys);
      const twice = seen.has(key);
      seen.add(key);
      return twice ? [{ path: [path, ...list.path].join('.'), key }] : [];
    });
  });
}

function itemsOf(value: unknown, path: readonly string[]): readonly unknown[] {
  let node = value;
  for (const field of path) node = isJsonObject(node) ? node[field] : undefined;
  return Array.isArray(node) ? node : [];
}

function keyOfItem(item: unknown, keys: KeyedList['keys']): string {
  if (!isJsonObject(item)) return String(item);
  return Object.entries(keys)
    .map(([name, absent]) => `${name}=${String(item[name] ?? absent)}`)
    .join(',');
}
