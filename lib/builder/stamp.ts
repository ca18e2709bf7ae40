import { createHash } from 'node:crypto';
import {
  isKind,
  isRequiredByPods,
  podReferencesOf,
  podTemplateIn,
  readObject,
  refId,
} from '../apply/index.js';
import type { Container, Outcome, PodSpec, PodTemplate } from '../apply/index.js';
import { configMapHash, secretHash } from '../hash/index.js';
import type { ConfigurationData } from '../hash/index.js';
import { ConfigMap, Job, Secret } from '../object/index.js';
import type { UnstructuredObject, ObjectReference } from '../object/index.js';
import type { Chain, ChainedObject } from './chain.js';
import type { RunContext } from './context.js';
import type { PreparedObject } from './run.js';

/** The hash of a ConfigMap or Secret whose change rolls a workload. */
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

/** Returns the environment variables that the containers of `template` get with the hashes of `stamps`, by name. */
export function stampVariables(
  { spec }: PodTemplate,
  stamps: readonly Stamp[],
): readonly StampVariable[] {
  const names = variableNames(stamps, spec === undefined ? new Set() : ownVariables(spec));
  return stamps
    .map((stamp, index) => ({ name: names[index] ?? '', stamp }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * Returns `template` with `variables` after the user's own in every container, including init containers. A
 * changed hash changes the template, so Kubernetes rolls the pods.
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

/** Returns the ConfigMaps and Secrets whose hashes in the pod template of `live` differ from `variables`. */
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

// The variables for `my-map` and `my.map` would have the same name. Both then get a hash suffix, so that neither name
// depends on the order. The user's containers may use a name already.
function variableNames(stamps: readonly Stamp[], taken: ReadonlySet<string>): readonly string[] {
  const plain = stamps.map(plainName);
  return stamps.map((stamp, index) => {
    const name = plainName(stamp);
    const meets = plain.some((other, at) => other === name && at !== index);
    return meets || taken.has(name) ? distinctName(stamp) : name;
  });
}

/** Returns the names that the variable of a stamp can have in a workload whose own variables are `taken`. */
function namesOf(stamp: Omit<Stamp, 'hash'>, taken: ReadonlySet<string>): readonly string[] {
  const plain = plainName(stamp);
  return [distinctName(stamp), ...(taken.has(plain) ? [] : [plain])];
}

function distinctName({ kind, name }: Omit<Stamp, 'hash'>): string {
  return `${plainName({ kind, name })}_${shortHash(`${kind}/${name}`)}`;
}

function plainName({ kind, name }: Omit<Stamp, 'hash'>): string {
  const prefix = kind === 'ConfigMap' ? 'CONFIGMAP_HASH_' : 'SECRET_HASH_';
  return prefix + name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase();
}

function ownVariables({ initContainers = [], containers }: PodSpec): ReadonlySet<string> {
  const all = [...initContainers, ...containers];
  return new Set(all.flatMap(({ env = [] }) => env.map(({ name }) => name)));
}

/** Sources of ConfigMaps and Secrets for {@link stampsFor}. */
export interface StampSources {
  /** Returns the link of an object in the workload's namespace; undefined if it is not chained. */
  readonly chained: (kind: Stamp['kind'], name: string) => ChainedObject['link'] | undefined;
  /** Returns true if the chained object was applied. Otherwise pods would be rolled on old data. */
  readonly applied: (kind: Stamp['kind'], name: string) => boolean;
  /**
   * Salt for the hashes of Secrets. It does not depend on the Secrets, so it stays the same when they are deleted and
   * created again.
   */
  readonly salt: string;
  /** Returns the live object; undefined if it does not exist. */
  readonly live: (kind: Stamp['kind'], name: string) => Promise<UnstructuredObject | undefined>;
  /** Returns the hash in the live workload; undefined if it has none. */
  readonly last: (stamp: Omit<Stamp, 'hash'>) => Promise<string | undefined>;
}

/**
 * Returns the hashes of the ConfigMaps and Secrets that the pods of `prepared` refer to or that `rolloutOn`
 * names. Objects outside the chain count only with `followReferences`, those with `rolloutOnChange: false` only if
 * `rolloutOn` names them. A chained object that is not yet applied is hashed as it is in the cluster, if it exists
 * there; the workload follows at its next reconcile.
 * An object that does not exist keeps the hash that the workload has, if pods can't start without it: its return
 * with equal data rolls nothing. Otherwise it has no hash. Jobs get no hashes: their template is immutable, and a
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
      const link = sources.chained(kind, name);
      if (link === undefined && !followReferences) return [];
      if (link?.rolloutOnChange === false && !rolloutOn.includes(name)) return [];
      const source = await sourceOf(link?.object, { kind, name, sources });
      if (source === undefined) {
        const isNeeded = isRequiredByPods(template, { kind, name });
        const last = isNeeded ? await sources.last({ kind, name }) : undefined;
        return last === undefined ? [] : [{ kind, name, hash: last }];
      }
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
  // No pod can start before the object exists, so pods will start with the desired data.
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

/** The data from which `stampSources` finds ConfigMaps and Secrets. */
export interface Known {
  readonly chain: Chain;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly of: Pick<ChainedObject, 'type' | 'ref' | 'link'>;
}

/** Returns sources that look in the chain, then in the objects applied by this run, then in the cluster. */
export function stampSources(
  context: Pick<RunContext, 'client' | 'settings'>,
  { chain, outcomes, of }: Known,
): StampSources {
  const { namespace } = of.ref;
  const refOf = (kind: 'ConfigMap' | 'Secret', name: string): ObjectReference => ({
    ...{ apiVersion: 'v1', kind, name },
    ...(namespace !== undefined && { namespace }),
  });
  return {
    salt: context.settings.owner.metadata.uid ?? '',
    chained: (kind, name) => chain.byId.get(refId(refOf(kind, name)))?.link,
    applied: (kind, name) => outcomes.get(refId(refOf(kind, name)))?.state === 'done',
    live: async (kind, name) => {
      const ref = refOf(kind, name);
      const outcome = outcomes.get(refId(ref));
      const applied = outcome?.state === 'failed' ? undefined : outcome?.live;
      return applied ?? readObject(context, stampTypes[kind], ref);
    },
    last: async (stamp) => {
      const live = await readObject(context, of.type, of.ref);
      const own = podTemplateIn(of.link.object)?.spec;
      const [first] = (live && podTemplateIn(live)?.spec?.containers) ?? [];
      const found = namesOf(stamp, own === undefined ? new Set() : ownVariables(own));
      return first?.env?.find(({ name }) => found.includes(name))?.value;
    },
  };
}
