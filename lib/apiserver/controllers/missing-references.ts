import { ConfigMap, Secret } from '../../object/index.js';
import type { KubernetesObject, Pod, ResourceType } from '../../object/index.js';
import type { ControllerEvent } from './controller-events.js';

/** Finds the objects in the namespace of the pod. */
export interface Lookup {
  find<T extends KubernetesObject>(type: ResourceType<T>, name: string): T | undefined;
  /** Returns true for the name of a ConfigMap that counts as present with all keys. */
  isAssumed(name: string): boolean;
}

/** The reason why a pod cannot start: a ConfigMap or a Secret does not exist, or lacks a key. */
export interface MissingReference {
  /** Undefined if a volume cannot be mounted, so that no container starts. */
  readonly container?: string;
  readonly message: string;
  readonly event: ControllerEvent;
}

type PodSpec = NonNullable<Pod['spec']>;
type Volume = NonNullable<PodSpec['volumes']>[number];
type Container = PodSpec['containers'][number];

/** A reference to an object, or to some of its keys. */
interface Reference {
  readonly type: ResourceType<ConfigMap> | ResourceType<Secret>;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
  readonly keys?: readonly string[];
}

/**
 * Returns the first reference of a pod to a missing object, which keeps its containers from starting. Like a kubelet,
 * checks volumes first, then the environment of containers. Optional references may name missing objects.
 */
export function missingReference(pod: Pod, lookup: Lookup): MissingReference | undefined {
  const { volumes = [], initContainers = [], containers = [] } = pod.spec ?? {};
  for (const volume of volumes) {
    const problem = problemOf(volumeReferences(volume), lookup, keyMissingInVolume);
    if (problem === undefined) continue;
    const message = `MountVolume.SetUp failed for volume "${volume.name}" : ${problem}`;
    return { message, event: { about: pod, type: 'Warning', reason: 'FailedMount', message } };
  }
  for (const list of ['initContainers', 'containers'] as const) {
    for (const container of { initContainers, containers }[list]) {
      const missing = keyMissingInEnvironment(pod.metadata.namespace ?? '');
      const message = problemOf(environmentReferences(container), lookup, missing);
      if (message === undefined) continue;
      const { name } = container;
      const about = { about: pod, fieldPath: `spec.${list}{${name}}` };
      const event = { ...about, type: 'Warning', reason: 'Failed', message: `Error: ${message}` };
      return { container: name, message, event: event as ControllerEvent };
    }
  }
  return undefined;
}

function volumeReferences({ secret, configMap, projected }: Volume): readonly Reference[] {
  const sources = projected?.sources ?? [];
  const keysOf = (items: readonly { readonly key: string }[] = []) => items.map(({ key }) => key);
  return [
    ...(secret
      ? [{ type: Secret, ...secret, name: secret.secretName, keys: keysOf(secret.items) }]
      : []),
    ...(configMap ? [{ type: ConfigMap, ...configMap, keys: keysOf(configMap.items) }] : []),
    ...sources.flatMap((source): readonly Reference[] => [
      ...(source.secret
        ? [{ type: Secret, ...source.secret, keys: keysOf(source.secret.items) }]
        : []),
      ...(source.configMap
        ? [{ type: ConfigMap, ...source.configMap, keys: keysOf(source.configMap.items) }]
        : []),
    ]),
  ];
}

function environmentReferences({ env = [], envFrom = [] }: Container): readonly Reference[] {
  return [
    ...envFrom.flatMap(({ secretRef, configMapRef }): readonly Reference[] => [
      ...(configMapRef ? [{ type: ConfigMap, ...configMapRef }] : []),
      ...(secretRef ? [{ type: Secret, ...secretRef }] : []),
    ]),
    ...env.flatMap(
      ({ valueFrom: { secretKeyRef, configMapKeyRef } = {} }): readonly Reference[] => [
        ...(configMapKeyRef
          ? [{ type: ConfigMap, ...configMapKeyRef, keys: [configMapKeyRef.key] }]
          : []),
        ...(secretKeyRef ? [{ type: Secret, ...secretKeyRef, keys: [secretKeyRef.key] }] : []),
      ],
    ),
  ];
}

type KeyMissing = (reference: Reference, key: string) => string;

function problemOf(
  references: readonly Reference[],
  lookup: Lookup,
  keyMissing: KeyMissing,
): string | undefined {
  for (const reference of references) {
    const { type, name = '', optional = false, keys = [] } = reference;
    if (optional || (type.kind === 'ConfigMap' && lookup.isAssumed(name))) continue;
    const object = lookup.find<ConfigMap | Secret>(type, name);
    if (object === undefined) return `${type.kind.toLowerCase()} "${name}" not found`;
    const known = { ...object.data, ...('binaryData' in object && object.binaryData) };
    const missing = keys.find((key) => !Object.hasOwn(known, key));
    if (missing !== undefined) return keyMissing(reference, missing);
  }
  return undefined;
}

const keyMissingInVolume: KeyMissing = ({ type }, key) =>
  `references non-existent ${type === (Secret as unknown) ? 'secret' : 'config'} key: ${key}`;

function keyMissingInEnvironment(namespace: string): KeyMissing {
  return ({ type, name = '' }, key) =>
    `couldn't find key ${key} in ${type.kind} ${namespace}/${name}`;
}
