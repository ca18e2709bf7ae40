import { hash } from 'node:crypto';
import { rollsPods } from '../apply/index.js';
import type { ObjectResult } from '../apply/index.js';
import { routing } from '../client/index.js';
import type { CacheLooks, ListOptions } from '../client/index.js';
import {
  isNotFound,
  deepEqual,
  sameMembers,
  withoutMember,
  keyOf,
  apiVersionOf,
} from '../object/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  UnstructuredObject,
  TypeReference,
} from '../object/index.js';
import { LruMap } from '../system/index.js';
import type { BuilderSettings } from './builder-options.js';
import type { ChainedLink } from './link.js';
import { emitRollout, quietRollout } from './reconcile-workloads.js';

/*
 * Most reconciles change nothing. The result of a reconcile depends only on the chain and on the objects that
 * it read. So the last result stays valid while both are unchanged. To find out, the check hashes the chain
 * and looks up each object in the cache. It completes, hashes and compares no object. If only the status of a
 * workload has changed, only its rollout state is computed again.
 */

/** A read from the cache and its result. */
interface Look {
  readonly type: TypeReference<KubernetesObject>;
  /** Key of the object; undefined for a list. */
  readonly key: ObjectKey | undefined;
  readonly options: ListOptions;
  readonly seen: readonly KubernetesObject[];
}

/** A reconcile that changed nothing and waits for nothing but rollouts. */
interface Settled {
  readonly digest: string;
  readonly looks: readonly Look[];
  readonly results: readonly ObjectResult[];
}

/** The settled reconciles of one owner. */
interface OwnerChains {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
  readonly chains: readonly Settled[];
}

/** The settled reconciles of one cache, by the owner's UID. */
type SettledChains = LruMap<string, OwnerChains>;

const settledChains = new WeakMap<CacheLooks, SettledChains>();
const mostOwners = 50_000;
const mostChainsOfAnOwner = 4;
/** Number of owners that each call checks: more than one, so that entries are removed faster than they are added. */
const checkedOwners = 2;

/** Compares a reconcile with earlier reconciles of the same owner that changed nothing. */
export class SettledCheck {
  readonly #settings: BuilderSettings;
  readonly #rolloutOrder: BuilderSettings['rolloutOrder'];
  readonly #links: readonly ChainedLink[];
  readonly #looks: CacheLooks | undefined;
  readonly #seen: Look[] = [];
  #digest: string | undefined;
  /**
   * Number of calls whose results cannot be read from the cache again. The results of a reconcile with such calls are
   * not kept.
   */
  #begun = 0;
  #hasWritten = false;
  readonly #ownerUid: string;

  constructor(
    settings: BuilderSettings,
    rolloutOrder: BuilderSettings['rolloutOrder'],
    links: readonly ChainedLink[],
  ) {
    this.#settings = settings;
    this.#rolloutOrder = rolloutOrder;
    this.#links = links;
    this.#looks = looksOf(settings);
    this.#ownerUid = settings.owner.metadata.uid ?? '';
  }

