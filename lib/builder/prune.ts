import {
  builtInTypes,
  checkDeletions,
  comesBeforeWorkloads,
  isAppliedBy,
  isHeld,
  isKind,
  kindKey,
  listOfKind,
  mayBePruned,
  ownershipOf,
  podReferencesOf,
  podTemplateIn,
  podTemplatePath,
  readObject,
  reasonOfLeaving,
  refId,
  retryHeld,
  rollsPods,
  servedTypes,
} from '../apply/index.js';
import type { Candidate, PodTemplate, Pruning, Waiting } from '../apply/index.js';
import {
  apiVersionOf,
  isForbidden,
  describeObject,
  ClusterRoleBinding,
  ConfigMap,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  RoleBinding,
  Secret,
  ServiceAccount,
  referenceTo,
  ownerUidLabel,
  rolloutStatus,
} from '../object/index.js';
import type {
  KubernetesObject,
  UnstructuredObject,
  LabelSelector,
  ResourceType,
} from '../object/index.js';
import { LruMap } from '../system/index.js';
import { occupiedContainers, pruningRankOf } from './apply-order.js';
import type { BuilderSettings } from './builder-options.js';
import type { Chain, ChainedObject } from './chain.js';
import type { RunContext } from './context.js';
import { workloadsInUse } from './successors.js';
import type { Wait } from './successors.js';

type Type = ResourceType<KubernetesObject>;

/** Namespaces to list; undefined stands for the whole cluster. */
type Places = readonly (string | undefined)[];

const namespaceKey = kindKey(Namespace);

/** The action for an owned object that is not in the chain. */
export type PruneDecision = (Pruning | Waiting) & { readonly candidate: Candidate };

/** State that a plan expects after the chain is reconciled. */
export interface Forecast extends Pick<Uses, 'becoming'> {
  /** Number of objects that are about to be created. @defaultValue 0 */
  readonly coming?: number;
  /** Reason to prune nothing. @defaultValue undefined: prune what can be pruned */
  readonly hold?: string | undefined;
}

/**
 * Finds the owned objects that are not in the chain and decides what to do with them. Returns the objects to
 * prune first, in the order of their deletion, then those that wait. Makes no API calls with a cached client.
 * @throws OperatorError `TooManyDeletions`
 */
export async function decidePruning(
  context: RunContext,
  chain: Chain,
  { becoming, coming = 0, hold }: Forecast = {},
): Promise<readonly PruneDecision[]> {
  const { settings } = context;
  const controlled = await listControlled(context, chain);
  const owned = controlled.filter(({ object }) => isAppliedBy(object, settings));
  const undesired = owned.filter(({ object }) => !chain.store.has(referenceTo(object)));
  const prunable = undesired.filter(({ object }) => mayBePruned(object, settings));
  const others = undesired.filter(({ object }) => !mayBePruned(object, settings));
  const needed = await neededBy(context, others, prunable);
  const neededToo = await neededByAccounts(context, prunable, needed);
  const orphans = prunable.filter((one) => !needed.has(one) && !neededToo.has(one));
  const workloads = await workloadsInUse(context, chain, orphans);
  const staying = [...workloads.values()].map(({ live }) => live);
  const uses = await stillInUse(context, { chain, orphans, staying, becoming });
  const unneeded = orphans.filter((each) => !workloads.has(each) && !uses.has(each));
  const occupied = occupiedContainers(unneeded, controlled);
  const held = others.map(({ object }) => object).filter(isHeld);
  const counts = {
    owned: owned.length + coming,
    staying: owned.length - undesired.length + coming,
  };
  if (hold === undefined) checkDeletions(context, orphans, counts);
  const decisions = orphans.map((candidate): PruneDecision => {
    const known =
      workloads.get(candidate) ?? occupied.get(candidate) ?? waitForHeld(candidate, held);
    const reason = known?.reason ?? uses.get(candidate) ?? hold;
    const live = candidate.object;
    if (reason === undefined) return { action: 'prune', live, candidate };
    const again = known?.requeueAfterMs !== undefined && { requeueAfterMs: known.requeueAfterMs };
    return { action: 'wait', live, candidate, reason, blocks: false, ...again };
  });
  const rankOf = ({ action, candidate }: PruneDecision): number =>
    action === 'prune' ? pruningRankOf(candidate.object) : Number.MAX_VALUE;
  return decisions.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Returns why an orphan is not pruned yet: the controller of an object that is `held` may need it. */
function waitForHeld({ object }: Candidate, held: readonly UnstructuredObject[]): Wait | undefined {
  const holder = held.find((each) => pruningRankOf(each) < pruningRankOf(object));
  if (holder === undefined) return undefined;
  return { reason: `${describeObject(holder)} ${reasonOfLeaving(holder)}`, ...retryHeld };
}

/** Returns all objects that the owner controls, from any chain, of the kinds that pruning visits. */
async function listControlled(context: RunContext, chain: Chain): Promise<readonly Candidate[]> {
  const { types, note } = await visitedKinds(context, chain);
  const forbidden: string[] = [];
  const list = async (type: Type, places: Places): Promise<readonly Candidate[]> => {
    try {
      return await listOfType(context, type, places);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      forbidden.push(type.plural);
      return [];
    }
  };
  const namespaceType = types.find((type) => kindKey(type) === namespaceKey);
  const others = types.filter((type) => type !== namespaceType);
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
  const note = `kinds not pruned, because the operator can't list them: ${kinds.join(', ')}; give it the verb list for them, or set owns`;
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
      const owned = listOfKind(client, type, { ...options, controllerUid: uid });
      if (kindKey(type) !== kindKey(PersistentVolumeClaim)) return [owned];
      const labelSelector = `${ownerUidLabel}=${uid}`;
      return [owned, listOfKind(client, type, { ...options, labelSelector })];
    }),
  );
  return lists
    .flat()
    .filter((object) => ownershipOf(object, owner).state === 'ours')
    .map((object) => ({ type, object }));
}

