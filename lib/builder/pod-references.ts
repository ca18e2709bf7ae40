import { isJsonObject } from '../object/json.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { podTemplatePath } from './kind-traits.js';
import type { PodTemplate } from './kinds/pod-template.js';
import type { Container, PodSpec, Volume } from './chain-references.js';

/** What a pod template refers to by name, each name once, in the order of their appearance. */
export interface PodReferences {
  readonly configMaps: readonly string[];
  readonly secrets: readonly string[];
  /** Secrets that only the image pull needs: a change of one is no reason to replace pods. */
  readonly pullSecrets: readonly string[];
  readonly claims: readonly string[];
  readonly serviceAccount: string | undefined;
}

/** The pod template of `object`, or undefined where its kind has none. */
export function podTemplateIn(object: KubernetesObject): PodTemplate | undefined {
  let node: unknown = podTemplatePath(object) && object;
  for (const field of podTemplatePath(object) ?? []) {
    node = isJsonObject(node) ? node[field] : undefined;
  }
  return isJsonObject(node) ? node : undefined;
}

/** A copy of `object` with `template` in the place of its pod template. */
export function withPodTemplate<T extends KubernetesObject>(object: T, template: PodTemplate): T {
  const replace = (node: unknown, [field, ...rest]: readonly string[]): unknown => {
    if (field === undefined) return template;
    const fields = node as Readonly<Record<string, unknown>>;
    return { ...fields, [field]: replace(fields[field], rest) };
  };
  return replace(object, podTemplatePath(object) ?? []) as T;
}

/** Everything that the pods of `template` can't start, or are not right, without. */
export function podReferencesOf({ spec }: PodTemplate): PodReferences {
  const sources = spec === undefined ? [] : [...volumeSources(spec), ...containerSources(spec)];
  const pick = (kind: Source['kind']): readonly string[] => [
    ...new Set(sources.flatMap((source) => (source.kind === kind ? [source.name] : []))),
  ];
  return {
    configMaps: pick('ConfigMap'),
    secrets: pick('Secret'),
    pullSecrets: [...new Set((spec?.imagePullSecrets ?? []).flatMap(({ name }) => name ?? []))],
    claims: pick('PersistentVolumeClaim'),
    serviceAccount: spec?.serviceAccountName,
  };
}

interface Source {
  readonly kind: 'ConfigMap' | 'Secret' | 'PersistentVolumeClaim';
  readonly name: string;
}

const sourcesOf = (kind: Source['kind'], name: string | undefined): readonly Source[] =>
  name === undefined || name === '' ? [] : [{ kind, name }];

function volumeSources({ volumes = [] }: PodSpec): readonly Source[] {
  return volumes.flatMap((volume: Volume) => [
    ...sourcesOf('ConfigMap', volume.configMap?.name),
    ...sourcesOf('Secret', volume.secret?.secretName),
    ...sourcesOf('PersistentVolumeClaim', volume.persistentVolumeClaim?.claimName),
    ...(volume.projected?.sources ?? []).flatMap((source) => [
      ...sourcesOf('ConfigMap', source.configMap?.name),
      ...sourcesOf('Secret', source.secret?.name),
    ]),
  ]);
}

function containerSources({ initContainers = [], containers }: PodSpec): readonly Source[] {
  return [...initContainers, ...containers].flatMap(({ env = [], envFrom = [] }: Container) => [
    ...envFrom.flatMap((from) => [
      ...sourcesOf('ConfigMap', from.configMapRef?.name),
      ...sourcesOf('Secret', from.secretRef?.name),
    ]),
    ...env.flatMap(({ valueFrom }) => [
      ...sourcesOf('ConfigMap', valueFrom?.configMapKeyRef?.name),
      ...sourcesOf('Secret', valueFrom?.secretKeyRef?.name),
    ]),
  ]);
}
