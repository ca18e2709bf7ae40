import partition from 'lodash/partition.js';
import {
  appliedHashAnnotation,
  kindKey,
  managedByLabel,
  mayBePruned,
  ownershipOf,
  scopeLabel,
} from '../apply/index.js';
import type { Candidate, PruneCandidates } from '../apply/index.js';
import { isForbidden, isNotFound } from '../object/api-error.js';
import { Namespace, PersistentVolumeClaim } from '../object/kinds.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import { labelValueOf } from '../object/label-value.js';
import { appliedFields } from '../object/managed-fields.js';
import { referenceTo } from '../object/object-reference.js';
import { ownerUidLabel } from '../object/owner-reference.js';
import type { ResourceType } from '../object/resource-type.js';
import { isOperatorError } from '../system/operator-error.js';
import { occupiedContainers } from './apply-order.js';
import type { BuilderSettings } from './builder-options.js';
import type { Chain } from './chain.js';
import type { RunContext } from './context.js';
import { stillInUse } from './still-in-use.js';
import type { Uses } from './still-in-use.js';
import { workloadsInUse } from './successors.js';
import type { Wait } from './successors.js';
import { visitedKinds } from './visited-kinds.js';

type Type = ResourceType<KubernetesObject>;

/** Where objects are looked for; undefined: in the whole cluster. */
type Places = readonly (string | undefined)[];

const namespaceKey = kindKey(Namespace);

/**
 * Finds what the owner has and the chain does not name. Costs no API call with a cached client.
 * @param becoming - see {@link Uses}
 */
export async function findOrphans(
  context: RunContext,
  chain: Chain,
  becoming?: Uses['becoming'],
): Promise<PruneCandidates> {
  const controlled = await listControlled(context, chain);
  const owned = controlled.filter(({ object }) => isOfChains(object, context.settings));
  const undesired = owned.filter(({ object }) => !chain.store.has(referenceTo(object)));
  const orphans = undesired.filter(({ object }) => mayBePruned(object, context.settings));
  const workloads = await workloadsInUse(context, chain, orphans);
  const uses = await stillInUse(context, {
    ...{ chain, orphans, staying: [...workloads.values()].map(({ live }) => live) },
    ...(becoming !== undefined && { becoming }),
  });
  const isNeeded = (candidate: Candidate): boolean =>
    workloads.has(candidate) || uses.has(candidate);
  const unneeded = orphans.filter((candidate) => !isNeeded(candidate));
  const occupied = occupiedContainers(unneeded, controlled);
  const waitOf = (candidate: Candidate): Wait | undefined => {
    const reason = uses.get(candidate);
    const wait = workloads.get(candidate) ?? occupied.get(candidate);
    return wait ?? (reason === undefined ? undefined : { reason });
  };
  return {
    orphans: orphans.filter((candidate) => waitOf(candidate) === undefined),
    inUse: orphans.flatMap((candidate) => {
      const wait = waitOf(candidate);
      return wait === undefined ? [] : [{ ...wait, candidate }];
    }),
    owned: owned.length,
    desired: owned.length - undesired.length,
  };
}

/** The objects that the owner controls, of the kinds that pruning visits, whichever chain made them. */
async function listControlled(context: RunContext, chain: Chain): Promise<readonly Candidate[]> {
  const { types, note } = await visitedKinds(context, chain);
  const forbidden: string[] = [];
  const list = async (type: Type, places: Places): Promise<readonly Candidate[]> => {
    try {
      return await listOfType(context, type, places);
    } catch (error) {
      if (!isForbidden(error) && !isAbsentKind(error)) throw error;
      if (isForbidden(error)) forbidden.push(type.plural);
      return [];
    }
  };
  const [[namespaceType], others] = partition(types, (type) => kindKey(type) === namespaceKey);
  const namespaces = namespaceType === undefined ? [] : await list(namespaceType, [undefined]);
  const places = placesOf(context.settings, chain, namespaces);
  const lists = await Promise.all(
    others.map((type) => list(type, type.namespaced ? places : [undefined])),
  );
  const found = [...namespaces, ...lists.flat()];
  if (forbidden.length > 0) reportForbidden(context, forbidden.sort());
  note(found.map(({ type }) => type));
  return found;
}

function reportForbidden({ report, settings }: RunContext, kinds: readonly string[]): void {
  const note = `not pruned, for they can't be listed: ${kinds.join(', ')}; give the operator the verb list for them, or name the kinds that it owns`;
  const related = referenceTo(settings.owner);
  report({ type: 'Warning', reason: 'PruneForbidden', action: 'Prune', note, related });
}

async function listOfType(
  { client, settings }: RunContext,
  type: Type,
  places: Places,
): Promise<readonly Candidate[]> {
  const { owner, signal } = settings;
  const uid = owner.metadata.uid ?? '';
  const lists = await Promise.all(
    places.flatMap((namespace) => {
      const options = { namespace, signal, metadataOnly: true };
      const owned = client.list(type, { ...options, controllerUid: uid });
      if (kindKey(type) !== kindKey(PersistentVolumeClaim)) return [owned];
      return [owned, client.list(type, { ...options, labelSelector: `${ownerUidLabel}=${uid}` })];
    }),
  );
  const objects = lists.flatMap(({ items }) => items as unknown as UnstructuredObject[]);
  return objects
    .filter((object) => ownershipOf(object, owner).state === 'ours')
    .map((object) => ({ type, object: { ...object, ...typeMeta(type) } }));
}

// The owner may have objects by other means, too. A label that somebody has taken off is no reason to
// lose sight of an object: what we have applied, and nobody since, is still said by its managedFields.
function isOfChains(object: KubernetesObject, settings: BuilderSettings): boolean {
  const { controllerName, scope } = settings;
  const { labels = {}, annotations = {} } = object.metadata;
  if (labels[scopeLabel] !== scope) return false;
  if (labels[managedByLabel] === labelValueOf(controllerName)) return true;
  if (annotations[appliedHashAnnotation] === undefined) return false;
  return appliedFields(object, controllerName) !== undefined;
}

// A cluster-scoped owner without a namespace may have objects in any.
function placesOf(settings: BuilderSettings, chain: Chain, made: readonly Candidate[]): Places {
  if (settings.namespace === undefined) return [undefined];
  const chained = chain.objects.flatMap(({ ref }) => ref.namespace ?? []);
  const own = made.flatMap(({ object }) => object.metadata.name ?? []);
  return [...new Set([settings.namespace, ...chained, ...own])];
}

function isAbsentKind(error: unknown): boolean {
  return isNotFound(error) || isOperatorError(error, 'UnknownKind');
}

function typeMeta(type: ResourceType<KubernetesObject>): { apiVersion: string; kind: string } {
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
  return { apiVersion, kind: type.kind };
}