  /**
   * Returns the results of an earlier reconcile, with current rollout states; undefined if anything else has
   * changed.
   */
  results(): readonly ObjectResult[] | undefined {
    const looks = this.#looks;
    const known = looks && chainsIn(looks).get(this.#ownerUid);
    if (looks === undefined || known === undefined) return undefined;
    const digest = this.#digestOf();
    const settled = known.chains.find((each) => each.digest === digest);
    const now = settled && this.#seenNow(looks, settled);
    if (now === undefined) return undefined;
    if (now !== settled) this.#keep(looks, now);
    const { onResult } = this.#settings;
    if (onResult !== undefined) now.results.forEach((result) => onResult(result));
    return now.results;
  }

  /** Remembers the results of a reconcile if nothing remains to be done, except to wait for rollouts. */
  remember(results: readonly ObjectResult[] | undefined): void {
    const looks = this.#looks;
    if (looks === undefined || this.#begun > 0 || results?.every(isAsDesired) !== true) return;
    // This reconcile may have written an object after it was first read: compare with the cache again.
    if (this.#hasWritten && !this.#seen.every((look) => isSeenAgain(looks, look))) return;
    this.#keep(looks, { digest: this.#digestOf(), looks: this.#seen, results });
  }

  #keep(looks: CacheLooks, settled: Settled): void {
    const owners = chainsIn(looks);
    const { digest } = settled;
    const known = owners.get(this.#ownerUid)?.chains ?? [];
    const others = known.filter((each) => each.digest !== digest);
    const { apiVersion, kind, metadata } = this.#settings.owner;
    const { namespace, name = '' } = metadata;
    owners.set(this.#ownerUid, {
      type: { apiVersion, kind },
      key: { namespace, name },
      chains: [settled, ...others.slice(0, mostChainsOfAnOwner - 1)],
    });
    forgetGone(looks, owners);
  }

  /**
   * Compares the reads of `settled` with the cache. Returns `settled` with the current rollout states; undefined if
   * anything else has changed.
   */
  #seenNow(looks: CacheLooks, settled: Settled): Settled | undefined {
    const now: Look[] = [];
    for (const look of settled.looks) {
      const seen = lookAgain(looks, look);
      if (seen === undefined || !isSame(look.seen, seen, isSameButStatus)) return undefined;
      now.push({ ...look, seen });
    }
    const isAtRest = settled.results.every(({ rollout }) => isOver(rollout));
    const isEqual = now.every(({ seen }, nth) => isSame(settled.looks[nth]?.seen ?? [], seen));
    if (isAtRest && isEqual) return settled;
    const results = settled.results.map((result) => this.#judged(result, now));
    const known = results.flatMap((result) => result ?? []);
    return known.length < results.length ? undefined : { ...settled, looks: now, results: known };
  }

  /** Returns `result` with the current rollout state; undefined if that needs further reads. */
  #judged(result: ObjectResult, looks: readonly Look[]): ObjectResult | undefined {
    if (result.rollout === undefined) return result;
    const { ref } = result;
    const live = looks.flatMap(({ seen }) => seen).find(({ metadata }) => metadata.uid === ref.uid);
    if (live === undefined) return undefined;
    const link = this.#links.find(
      ({ type, json }) => type.kind === ref.kind && nameIn(json) === ref.name,
    );
    const judged = quietRollout(this.#settings, live as UnstructuredObject, link?.workload);
    if (judged === undefined) return undefined;
    emitRollout(this.#settings, result, live as UnstructuredObject);
    const { operation, changes } = result;
    return { operation, ref, changes, ...judged };
  }

  /** Returns settings whose client notes every read of the reconcile. */
  notingSettings(): BuilderSettings {
    const looks = this.#looks;
    const settings = { ...this.#settings, rolloutOrder: this.#rolloutOrder };
    if (looks === undefined) return settings;
    const { client, recorder } = settings;
    const record: NonNullable<typeof recorder>['record'] = (event) => {
      // After a warning, the result is not kept, so that the next reconcile repeats the warning.
      if (event.type === 'Warning') this.#begun++;
      recorder?.record(event);
    };
    const noting = this.#notingClient(client, looks);
    return { ...settings, client: noting, recorder: recorder && { record } };
  }

  #digestOf(): string {
    return (this.#digest ??= digestOf(this.#settings, this.#rolloutOrder, this.#links));
  }

  /** Wraps `client` to note reads and applies. After any other call, the reconcile is not recorded. */
  #notingClient(client: BuilderSettings['client'], looks: CacheLooks): BuilderSettings['client'] {
    const begin = (): BuilderSettings['client'] => {
      this.#begun++;
      return client;
    };
    return {
      ...routing(begin),
      get: async (type, key, options = {}) => {
        const read = { type, key, options: withoutMember({ ...options }, 'signal') };
        try {
          const found = await client.get(type, key, options);
          this.#note(looks, read, [found]);
          return found;
        } catch (error) {
          if (isNotFound(error)) this.#note(looks, read, []);
          else this.#begun++;
          throw error;
        }
      },
      list: async (type, options = {}) => {
        const list = await client.list(type, options);
        const kept = withoutMember({ ...options }, 'signal');
        this.#note(looks, { type, key: undefined, options: kept }, list.items);
        return list;
      },
      apply: async (object, options) => {
        const applied = await client.apply(object, options);
        this.#noteWritten(looks, applied.object);
        return applied;
      },
      resourceType: (type) => client.resourceType(type),
      get live() {
        return begin().live;
      },
    };
  }

  #note(looks: CacheLooks, read: Omit<Look, 'seen'>, found: readonly KubernetesObject[]): void {
    const look = { ...read, seen: found };
    // If the cache now returns another object, the read bypassed the cache, or the cache has changed since.
    if (isSeenAgain(looks, look)) this.#seen.push(look);
    else this.#begun++;
  }

  /** Replaces the noted read of the object with the written version. */
  #noteWritten(looks: CacheLooks, written: KubernetesObject): void {
    this.#hasWritten = true;
    const { apiVersion, kind } = written;
    const { name, namespace } = written.metadata;
    const nth = this.#seen.findLastIndex(
      ({ type, key }) =>
        key?.name === name &&
        key?.namespace === namespace &&
        type.kind === kind &&
        apiVersionOf(type) === apiVersion,
    );
    const read = this.#seen[nth];
    const look = read && { ...read, seen: [written] };
    if (look === undefined || !isSeenAgain(looks, look)) this.#begun++;
    else this.#seen[nth] = look;
  }
}

/**
 * Returns the cache that holds this very owner; undefined if there is no cache or it holds another version.
 */
function looksOf({ client: { looks }, owner, owns }: BuilderSettings): CacheLooks | undefined {
  // Without `owns`, the kinds that pruning lists change with time.
  if (looks === undefined || owns === undefined) return undefined;
  return looks.get(owner, keyOf(owner)) === owner ? looks : undefined;
}

