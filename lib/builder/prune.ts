import { isForbidden, isNotFound } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import { PersistentVolumeClaim } from '../object/kinds.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import { labelValueOf } from '../object/label-value.js';
import { referenceTo } from '../object/object-reference.js';
import type { ResourceType } from '../object/resource-type.js';
import { isOperatorError, OperatorError } from '../system/operator-error.js';
import type { BuilderSettings } from './builder-options.js';
import type { Candidate } from './candidate.js';
import { servedType } from './chain.js';
import type { Chain } from './chain.js';
import type { RunContext } from './context.js';
import { builtInTypes, isKind, kindKey } from './kind-traits.js';
import { managedByLabel, ownerUidLabel } from './marks.js';
import { mayBePruned } from './delete-orphan.js';
import { ownershipOf } from './ownership.js';
import { stillInUse } from './still-in-use.js';
import type { Uses } from './still-in-use.js';

/** What pruning found. */
export interface PruneCandidates {
  /** To be deleted. */
  readonly orphans: readonly Candidate[];
  /** No longer desired, but needed until a workload that still uses it is updated. */
  readonly inUse: readonly { readonly candidate: Candidate; readonly reason: string }[];
  /** How many objects the owner has, desired ones included. */
  readonly owned: number;
}

/**
 * Finds what the owner has and the chain does not name. Costs no API call with a cached client.
 * @param becoming - see {@link Uses}
 */
export async function findOrphans(
  context: RunContext,
  chain: Chain,
  becoming?: Uses['becoming'],
): Promise<PruneCandidates> {
  const owned = await listOwned(context, chain);
  const orphans = owned.filter(
    ({ object }) => !chain.store.has(referenceTo(object)) && mayBePruned(object, context.settings),
  );
  const uses = await stillInUse(context, {
    ...{ chain, orphans },
    ...(becoming !== undefined && { becoming }),
  });
  const reasonOf = (candidate: Candidate): string | undefined => uses.get(candidate);
  return {
    orphans: orphans.filter((candidate) => reasonOf(candidate) === undefined),
    inUse: orphans.flatMap((candidate) => {
      const reason = reasonOf(candidate);
      return reason === undefined ? [] : [{ candidate, reason }];
    }),
    owned: owned.length,
  };
}

/**
 * Refuses to delete more than `maxDeletions` allows.
 * @throws OperatorError `TooManyDeletions`, with the list; nothing was deleted.
 */
export function checkDeletions(settings: BuilderSettings, found: PruneCandidates): void {
  const { orphans, owned } = found;
  const limit = settings.maxDeletions(owned);
  if (orphans.length <= limit) return;
  const names = orphans.map(({ object }) => describeObject(object)).join(', ');
  const message = `${describeObject(settings.owner)}: pruning would delete ${orphans.length} of ${owned} objects, maxDeletions allows ${limit}; nothing was deleted. Raise maxDeletions if this is meant: ${names}`;
  throw new OperatorError('TooManyDeletions', message);
}

async function listOwned(context: RunContext, chain: Chain): Promise<readonly Candidate[]> {
  const types = await visitedTypes(context, chain);
  const forbidden: string[] = [];
  const lists = await Promise.all(
    types.map(async (type) => {
      try {
        return await listOfType(context, type, chain);
      } catch (error) {
        if (!isForbidden(error) && !isAbsentKind(error)) throw error;
        if (isForbidden(error)) forbidden.push(type.plural);
        return [];
      }
    }),
  );
  if (forbidden.length > 0) reportForbidden(context, forbidden.sort());
  return lists.flat();
}

function reportForbidden({ report, settings }: RunContext, kinds: readonly string[]): void {
  const note = `not pruned, for they can't be listed: ${kinds.join(', ')}; give the operator the verb list for them, or name the kinds that it owns`;
  const related = referenceTo(settings.owner);
  report({ type: 'Warning', reason: 'PruneForbidden', action: 'Prune', note, related });
}

// Kinds of the chain are visited too, and so are kinds that are no longer chained: that is how the
// last ConfigMap goes.
async function visitedTypes(
  { client, settings }: RunContext,
  chain: Chain,
): Promise<readonly ResourceType<KubernetesObject>[]> {
  const named = await Promise.all(
    (settings.owns ?? builtInTypes).map(async (type) => {
      try {
        return [await servedType(client, type)];
      } catch (error) {
        if (isOperatorError(error, 'UnknownKind')) return [];
        throw error;
      }
    }),
  );
  const all = [...named.flat(), ...chain.objects.map(({ type }) => type)];
  const byKind = new Map(all.map((type) => [kindKey(type), type] as const));
  // A namespaced owner has nothing in the cluster's own kinds.
  const { namespace = '' } = settings.owner.metadata;
  return [...byKind.values()].filter((type) => type.namespaced || namespace === '');
}

async function listOfType(
  { client, settings }: RunContext,
  type: ResourceType<KubernetesObject>,
  chain: Chain,
): Promise<readonly Candidate[]> {
  const { owner, controllerName, signal } = settings;
  const uid = owner.metadata.uid ?? '';
  const ours = `${managedByLabel}=${labelValueOf(controllerName)}`;
  const namespaces = type.namespaced ? namespacesOf(settings, chain) : [undefined];
  const lists = await Promise.all(
    namespaces.flatMap((namespace) => [
      client.list(type, { namespace, controllerUid: uid, labelSelector: ours, signal }),
      ...(isKind({ apiVersion: '', kind: type.kind }, PersistentVolumeClaim)
        ? [
            client.list(type, {
              ...{ namespace, signal },
              labelSelector: `${ours},${ownerUidLabel}=${uid}`,
            }),
          ]
        : []),
    ]),
  );
  const objects = lists.flatMap(({ items }) => items as unknown as UnstructuredObject[]);
  return objects
    .filter((object) => ownershipOf(object, owner).state === 'ours')
    .map((object) => ({ type, object: { ...object, ...typeMeta(type) } }));
}

// A cluster-scoped owner without a namespace may have objects in any.
function namespacesOf(settings: BuilderSettings, chain: Chain): readonly (string | undefined)[] {
  if (settings.namespace === undefined) return [undefined];
  const chained = chain.objects.flatMap(({ ref }) => ref.namespace ?? []);
  return [...new Set([settings.namespace, ...chained])];
}

function isAbsentKind(error: unknown): boolean {
  return isNotFound(error) || isOperatorError(error, 'UnknownKind');
}

function typeMeta(type: ResourceType<KubernetesObject>): { apiVersion: string; kind: string } {
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
  return { apiVersion, kind: type.kind };
}
