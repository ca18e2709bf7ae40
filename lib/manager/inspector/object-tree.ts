import { controllerUidIndex } from '../../cache/index.js';
import { isNotFound, describeObject, isJsonObject, keyOf, keyString } from '../../object/index.js';
import type { KubernetesObject, OwnerReference } from '../../object/index.js';
import type { Clock } from '../../system/index.js';
import type { ManagedCluster } from '../managed-cluster.js';
import { firstOf, maxRows, shownError } from './html.js';
import type { Shown } from './html.js';
import type { ShownObject } from './overview.js';

/** An object with its children in a tree. */
export interface TreeNode {
  readonly view: ObjectView;
  readonly children: readonly TreeNode[];
  /** Number of children that are not shown. */
  readonly more: number;
}

/** The owners and dependents of an object. */
export interface ObjectTree {
  readonly view: ObjectView;
  /** The owners of the object. The children of an owner in this tree are the owners of that owner. */
  readonly owners: readonly TreeNode[];
  /** The cached objects that the object controls. The children of each are the objects that it controls. */
  readonly dependents: readonly TreeNode[];
  readonly moreDependents: number;
  /** The kinds that were searched for dependents. */
  readonly searchedKinds: readonly string[];
}

/** Maximum number of generations in each direction. */
const maxDepth = 8;
/** Maximum number of dependents in all generations together. */
const maxDependents = 300;
/** Maximum number of reads from the server for one tree. */
const maxReads = 20;
/** Time for which a live page reuses a response of the server, in milliseconds. */
const freshMs = 10_000;
/** Kinds of which only the metadata is read from the server, since the rest is user data. */
const dataKinds: ReadonlySet<string> = new Set(['Secret', 'ConfigMap']);

interface Found {
  readonly view: ObjectView;
  readonly owners: readonly OwnerReference[];
}

/** State of a walk from an object to its owners. */
interface OwnerWalk {
  readonly budget: { reads: number };
  readonly seen: Set<string>;
  readonly signal: AbortSignal;
  readonly depth: number;
}

/**
 * Reads ownership trees of one cluster from its caches. Uncached owners are read from the server, with the
 * operator's permissions. Uncached dependents are not found: servers can't search by owner.
 */
export class ObjectTreeReader {
  readonly #cluster: ManagedCluster;
  readonly #clock: Clock;
  /** Responses of the server, by kind and key. */
  readonly #read = new Map<string, { readonly found: Found; readonly atMs: number }>();

  constructor(cluster: ManagedCluster, clock: Clock) {
    this.#cluster = cluster;
    this.#clock = clock;
  }

  /** @throws the signal's reason, as soon as it is aborted. */
  async read(object: ShownObject, signal: AbortSignal): Promise<ObjectTree> {
    this.#forgetOld();
    const budget = { reads: maxReads, dependents: maxDependents };
    const { view, owners } = await this.#find(object, budget, signal);
    const seen = new Set([view.object.uid ?? '']);
    const up = await this.#owners({ view, owners }, { budget, seen, signal, depth: 1 });
    const { nodes, more } = this.#dependents(view.object.uid, new Set(seen), { budget, depth: 1 });
    const kinds = new Set(this.#cluster.cache.status().map(({ kind }) => kind));
    return {
      ...{ view, owners: up, dependents: nodes, moreDependents: more },
      searchedKinds: [...kinds].sort(),
    };
  }

  /** A page may stay live for days, while the owners of the object change. */
  #forgetOld(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [id, { atMs }] of this.#read) if (nowMs - atMs >= freshMs) this.#read.delete(id);
  }