// A cluster-scoped owner without the option `namespace` may have objects in any namespace.
function placesOf(settings: BuilderSettings, chain: Chain, made: readonly Candidate[]): Places {
  if (settings.namespace === undefined) return [undefined];
  const chained = chain.objects.flatMap(({ ref }) => ref.namespace ?? []);
  const own = made.flatMap(({ object }) => object.metadata.name ?? []);
  const coming = chain.objects.filter(({ type }) => kindKey(type) === namespaceKey);
  const lasting = new Set([settings.namespace, ...own, ...coming.map(({ ref }) => ref.name)]);
  const passing = chained.find((namespace) => !lasting.has(namespace));
  if (passing !== undefined) warnOfPassing(settings, passing);
  return [...new Set([settings.namespace, ...own, ...chained])];
}

const warnedControllers = new Set<string>();

/** Warns that pruning visits a namespace only while the chain has objects there. */
function warnOfPassing({ controllerName, namespace, logger }: BuilderSettings, passing: string) {
  if (warnedControllers.has(controllerName)) return;
  warnedControllers.add(controllerName);
  const problem = `with the option namespace (${namespace}), objects in ${passing} are not pruned once the chain has no object there`;
  logger.warn(`${problem}; give each object its namespace instead of the option`, {
    controllerName,
  });
}

export interface VisitedKinds {
  readonly types: readonly Type[];
  /** Remembers the kinds that the owner has objects of, after the listing. */
  readonly note: (found: readonly Type[]) => void;
}

/** The kinds that an owner has objects of, as known to this process. */
interface KnownKinds {
  /** Time of the last sweep of all kinds; -Infinity before the first. */
  readonly sweptAt: number;
  readonly kinds: Map<string, Type>;
}

// Interval of the sweeps that list all built-in kinds. Between sweeps, only kinds with known objects are
// listed: only chains create these objects, so other kinds stay empty until a chain of this process adds one.
// A sweep also finds objects of other processes, such as an earlier leader or version.
const sweepEveryMs = 10 * 60_000;
const mostOwners = 10_000;
const known = new LruMap<string, KnownKinds>(mostOwners);

/**
 * Returns the kinds that one pruning lists: those of the chain, those that the controller owns, and those of
 * which the owner is known to have objects. So even the last ConfigMap of an owner is pruned. Without
 * declared kinds, all built-in kinds are swept periodically.
 */
export async function visitedKinds(context: RunContext, chain: Chain): Promise<VisitedKinds> {
  const { settings, client } = context;
  const { clock, owns, owner } = settings;
  const chained = chain.objects.map(({ type }) => type);
  const before = known.get(ownerKey(context));
  // `Math.abs` because a wall clock may jump back.
  const isSwept = before !== undefined && Math.abs(clock.now() - before.sweptAt) < sweepEveryMs;
  const isSweep = owns === undefined && !isSwept;
  if (isSweep) noteSweeps(settings);
  const declared = await servedTypes(client, owns ?? (isSweep ? builtInTypes : []));
  const all = byKind([...declared, ...chained, ...(before?.kinds.values() ?? [])]);
  // A namespaced owner can't own cluster-scoped objects.
  const { namespace = '' } = owner.metadata;
  const types = [...all.values()].filter((type) => type.namespaced || namespace === '');
  const sweptAt = isSweep ? clock.now() : (before?.sweptAt ?? Number.NEGATIVE_INFINITY);
  return {
    types,
    note: (found) => {
      // Only a sweep removes kinds from this memory. A plan shares the memory and prunes nothing, so it must not remove
      // kinds.
      const kept = isSweep ? [] : (before?.kinds.values() ?? []);
      known.set(ownerKey(context), { sweptAt, kinds: byKind([...found, ...chained, ...kept]) });
    },
  };
}

