import { configMapHash, secretHash } from '../hash/data-hash.js';
import type { ConfigurationData } from '../hash/data-hash.js';
import { ConfigMap, Job, Secret } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { isKind } from './kind-traits.js';
import { podReferencesOf, podTemplateIn } from './pod-references.js';
import type { PreparedObject } from './prepare-object.js';
import type { Stamp } from './stamp.js';

/** Where {@link stampsFor} finds ConfigMaps and Secrets. */
export interface StampSources {
  /** The object of the chain, in the namespace of the workload; undefined: not chained. */
  readonly chained: (kind: Stamp['kind'], name: string) => UnstructuredObject | undefined;
  /** Whether the cluster has the object of the chain by now: else pods would be rolled on old data. */
  readonly applied: (kind: Stamp['kind'], name: string) => boolean;
  /** The live object; undefined: it does not exist. */
  readonly live: (kind: Stamp['kind'], name: string) => Promise<UnstructuredObject | undefined>;
}

/** The hashes that a workload is rolled on. */
export interface FoundStamps {
  readonly stamps: readonly Stamp[];
  /** Secrets of the chain that do not exist yet: their hash can't be known. */
  readonly missing: readonly string[];
}

/**
 * The hashes of the ConfigMaps and Secrets that the pods of `prepared` refer to, or that it names in
 * `rolloutOn`. Of those that are not in the chain only with `followReferences`; one that does not
 * exist has none. What the chain is still to apply counts as it is in the cluster, if it is there: the
 * workload follows when it is next reconciled. Jobs have none: their template is immutable, and a
 * finished Job must not run again.
 */
export async function stampsFor(
  { chained, complete }: PreparedObject,
  sources: StampSources,
): Promise<FoundStamps> {
  const template = podTemplateIn(complete);
  if (template === undefined || isKind(complete, Job)) return { stamps: [], missing: [] };
  const references = podReferencesOf(template);
  const { rolloutOn = [], followReferences = false } = chained.link.workload ?? {};
  const named = [
    ...unique([...references.configMaps, ...rolloutOn]).map((name) => ({
      ...({ kind: 'ConfigMap', name } as const),
    })),
    ...unique([...references.secrets, ...rolloutOn]).map((name) => ({
      ...({ kind: 'Secret', name } as const),
    })),
  ];
  const hashed = await Promise.all(
    named.map(async ({ kind, name }) => {
      const desired = sources.chained(kind, name);
      if (desired === undefined && !followReferences) return { kind, name, hash: undefined };
      const hash = await hashOf(desired, { kind, name, sources });
      return { kind, name, hash, missing: desired !== undefined && hash === undefined };
    }),
  );
  return {
    stamps: hashed.flatMap(({ kind, name, hash }) =>
      hash === undefined ? [] : [{ kind, name, hash }],
    ),
    missing: hashed.flatMap(({ missing, name }) => (missing === true ? [name] : [])),
  };
}

interface Named {
  readonly kind: Stamp['kind'];
  readonly name: string;
  readonly sources: StampSources;
}

async function hashOf(
  desired: UnstructuredObject | undefined,
  { kind, name, sources }: Named,
): Promise<string | undefined> {
  const applied = sources.applied(kind, name);
  const wanted = kind === 'ConfigMap' && desired !== undefined ? dataOf(desired) : undefined;
  if (wanted !== undefined && applied) return configMapHash(wanted);
  const live = await sources.live(kind, name);
  // No pod can start before its ConfigMap is there, so it starts with what is desired.
  if (live === undefined) return wanted && configMapHash(wanted);
  const source = dataOf(applied ? (desired ?? live) : live);
  return kind === 'ConfigMap' ? configMapHash(source) : secretHash(source, live.metadata.uid ?? '');
}

function dataOf(object: UnstructuredObject): ConfigurationData {
  return object as ConfigurationData;
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

/** The resource type of a {@link Stamp}'s kind. */
export const stampTypes = { ConfigMap, Secret } as const;
