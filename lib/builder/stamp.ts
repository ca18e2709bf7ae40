import { createHash } from 'node:crypto';
import { podTemplateIn } from '../apply/index.js';
import type { Container, PodSpec, PodTemplate } from '../apply/index.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import type { HashPrefixes } from './builder-options.js';
import type { Resolved } from '../system/resolved.js';

/** The hash of a ConfigMap or Secret that a workload is rolled on. */
export interface Stamp {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly hash: string;
}

/** A {@link Stamp} as an environment variable. */
export interface StampVariable {
  readonly name: string;
  readonly stamp: Stamp;
}

/** The variables that carry `stamps` in the containers of `template`, sorted by name. */
export function stampVariables(
  { spec }: PodTemplate,
  stamps: readonly Stamp[],
  prefixes: Resolved<HashPrefixes>,
): readonly StampVariable[] {
  const names = variableNames(stamps, {
    prefixes,
    taken: spec === undefined ? new Set() : ownVariables(spec),
  });
  return stamps
    .map((stamp, index) => ({ name: names[index] ?? '', stamp }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * `template` with `variables` in every container, init containers too, after the user's own: a changed
 * hash is a changed template, so Kubernetes rolls the pods.
 */
export function stampTemplate(
  template: PodTemplate,
  variables: readonly StampVariable[],
): PodTemplate {
  const { spec } = template;
  if (spec === undefined || variables.length === 0) return template;
  const added = variables.map(({ name, stamp }) => ({ name, value: stamp.hash }));
  const stampAll = (containers: readonly Container[]): Container[] =>
    containers.map((container) => ({ ...container, env: [...(container.env ?? []), ...added] }));
  const { initContainers, containers } = spec;
  const stamped: PodSpec = {
    ...spec,
    ...(initContainers !== undefined && { initContainers: stampAll(initContainers) }),
    containers: stampAll(containers),
  };
  return { ...template, spec: stamped };
}

/** The ConfigMaps and Secrets whose hashes in the pod template of `live` are not those of `variables`. */
export function changedSources(
  live: UnstructuredObject,
  variables: readonly StampVariable[],
  namespace: string | undefined,
): readonly ObjectReference[] {
  const [container] = podTemplateIn(live)?.spec?.containers ?? [];
  const values = new Map((container?.env ?? []).map(({ name, value }) => [name, value] as const));
  return variables
    .filter(({ name, stamp }) => values.get(name) !== stamp.hash)
    .map(({ stamp: { kind, name } }) => ({
      ...{ apiVersion: 'v1', kind, name },
      ...(namespace !== undefined && { namespace }),
    }));
}

interface NamingRules {
  readonly prefixes: Resolved<HashPrefixes>;
  /** Names that the user gave to variables. */
  readonly taken: ReadonlySet<string>;
}

// `my-map` and `my.map` make one variable: both then get a hash of their names, so that the name of
// neither depends on the order.
function variableNames(stamps: readonly Stamp[], rules: NamingRules): readonly string[] {
  const plain = stamps.map((stamp) => plainName(stamp, rules.prefixes));
  return plain.map((name, index) => {
    const meets = plain.some((other, at) => other === name && at !== index);
    const { kind, name: object } = stamps[index] as Stamp;
    return meets || rules.taken.has(name) ? `${name}_${shortHash(`${kind}/${object}`)}` : name;
  });
}

function plainName({ kind, name }: Stamp, prefixes: Resolved<HashPrefixes>): string {
  const prefix = kind === 'ConfigMap' ? prefixes.configMap : prefixes.secret;
  return prefix + name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase();
}

function ownVariables({ initContainers = [], containers }: PodSpec): ReadonlySet<string> {
  const all = [...initContainers, ...containers];
  return new Set(all.flatMap(({ env = [] }) => env.map(({ name }) => name)));
}
