import {
  Deployment,
  fieldElement,
  parsePathElement,
  pathToString,
  valueAtPath,
  elementsOf,
  isJsonObject,
  memberOf,
  setMember,
  withoutMember,
  appliedFields,
} from '../object/index.js';
import type {
  FieldPath,
  FieldNode,
  KubernetesObject,
  UnstructuredObject,
} from '../object/index.js';
import { changedDesire } from './desired-object.js';
import type { DesiredObject, Pair } from './desired-object.js';
import { changesBesideDrift, driftOf, droppedFields } from './differences.js';
import { isKind, podTemplatePath } from './kind-traits.js';

/**
 * `T` as a caller may write it. Optional fields may be undefined: JSON drops them, and
 * `exactOptionalPropertyTypes` would refuse `{ replicas: options.replicas }`. Lists may be readonly. A
 * quantity may be a number, as in a field of `s.quantity()` of a custom resource. Times of metadata may be
 * dates, so that models of `@kubernetes/client-node` are accepted.
 */
export type Lenient<T> = T extends readonly (infer Item)[]
  ? readonly Lenient<Item>[]
  : T extends object
    ? {
        [K in keyof T]:
          | (K extends QuantityField ? WithNumbers<T[K]> : Lenient<T[K]>)
          | (K extends TimeField ? Date : never)
          | (object extends Pick<T, K> ? undefined : never);
      }
    : T;

/** The fields that are quantities, or whose members are. */
type QuantityField =
  'requests' | 'limits' | 'overhead' | 'capacity' | 'sizeLimit' | 'divisor' | 'averageValue';

/** The fields of metadata that are times. */
type TimeField = 'creationTimestamp' | 'deletionTimestamp' | 'time';

type WithNumbers<T> = T extends string
  ? T | number
  : T extends Readonly<Record<string, string>>
    ? Readonly<Record<string, string | number | undefined>>
    : Lenient<T>;

/** A pod template in wire format. */
export type PodTemplate = Lenient<NonNullable<Deployment['spec']>['template']>;
/** The specification of a pod in wire format; optional fields may be undefined. */
export type PodSpec = Lenient<NonNullable<NonNullable<Deployment['spec']>['template']['spec']>>;
/** A container of a {@link PodSpec}. */
export type Container = PodSpec['containers'][number];
/** An entry of a container's `env`. */
export type EnvVar = NonNullable<Container['env']>[number];
/** An entry of a container's `envFrom`. */
export type EnvFromSource = NonNullable<Container['envFrom']>[number];
/** An entry of a pod's `volumes`. */
export type Volume = NonNullable<PodSpec['volumes']>[number];
/** An entry of a container's `volumeMounts`. */
export type VolumeMount = NonNullable<Container['volumeMounts']>[number];

/** The names to which a pod template refers, without duplicates, in order of appearance. */
export interface PodReferences {
  readonly configMaps: readonly string[];
  readonly secrets: readonly string[];
  /** Secrets that only nodes need, to pull images and to mount volumes: their changes do not replace pods. */
  readonly nodeSecrets: readonly string[];
  readonly claims: readonly string[];
  readonly serviceAccount: string | undefined;
}

/** Returns the pod template of `object`, or undefined if its kind has none. */
export function podTemplateIn(object: KubernetesObject): PodTemplate | undefined {
  let node: unknown = podTemplatePath(object) && object;
  for (const field of podTemplatePath(object) ?? []) {
    node = isJsonObject(node) ? node[field] : undefined;
  }
  return isJsonObject(node) ? node : undefined;
}

/** Returns a copy of `object` with `template` as its pod template. */
export function withPodTemplate<T extends KubernetesObject>(object: T, template: PodTemplate): T {
  const replace = (node: unknown, [field, ...rest]: readonly string[]): unknown => {
    if (field === undefined) return template;
    const fields = node as Readonly<Record<string, unknown>>;
    return { ...fields, [field]: replace(fields[field], rest) };
  };
  return replace(object, podTemplatePath(object) ?? []) as T;
}

/** Returns all references that the pods of `template` need to start or to run correctly. */
export function podReferencesOf({ spec }: PodTemplate): PodReferences {
  const sources = spec === undefined ? [] : [...volumeSources(spec), ...containerSources(spec)];
  const pick = (kind: Source['kind']): readonly string[] => [
    ...new Set(sources.flatMap((source) => (source.kind === kind ? [source.name] : []))),
  ];
  return {
    configMaps: pick('ConfigMap'),
    secrets: pick('Secret'),
    nodeSecrets: [...new Set(spec === undefined ? [] : nodeSecretsOf(spec))],
    claims: pick('PersistentVolumeClaim'),
    serviceAccount: spec?.serviceAccountName,
  };
}

function nodeSecretsOf({ imagePullSecrets = [], volumes = [] }: PodSpec): readonly string[] {
  const mounts = volumes.flatMap(({ azureFile, csi, ...sources }: Volume) => {
    const own = Object.values<unknown>(sources).map((source) =>
      isJsonObject(source) ? (source['secretRef'] as Reference | undefined) : undefined,
    );
    return [...own, csi?.nodePublishSecretRef, { name: azureFile?.secretName }];
  });
  return [...imagePullSecrets, ...mounts].flatMap((reference) => reference?.name ?? []);
}