/** Repeats a recorded read of the cache; undefined if the cache can't answer it. */
function lookAgain(
  looks: CacheLooks,
  { type, key, options }: Omit<Look, 'seen'>,
): readonly KubernetesObject[] | undefined {
  if (key === undefined) return looks.list(type, options);
  // Options select a subresource or a specific version, which the cache does not hold.
  if (Object.keys(options).length > 0) return undefined;
  const object = looks.get(type, key);
  return object === null ? [] : object && [object];
}

function isSeenAgain(looks: CacheLooks, look: Look): boolean {
  const now = lookAgain(looks, look);
  return now !== undefined && isSame(look.seen, now, isSameButStatus);
}

function isSame(
  seen: readonly KubernetesObject[],
  now: readonly KubernetesObject[],
  isSameObject: (one: KubernetesObject, other: KubernetesObject) => boolean = isSameVersion,
): boolean {
  if (seen.length !== now.length) return false;
  return seen.every((one, nth) => {
    const other = now[nth];
    return other !== undefined && (one === other || isSameObject(one, other));
  });
}

function isSameVersion({ metadata: one }: KubernetesObject, { metadata: other }: KubernetesObject) {
  return one.uid === other.uid && one.resourceVersion === other.resourceVersion;
}

/**
 * Returns true if at most the status of a workload has changed. An unchanged generation implies an unchanged
 * spec. For other kinds, the status may affect more than the rollout.
 */
function isSameButStatus(one: KubernetesObject, other: KubernetesObject): boolean {
  if (isSameVersion(one, other)) return true;
  const { generation, uid } = one.metadata;
  if (uid !== other.metadata.uid || generation !== other.metadata.generation) return false;
  if (generation === undefined || !rollsPods(one)) return false;
  const isSameElse = sameMembers(one.metadata, other.metadata, [
    'managedFields',
    'resourceVersion',
  ]);
  return isSameElse && deepEqual(fieldsBesideStatus(one), fieldsBesideStatus(other));
}

function fieldsBesideStatus({ metadata: { managedFields = [] } }: KubernetesObject): object {
  return managedFields.filter(({ subresource }) => subresource !== 'status');
}

/**
 * Returns a digest of the chain. Chains are plain data, so equal texts are equal chains. Settings without an
 * effect on the results are left out.
 */
function digestOf(
  settings: BuilderSettings,
  rolloutOrder: BuilderSettings['rolloutOrder'],
  links: readonly ChainedLink[],
): string {
  const { owner, controllerName, labels, namespace, scope, owns, onImmutable, pruneClaims } =
    settings;
  const { apiVersion, kind } = owner;
  const { uid, name, namespace: home, annotations, deletionTimestamp } = owner.metadata;
  const whose = [apiVersion, kind, uid, name, home, annotations, deletionTimestamp];
  const { adopt, adoptManagers, rollout, orderCreation } = settings;
  const visited = owns?.map((type) => [apiVersionOf(type), type.kind]);
  const options = [
    whose,
    controllerName,
    labels,
    namespace,
    scope,
    visited,
    onImmutable,
    pruneClaims,
  ];
  const rules = [adopt, adoptManagers, rolloutOrder, rollout, orderCreation];
  const others = links.map(
    ({ options: own, workload, requires, selects, scaleTarget, generated, rolloutOnChange }) => [
      ...[own, workload, requires, selects, scaleTarget, generated && Object.keys(generated)],
      rolloutOnChange,
    ],
  );
  const texts = [JSON.stringify([options, rules, others]), ...links.map(({ json }) => json)];
  // No text contains a line break, so the joined text is unambiguous.
  return hash('sha256', texts.join('\n'), 'base64');
}

function isAsDesired({ operation, requeueAfterMs, rollout }: ObjectResult): boolean {
  if (operation !== 'unchanged') return false;
  // A progressing rollout is checked again at its deadline.
  return rollout?.state === 'progressing' || (requeueAfterMs === undefined && isOver(rollout));
}

function isOver(rollout: ObjectResult['rollout']): boolean {
  return rollout === undefined || ['complete', 'unwatched'].includes(rollout.state);
}

function chainsIn(looks: CacheLooks): SettledChains {
  const known = settledChains.get(looks) ?? new LruMap(mostOwners);
  settledChains.set(looks, known);
  return known;
}

/**
 * Removes the entries of owners that the cache no longer has: an entry holds whole objects. Each call checks the owners
 * that were unused for longest; those that exist count as used, so that the next call checks others.
 */
function forgetGone(looks: CacheLooks, owners: SettledChains): void {
  for (let n = 0; n < checkedOwners; n++) {
    const [oldest] = owners.entries();
    if (oldest === undefined) return;
    const [uid, { type, key }] = oldest;
    const now = looks.get(type, key);
    if (now === null || (now !== undefined && now.metadata.uid !== uid)) owners.delete(uid);
    else owners.get(uid);
  }
}

function nameIn(json: string): string | undefined {
  return (JSON.parse(json) as KubernetesObject).metadata.name;
}
