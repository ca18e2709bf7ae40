import { createHash } from 'node:crypto';
import type { Container, PodSpec } from './chain-references.js';
import type { PodTemplate } from './kinds/pod-template.js';
import type { HashPrefixes } from './builder-options.js';
import type { Resolved } from '../system/resolved.js';

/** The hash of a ConfigMap or Secret that a workload is rolled on. */
export interface Stamp {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly hash: string;
}

/**
 * `template` with an environment variable per stamp in every container, init containers too: a
 * changed hash is a changed template, so Kubernetes rolls the pods. They come after the user's own
 * variables, sorted.
 */
export function stampTemplate(
  template: PodTemplate,
  stamps: readonly Stamp[],
  prefixes: Resolved<HashPrefixes>,
): PodTemplate {
  const { spec } = template;
  if (spec === undefined || stamps.length === 0) return template;
  const names = variableNames(stamps, { prefixes, taken: ownVariables(spec) });
  const variables = stamps
    .map((stamp, index) => ({ name: names[index] ?? '', value: stamp.hash }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const stampAll = (containers: readonly Container[]): Container[] =>
    containers.map((container) => ({
      ...container,
      env: [...(container.env ?? []), ...variables],
    }));
  const { initContainers, containers } = spec;
  const stamped: PodSpec = {
    ...spec,
    ...(initContainers !== undefined && { initContainers: stampAll(initContainers) }),
    containers: stampAll(containers),
  };
  return { ...template, spec: stamped };
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
