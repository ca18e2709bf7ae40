import {
  comesBeforeWorkloads,
  comesLast,
  isContainer,
  isKind,
  pending,
  refId,
  stageOf,
} from '../apply/index.js';
import type { Candidate, ObjectResult, Outcome } from '../apply/index.js';
import {
  findCondition,
  describeObject,
  isJsonObject,
  CustomResourceDefinition,
  referenceTo,
} from '../object/index.js';
import type { Condition, KubernetesObject, TypeMeta, ResourceType } from '../object/index.js';
import { isOperatorError } from '../system/index.js';
import type { ChainedObject } from './chain.js';
import type { RunContext } from './context.js';
import { containersOf, definitionId } from './dependencies.js';
import type { Wait } from './successors.js';

/** The objects of a chain by phase. Each phase starts after the previous one ends. */
export interface Phases {
  /** Namespaces and CustomResourceDefinitions first, then the objects that pods need. */
  readonly early: readonly ChainedObject[];
  readonly workloads: readonly ChainedObject[];
  readonly late: readonly ChainedObject[];
  /** Webhook configurations: calls to the webhooks would fail before their backends exist. */
  readonly last: readonly ChainedObject[];
}

export function phasesOf(objects: readonly ChainedObject[]): Phases {
  const ofRank = (rank: number) => objects.filter(({ ref }) => pruningRankOf(ref) === rank);
  return {
    early: [...ofRank(4), ...ofRank(3)],
    workloads: ofRank(2),
    late: ofRank(1),
    last: ofRank(0),
  };
}

/** Returns the place of a kind in the order of pruning, from 0: the reverse of the order of the phases. */
export function pruningRankOf(type: TypeMeta): number {
  if (isContainer(type)) return 4;
  if (comesBeforeWorkloads(type)) return 3;
  if (stageOf(type) === 'workload') return 2;
  return comesLast(type) ? 0 : 1;
}

/**
 * Returns the kinds that CustomResourceDefinitions among `objects` define, by their {@link kindName}. Their
 * objects can be chained before the server serves the kinds.
 */
export function definedKinds(
  objects: readonly KubernetesObject[],
): ReadonlyMap<string, ResourceType<KubernetesObject>> {
  const definitions = objects.filter(isDefinition).map(({ spec }) => spec);
  return new Map(
    definitions.flatMap(({ group, names: { kind, plural }, scope, versions }) =>
      versions
        .filter(({ served }) => served)
        .map(({ name: version }) => {
          const namespaced = scope === 'Namespaced';
          const name = kindName({ apiVersion: `${group}/${version}`, kind });
          return [name, { group, version, kind, plural, namespaced }] as const;
        }),
    ),
  );
}

/** Returns the key of a kind in one version of its API. */
export function kindName({ apiVersion, kind }: TypeMeta): string {
  return `${apiVersion} ${kind}`;
}

function isDefinition(object: KubernetesObject): object is CustomResourceDefinition {
  if (!isKind(object, CustomResourceDefinition)) return false;
  // Ignore a malformed definition here: the server rejects it with the details when it is applied.
  const { spec } = object as Partial<CustomResourceDefinition>;
  const versions: unknown = spec?.versions;
  return Array.isArray(versions) && versions.every(isJsonObject) && isJsonObject(spec?.names);
}

const justAppliedMs = 1_000;
const establishingMs = 5_000;

/**
 * Returns the pending outcome of a custom resource whose definition was applied but is not yet in force; undefined if
 * the object may be applied. A server uses a changed schema only a moment after the change.
 * @param outcomes - the outcomes of the objects that were reconciled before, by id
 */
export async function waitForDefinition(
  { client }: RunContext,
  { ref, type }: ChainedObject,
  outcomes: ReadonlyMap<string, Outcome>,
): Promise<Outcome | undefined> {
  const outcome = outcomes.get(definitionId(type));
  if (outcome?.state !== 'done') return undefined;
  const { operation, ref: definition } = outcome.result;
  const wait = (how: string, requeueAfterMs: number): Outcome =>
    pending(ref, `waits for ${describeObject(definition)}, which ${how}`, { requeueAfterMs });
  if (operation === 'created' || isRedefined(outcome.result)) {
    return wait('was just applied', justAppliedMs);
  }
  const problem = whyNotEstablished(outcome.live);
  if (problem !== undefined) return wait(problem, establishingMs);
  const { apiVersion, kind } = ref;
  try {
    await client.resourceType({ apiVersion, kind });
    return undefined;
  } catch (error) {
    if (!isOperatorError(error, 'UnknownKind')) throw error;
    return wait(`is not served as ${apiVersion} yet`, justAppliedMs);
  }
}

// The repair of drift (a change with a `manager`) does not count. Otherwise a writer that keeps changing the
// definition would block the object forever.
function isRedefined({ changes }: ObjectResult): boolean {
  return changes.some(({ path, manager }) => path.startsWith('spec') && manager === undefined);
}

function whyNotEstablished(definition: object = {}): string | undefined {
  const { status = {} } = definition as {
    readonly status?: { readonly conditions?: readonly Condition[] | null };
  };
  const conditions = status.conditions ?? [];
  if (findCondition(conditions, 'Established')?.status === 'True') return undefined;
  const names = findCondition(conditions, 'NamesAccepted');
  const why = names?.status === 'False' ? `: ${names.message}` : '';
  return `is not established yet${why}`;
}

/**
 * Returns the Namespaces and CustomResourceDefinitions among `orphans` that still contain objects of the owner, with
 * the reason to wait. Deleting one would also delete its desired objects, and those that are never pruned.
 * @param controlled - everything that the owner controls
 */
export function occupiedContainers(
  orphans: readonly Candidate[],
  controlled: readonly Candidate[],
): ReadonlyMap<Candidate, Wait> {
  const waits = new Map<Candidate, Wait>();
  const going = new Set(orphans);
  for (const container of orphans.filter(({ object }) => isContainer(object))) {
    const id = refId(referenceTo(container.object));
    const contents = controlled.filter(({ type, object }) =>
      containersOf({ type, ref: referenceTo(object) }).includes(id),
    );
    const [first] = contents;
    if (first === undefined) continue;
    const isLeaving = (one: Candidate): boolean =>
      going.has(one) || one.object.metadata.deletionTimestamp !== undefined;
    waits.set(container, {
      reason: `${describeObject(first.object)} is still in it`,
      ...(contents.every(isLeaving) && { requeueAfterMs: justAppliedMs }),
    });
  }
  return waits;
}