  async #owners({ view, owners }: Found, walk: OwnerWalk): Promise<readonly TreeNode[]> {
    const nodes: TreeNode[] = [];
    if (walk.depth > maxDepth) return nodes;
    for (const { apiVersion, kind, name, uid } of owners.slice(0, maxRows)) {
      // Owner references may form cycles.
      if (walk.seen.has(uid)) continue;
      walk.seen.add(uid);
      const { cluster, namespace } = view.object;
      const wanted = { cluster, apiVersion, kind, namespace, name, uid };
      const found = await this.#find(wanted, walk.budget, walk.signal);
      const children = await this.#owners(found, { ...walk, depth: walk.depth + 1 });
      nodes.push({ view: found.view, children, more: 0 });
    }
    return nodes;
  }

  #dependents(
    uid: string | undefined,
    seen: Set<string>,
    { budget, depth }: { readonly budget: { dependents: number }; readonly depth: number },
  ): { readonly nodes: readonly TreeNode[]; readonly more: number } {
    if (uid === undefined || uid === '' || depth > maxDepth) return { nodes: [], more: 0 };
    const found = this.#controlledBy(uid).filter(({ metadata }) => !seen.has(metadata.uid ?? ''));
    const shown = found.slice(0, Math.min(maxRows, budget.dependents));
    budget.dependents -= shown.length;
    for (const { metadata } of shown) seen.add(metadata.uid ?? '');
    const { name: cluster } = this.#cluster;
    const nodes = shown.map((object) => {
      const below = this.#dependents(object.metadata.uid, seen, { budget, depth: depth + 1 });
      const view = viewOf(object, { cluster, from: 'cache' });
      return { view, children: below.nodes, more: below.more };
    });
    return { nodes, more: found.length - shown.length };
  }

  /** Returns the cached objects that an object controls, ordered by kind and name. */
  #controlledBy(uid: string): readonly KubernetesObject[] {
    const { cache } = this.#cluster;
    const byUid = new Map<string, KubernetesObject>();
    for (const { apiVersion, kind, metadataOnly } of cache.status()) {
      const store = cache.peek({ apiVersion, kind }, metadataOnly)?.store;
      for (const object of store?.byIndex(controllerUidIndex, uid) ?? []) {
        const whole = { ...object, apiVersion, kind };
        // An object may be cached twice, whole and as metadata only. Prefer the whole object, which has conditions.
        if (!metadataOnly || !byUid.has(object.metadata.uid ?? '')) {
          byUid.set(object.metadata.uid ?? '', whole);
        }
      }
    }
    const sortKey = (object: KubernetesObject): string => describeObject(object);
    return [...byUid.values()].sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  }

  async #find(wanted: ShownObject, budget: { reads: number }, signal: AbortSignal): Promise<Found> {
    const cached = this.#cached(wanted);
    if (cached !== undefined) return cached;
    const id = `${wanted.apiVersion} ${wanted.kind} ${keyString(wanted)} ${wanted.uid ?? ''}`;
    const known = this.#read.get(id);
    if (known !== undefined) return known.found;
    if (budget.reads === 0) {
      const problem = `not read: the limit of ${maxReads} reads from the server is reached`;
      return { view: viewWithout(wanted, 'unreadable', problem), owners: [] };
    }
    budget.reads--;
    const found = await this.#fromServer(wanted, signal);
    signal.throwIfAborted();
    this.#read.set(id, { found, atMs: this.#clock.monotonicMs() });
    return found;
  }

  #cached(wanted: ShownObject): Found | undefined {
    const { apiVersion, kind, namespace, name, uid } = wanted;
    const { cache } = this.#cluster;
    for (const metadataOnly of [false, true]) {
      const informer = cache.peek({ apiVersion, kind }, metadataOnly);
      const bad = [{ namespace, name }, { name }].flatMap(
        (key) => informer?.quarantine.get(keyString(key)) ?? [],
      )[0];
      if (bad !== undefined) {
        const problem = `the object is quarantined: ${bad.reason}`;
        return { view: viewWithout(wanted, 'unreadable', problem), owners: [] };
      }
      // A namespaced object may have a cluster-scoped owner.
      const object = informer?.get({ namespace, name }) ?? informer?.get({ name });
      if (object === undefined) continue;
      if (uid !== undefined && object.metadata.uid !== uid) continue;
      return foundOf(
        { ...object, apiVersion, kind },
        { cluster: this.#cluster.name, from: 'cache' },
      );
    }
    return undefined;
  }

  async #fromServer(wanted: ShownObject, signal: AbortSignal): Promise<Found> {
    const { apiVersion, kind, namespace, name, uid } = wanted;
    const { given: client, name: cluster } = this.#cluster;
    try {
      const { namespaced } = await client.resourceType({ apiVersion, kind });
      const key = namespaced ? { namespace, name } : { name };
      const type = { apiVersion, kind };
      const object: KubernetesObject = await client.get(type, key, {
        ...{ signal, metadataOnly: dataKinds.has(kind) },
      });
      if (uid === undefined || object.metadata.uid === uid) {
        return foundOf({ ...object, apiVersion, kind }, { cluster, from: 'server' });
      }
      const problem = 'it is gone: the object of this name is another one (its UID differs)';
      return { view: viewWithout(wanted, 'gone', problem), owners: [] };
    } catch (error) {
      const from = isNotFound(error) ? 'gone' : 'unreadable';
      return { view: viewWithout(wanted, from, shownError(error)), owners: [] };
    }
  }
}

function foundOf(object: KubernetesObject, where: Parameters<typeof viewOf>[1]): Found {
  return { view: viewOf(object, where), owners: object.metadata.ownerReferences ?? [] };
}

/** A condition of an object's status. */
export interface ShownCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * The shown part of an object: its reference and its status conditions. Labels, annotations, spec and data
 * are never shown.
 */
export interface ObjectView {
  readonly object: ShownObject;
  /** Source of the object. `gone`: it does not exist, or has another UID. `unreadable`: see `problem`. */
  readonly from: 'cache' | 'server' | 'gone' | 'unreadable';
  readonly problem: string | undefined;
  readonly isBeingDeleted: boolean;
  readonly conditions: Shown<ShownCondition>;
}

const maxConditions = 20;
/** Maximum number of characters of a condition's message. */
const maxMessage = 300;

function viewOf(
  object: KubernetesObject,
  { cluster, from }: { readonly cluster: string; readonly from: 'cache' | 'server' },
): ObjectView {
  const { apiVersion, kind, metadata } = object;
  return {
    object: { cluster, apiVersion, kind, ...keyOf(object), uid: metadata.uid },
    ...{ from, problem: undefined },
    isBeingDeleted: metadata.deletionTimestamp !== undefined,
    conditions: conditionsOf(object),
  };
}

/** Returns the view of an object that could not be read. */
function viewWithout(
  object: ShownObject,
  from: 'gone' | 'unreadable',
  problem: string,
): ObjectView {
  return { object, from, problem, isBeingDeleted: false, conditions: { items: [], more: 0 } };
}

function conditionsOf(object: KubernetesObject): Shown<ShownCondition> {
  // A custom resource's status may have any shape.
  const { status } = object as { readonly status?: unknown };
  const conditions: unknown = isJsonObject(status) ? status['conditions'] : undefined;
  if (!Array.isArray(conditions)) return { items: [], more: 0 };
  const found = conditions.flatMap((condition: unknown) => {
    if (!isJsonObject(condition) || typeof condition['type'] !== 'string') return [];
    const { type, status: state, reason, message } = condition;
    return [
      {
        type,
        status: text(state),
        reason: text(reason),
        message: text(message).slice(0, maxMessage),
      },
    ];
  });
  return firstOf(found, maxConditions);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
