import { isKind, podReferencesOf, podTemplateIn } from '../apply/index.js';
import { configMapHash, secretHash } from '../hash/data-hash.js';
import type { ConfigurationData } from '../hash/data-hash.js';
import { ConfigMap, Job, Secret } from '../object/kinds.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { PreparedObject } from './prepare-object.js';
import type { Stamp } from './stamp.js';

/** Where {@link stampsFor} finds ConfigMaps and Secrets. */
export interface StampSources {
  /** The object of the chain, in the namespace of the workload; undefined: not chained. */
  readonly chained: (kind: Stamp['kind'], name: string) => UnstructuredObject | undefined;
  /** Whether the cluster has the object of the chain by now: else pods would be rolled on old data. */
  readonly applied: (kind: Stamp['kind'], name: string) => boolean;
  /** What the hashes of Secrets are keyed with: it outlives them. */
  readonly salt: string;
  /** The live object; undefined: it does not exist. */
  readonly live: (kind: Stamp['kind'], name: string) => Promise<UnstructuredObject | undefined>;
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
): Promise<readonly Stamp[]> {
  const template = podTemplateIn(complete);
  if (template === undefined || isKind(complete, Job)) return [];
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
      if (desired === undefined && !followReferences) return [];
      const source = await sourceOf(desired, { kind, name, sources });
      if (source === undefined) return [];
      const hash =
        kind === 'ConfigMap'
          ? configMapHash(dataOf(source))
          : secretHash(dataOf(source), `${sources.salt}/${name}`);
      return [{ kind, name, hash }];
    }),
  );
  return hashed.flat();
}

interface Named {
  readonly kind: Stamp['kind'];
  readonly name: string;
  readonly sources: StampSources;
}

async function sourceOf(
  desired: UnstructuredObject | undefined,
  { kind, name, sources }: Named,
): Promise<UnstructuredObject | undefined> {
  if (desired !== undefined && sources.applied(kind, name)) return desired;
  // No pod can start before it is there, so pods start with what is desired.
  return (await sources.live(kind, name)) ?? desired;
}

function dataOf(object: UnstructuredObject): ConfigurationData {
  return object as ConfigurationData;
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

/** The resource type of a {@link Stamp}'s kind. */
export const stampTypes = { ConfigMap, Secret } as const;
