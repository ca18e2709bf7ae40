import partition from 'lodash/partition.js';
import {
  appliedHashAnnotation,
  checkDeletions,
  isAbsentKind,
  kindKey,
  managedByLabel,
  mayBePruned,
  ownershipOf,
  scopeLabel,
} from '../apply/index.js';
import type { Candidate } from '../apply/index.js';
import { isForbidden } from '../object/api-error.js';
import { Namespace, PersistentVolumeClaim } from '../object/kinds.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import { labelValueOf } from '../object/label-value.js';
import { appliedFields } from '../object/managed-fields.js';
import { referenceTo } from '../object/object-reference.js';
import { ownerUidLabel } from '../object/owner-reference.js';
import type { ResourceType } from '../object/resource-type.js';
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

/** What is to be done about an object that the chain does not name (any longer). */
export type PruneDecision =
  | { readonly action: 'prune'; readonly candidate: Candidate }
  | (Wait & { readonly action: 'wait'; readonly candidate: Candidate });

/** What is going to be there once the chain is reconciled, where it is not yet. */
export interface Forecast extends Pick<Uses, 'becoming'> {
  /** How many objects of the chain are about to be created. @defaultValue 0 */
  readonly coming?: number;
  /** Why nothing is pruned. @defaultValue what can go goes */
  readonly hold?: string | undefined;
}

/**
 * Finds what the owner has and the chain does not name, and decides what becomes of it: first what
 * goes, then what waits. Costs no API call with a cached client.
 * @throws OperatorError `TooManyDeletions`
 */
export async function decidePruning(
  context: RunContext,
  chain: Chain,
  { becoming, coming = 0, hold }: Forecast = {},
): Promise<readonly PruneDecision[]> {
  const { settings } = context;
  const controlled = await listControlled(context, chain);
  const owned = controlled.filter(({ object }) => isOfChains(object, settings));
  const undesired = owned.filter(({ object }) => !chain.store.has(referenceTo(object)));
  const orphans = undesired.filter(({ object }) => mayBePruned(object, settings));
  const workloads = await workloadsInUse(context, chain, orphans);
  const staying = [...workloads.values()].map(({ live }) => live);
  const uses = await stillInUse(context, { chain, orphans, staying, becoming });
  const unneeded = orphans.filter((each) => !workloads.has(each) && !uses.has(each));
  const occupied = occupiedContainers(unneeded, controlled);
  const kept = owned.length - undesired.length + coming;
  if (hold === undefined) checkDeletions(context, orphans, { owned: owned.length, staying: kept });
  const decisions = orphans.map((candidate): PruneDecision => {
    const known = workloads.get(candidate) ?? occupied.get(candidate);
    const reason = known?.reason ?? uses.get(candidate) ?? hold;
    if (reason === undefined) return { action: 'prune', candidate };
    const again = known?.requeueAfterMs !== undefined && { requeueAfterMs: known.requeueAfterMs };
    return { action: 'wait', candidate, reason, ...again };
  });
  const [going, waiting] = partition(decisions, ({ action }) => action === 'prune');
  return [...going, ...waiting];
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

function typeMeta(type: ResourceType<KubernetesObject>): { apiVersion: string; kind: string } {
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
  return { apiVersion, kind: type.kind };
}