const sweepingControllers = new Set<string>();

function noteSweeps({ controllerName, logger }: BuilderSettings): void {
  if (sweepingControllers.has(controllerName)) return;
  sweepingControllers.add(controllerName);
  const cost = { kinds: builtInTypes.length, everyMs: sweepEveryMs };
  const fields = { controllerName, ...cost, remedy: 'set owns' };
  logger.info('pruning without owns lists every kind for each owner', fields);
}

function byKind(types: readonly Type[]): Map<string, Type> {
  return new Map(types.map((type) => [kindKey(type), type]));
}

function ownerKey({ settings }: RunContext): string {
  const { owner, controllerName, scope = '' } = settings;
  return [owner.metadata.uid, controllerName, scope].join('/');
}

/** Returns the candidates of `prunable` that pods of the workloads among `others` need to restart. */
async function neededBy(
  context: RunContext,
  others: readonly Candidate[],
  prunable: readonly Candidate[],
): Promise<ReadonlySet<Candidate>> {
  const candidates = prunable.filter(({ object }) => isNeededByPods(object));
  if (candidates.length === 0) return new Set();
  const workloads = others.filter(
    ({ object }) =>
      podTemplatePath(object) !== undefined && object.metadata.deletionTimestamp === undefined,
  );
  const users = await usersOf(
    context,
    workloads.map(({ type, object }) => ({ type, ref: referenceTo(object) })),
  );
  return new Set(candidates.filter((one) => users.some((user) => refersTo(user, one))));
}

/**
 * Returns the `orphans` that the ServiceAccounts among `staying` need: the Secrets by which their pods pull images, the
 * RoleBindings and ClusterRoleBindings that name them, and the roles of these bindings.
 */
async function neededByAccounts(
  context: RunContext,
  orphans: readonly Candidate[],
  staying: { readonly has: (one: Candidate) => boolean },
): Promise<ReadonlySet<Candidate>> {
  const found = new Set<Candidate>();
  const accounts = orphans.filter((one) => isKind(one.object, ServiceAccount) && staying.has(one));
  if (accounts.length === 0) return found;
  const idOf = ({ object }: Candidate): string => refId(referenceTo(object));
  for (const { type, object } of accounts) {
    const live = (await readObject(context, type, referenceTo(object))) as
      ServiceAccount | undefined;
    const { namespace } = object.metadata;
    const secrets = (live?.imagePullSecrets ?? []).map(({ name = '' }) =>
      refId({ apiVersion: apiVersionOf(Secret), kind: Secret.kind, namespace, name }),
    );
    for (const one of orphans) if (secrets.includes(idOf(one))) found.add(one);
  }
  const ids = new Set(accounts.map(idOf));
  const bindings = orphans.filter(({ object }) =>
    bindingTypes.some((type) => isKind(object, type)),
  );
  for (const binding of bindings) {
    const live = await readObject(context, binding.type, referenceTo(binding.object));
    const { subjects = [], roleRef, metadata } = (live ?? binding.object) as Partial<RoleBinding>;
    const place = metadata?.namespace;
    const isNamed = subjects.some(({ kind, name, namespace = place }) =>
      ids.has(refId({ apiVersion: apiVersionOf(ServiceAccount), kind, name, namespace })),
    );
    if (!isNamed || roleRef === undefined) continue;
    const { apiGroup, kind, name } = roleRef;
    const role = { apiVersion: `${apiGroup}/v1`, kind, name };
    const roleIds = [refId(role), refId({ ...role, namespace: place })];
    for (const one of orphans) if (one === binding || roleIds.includes(idOf(one))) found.add(one);
  }
  return found;
}

const bindingTypes = [RoleBinding, ClusterRoleBinding];

/** The input of {@link stillInUse}. */
export interface Uses {
  readonly chain: Chain;
  readonly orphans: readonly Candidate[];
  /**
   * Workloads that are no longer in the chain and not pruned yet. Objects that they may need are not pruned either.
   */
  readonly staying: readonly UnstructuredObject[];
  /** Workloads as they will be after the reconcile, by id. @defaultValue an empty map */
  readonly becoming?: ReadonlyMap<string, UnstructuredObject> | undefined;
}