/** Returns true if the pods of `template` can't start without this object. */
export function isRequiredByPods(
  { spec }: PodTemplate,
  { kind, name }: Pick<Source, 'kind' | 'name'>,
): boolean {
  const sources = spec === undefined ? [] : [...volumeSources(spec), ...containerSources(spec)];
  return sources.some((one) => one.kind === kind && one.name === name && !one.optional);
}

interface Source {
  readonly kind: 'ConfigMap' | 'Secret' | 'PersistentVolumeClaim';
  readonly name: string;
  readonly optional: boolean;
}

interface Reference {
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

const sourcesOf = (kind: Source['kind'], reference: Reference = {}): readonly Source[] => {
  const { name = '', optional = false } = reference;
  return name === '' ? [] : [{ kind, name, optional }];
};

function volumeSources({ volumes = [] }: PodSpec): readonly Source[] {
  return volumes.flatMap((volume: Volume) => [
    ...sourcesOf('ConfigMap', volume.configMap),
    ...sourcesOf('Secret', { ...volume.secret, name: volume.secret?.secretName }),
    ...sourcesOf('PersistentVolumeClaim', { name: volume.persistentVolumeClaim?.claimName }),
    ...(volume.projected?.sources ?? []).flatMap((source) => [
      ...sourcesOf('ConfigMap', source.configMap),
      ...sourcesOf('Secret', source.secret),
    ]),
  ]);
}

function containerSources({ initContainers = [], containers }: PodSpec): readonly Source[] {
  return [...initContainers, ...containers].flatMap(({ env = [], envFrom = [] }: Container) => [
    ...envFrom.flatMap((from) => [
      ...sourcesOf('ConfigMap', from.configMapRef),
      ...sourcesOf('Secret', from.secretRef),
    ]),
    ...env.flatMap(({ valueFrom }) => [
      ...sourcesOf('ConfigMap', valueFrom?.configMapKeyRef),
      ...sourcesOf('Secret', valueFrom?.secretKeyRef),
    ]),
  ]);
}

/**
 * Returns true if applying `desired` would change the pod template. The repair of drift, fields that another
 * manager changed, does not count.
 */
export function changesTemplate(pair: Pair, manager: string): boolean {
  const template = podTemplatePath(pair.live) ?? [];
  const prefix = pathToString(template.map(fieldElement));
  const drift = driftOf(pair, manager);
  const changes = [...changesBesideDrift(pair, drift), ...droppedFields(pair, manager)];
  return changes.some(({ path }) => path === prefix || path.startsWith(`${prefix}.`));
}

/**
 * Returns `desired` with the pod template that `manager` has applied before and still owns, so that an apply
 * leaves the pods unchanged. The result has another hash, so the next reconcile still finds the change.
 */
export function withLiveTemplate({ desired, live }: Pair, manager: string): DesiredObject {
  const template = appliedTemplate(live, manager);
  const kept = changedDesire(desired, (object) =>
    template === undefined ? withoutTemplate(object) : withPodTemplate(object, template),
  );
  return { ...kept, causesOf: undefined };
}

function withoutTemplate(object: UnstructuredObject): UnstructuredObject {
  const spec = object['spec'];
  return isJsonObject(spec) ? { ...object, spec: withoutMember(spec, 'template') } : object;
}

function appliedTemplate(live: UnstructuredObject, manager: string): PodTemplate | undefined {
  const path: FieldPath = (podTemplatePath(live) ?? []).map(fieldElement);
  let node: FieldNode | undefined = appliedFields(live, manager)?.root;
  for (const element of path) node = node?.[element];
  if (node === undefined) return undefined;
  return ownPart(valueAtPath(live, path), node) as PodTemplate;
}

/**
 * Returns the fields of `value` that `node`, a part of an entry in `managedFields`, contains. Lists keep their order,
 * because a new order rolls pods.
 */
function ownPart(value: unknown, node: FieldNode): unknown {
  const elements = elementsOf(node);
  // A node without members (`{}`) owns the value as a whole; `{".": {}}` owns the field itself, but no
  // content.
  if (elements.length === 0 && Object.keys(node).length === 0) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const owned = elements.map((element) => ({ element, item: valueAtPath(items, [element]) }));
    return items.flatMap((item) => {
      const found = owned.find((one) => one.item === item);
      return found === undefined ? [] : [ownPart(item, node[found.element] ?? {})];
    });
  }
  if (!isJsonObject(value)) return value;
  const part: Record<string, unknown> = {};
  for (const element of elements) {
    const parsed = parsePathElement(element);
    if (parsed.type !== 'field') continue;
    const member = memberOf(value, parsed.name);
    if (member !== undefined) setMember(part, parsed.name, ownPart(member, node[element] ?? {}));
  }
  return part;
}

/** Returns true if pods of the workload keep their revision until they are deleted. */
export function updatesOnDelete(live: UnstructuredObject): boolean {
  const { updateStrategy } = (live['spec'] ?? {}) as {
    readonly updateStrategy?: { readonly type?: string };
  };
  return updateStrategy?.type === 'OnDelete';
}

/** Returns true if a Deployment is paused: a changed template has no effect until it is resumed. */
export function isPaused(live: UnstructuredObject): boolean {
  const { paused = false } = (live['spec'] ?? {}) as { readonly paused?: boolean };
  return isKind(live, Deployment) && paused;
}

/** Returns true if pods of the workload keep their revision when its template changes. */
export function keepsRevision(workload: UnstructuredObject): boolean {
  return updatesOnDelete(workload) || isPaused(workload);
}