/**
 * Returns the orphans that are still in use, with the reason. An orphan is in use if a live workload of the
 * chain, or a pod that it has not replaced yet, refers to it. Without the orphan, such a pod could not
 * restart while its workload waits for its update, or while a rollout is progressing or stuck.
 */
export async function stillInUse(
  context: RunContext,
  { chain, orphans, staying, becoming = new Map() }: Uses,
): Promise<ReadonlyMap<Candidate, string>> {
  const uses = new Map<Candidate, string>();
  for (const candidate of orphans) {
    const user = staying.find((each) => mayNeed(each, candidate));
    if (user !== undefined)
      uses.set(candidate, `${describeObject(user)}, which is not pruned yet, may need it`);
  }
  const needed = orphans.filter((one) => isNeededByPods(one.object) && !uses.has(one));
  const workloads = chain.objects.filter(({ ref }) => podTemplatePath(ref) !== undefined);
  const users = needed.length === 0 ? [] : await usersOf(context, workloads, becoming);
  for (const candidate of needed) {
    const user = users.find((one) => refersTo(one, candidate));
    if (user !== undefined) uses.set(candidate, `${describeObject(user)} still refers to it`);
  }
  for (const one of await neededByAccounts(context, orphans, uses)) {
    uses.set(one, 'a ServiceAccount that is not pruned yet needs it');
  }
  return uses;
}

/** Returns the workloads, and the pods that they have not replaced yet. */
async function usersOf(
  context: RunContext,
  workloads: readonly Pick<ChainedObject, 'type' | 'ref'>[],
  becoming: ReadonlyMap<string, UnstructuredObject> = new Map(),
): Promise<readonly UnstructuredObject[]> {
  const found = await Promise.all(
    workloads.map(async ({ type, ref }) => {
      const planned = becoming.get(refId(ref));
      if (planned !== undefined) return [planned];
      const live = await readObject(context, type, ref);
      return live === undefined ? [] : [live, ...(await oldPods(context, live))];
    }),
  );
  return found.flat();
}

/** Returns the pods of `live` if some may be older than its template. */
async function oldPods(
  { client, settings }: RunContext,
  live: UnstructuredObject,
): Promise<readonly UnstructuredObject[]> {
  if (!mayHaveOldPods(live)) return [];
  const { namespace } = live.metadata;
  const { selector: labelSelector } = live['spec'] as { readonly selector?: LabelSelector };
  try {
    const pods = await client.list(Pod, { namespace, labelSelector, signal: settings.signal });
    const staying = pods.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return staying.map((pod) => ({ ...pod, apiVersion: 'v1', kind: 'Pod' }));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const remedy =
      'give the operator the verb list for pods, so that nothing is pruned that they use';
    settings.logger.warn(remedy, { name: describeObject(live) });
    return [];
  }
}

/** A workload with the strategy OnDelete counts as rolled out, but may have outdated pods. */
function mayHaveOldPods(workload: UnstructuredObject): boolean {
  if (!rollsPods(workload)) return false;
  if (!rolloutStatus(workload).complete) return true;
  const status = (workload['status'] ?? {}) as Readonly<Record<string, number | undefined>>;
  const { replicas = 0, updatedReplicas = 0 } = status;
  const { currentNumberScheduled = 0, updatedNumberScheduled = 0 } = status;
  return updatedReplicas < replicas || updatedNumberScheduled < currentNumberScheduled;
}

function mayNeed(workload: UnstructuredObject, { object }: Candidate): boolean {
  const isNear = workload.metadata.namespace === object.metadata.namespace;
  return isNear && comesBeforeWorkloads(object);
}

function isNeededByPods(object: UnstructuredObject): boolean {
  return [ConfigMap, Secret, ServiceAccount, PersistentVolumeClaim].some((type) =>
    isKind(object, type),
  );
}

function refersTo(user: UnstructuredObject, { object }: Candidate): boolean {
  // A pod has these references in its own spec, a workload in its template.
  const template = isKind(user, Pod) ? (user as PodTemplate) : podTemplateIn(user);
  if (template === undefined || user.metadata.namespace !== object.metadata.namespace) {
    return false;
  }
  const { configMaps, secrets, nodeSecrets, claims, serviceAccount } = podReferencesOf(template);
  const { name = '' } = object.metadata;
  if (isKind(object, ConfigMap)) return configMaps.includes(name);
  if (isKind(object, Secret)) return secrets.includes(name) || nodeSecrets.includes(name);
  if (isKind(object, PersistentVolumeClaim)) return claims.includes(name);
  return serviceAccount === name;
}
