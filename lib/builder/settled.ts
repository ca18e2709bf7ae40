import { hash } from 'node:crypto';
import { rollsPods } from '../apply/index.js';
import type { ObjectResult } from '../apply/index.js';
import type { CacheLooks, ListOptions } from '../client/client.js';
import { isNotFound } from '../object/api-error.js';
import { deepEqual, sameMembers } from '../object/deep-equal.js';
import { withoutMember } from '../object/json.js';
import type {
  KubernetesObject,
  ObjectKey,
  UnstructuredObject,
} from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { TypeReference } from '../object/resource-type.js';
import { LruMap } from '../system/lru-map.js';
import type { BuilderSettings } from './builder-options.js';
import type { ChainedLink } from './link.js';
import { emitRollout, quietRollout } from './reconcile-workloads.js';

/*
 * Most reconciles find everything as desired. The results of such a reconcile follow from the chain and
 * from what it read: while both stay the same, so do the results. To find that out takes a digest of
 * the chain, and a look at each object in the cache; nothing is completed, hashed or compared. Of a
 * workload the status may be another one: only its rollout is judged then.
 */

/** A look into the cache, and what it showed. */
interface Look {
  readonly type: TypeReference<KubernetesObject>;
  /** One object; undefined: it was a list. */
  readonly key: ObjectKey | undefined;
  readonly options: ListOptions;
  readonly seen: readonly KubernetesObject[];
}

/** A reconcile that changed nothing, and waits for nothing. */
interface Settled {
  readonly digest: string;
  readonly looks: readonly Look[];
  readonly results: readonly ObjectResult[];
}

/** What was seen in one cache, by the UID of the owner. */
type SettledChains = LruMap<string, readonly Settled[]>;

const settledChains = new WeakMap<CacheLooks, SettledChains>();
const mostOwners = 50_000;
const mostChainsOfAnOwner = 4;

/** Compares one reconcile with the earlier ones of its owner that changed nothing. */
export class SettledCheck {
  readonly #settings: BuilderSettings;
  readonly #rolloutOrder: BuilderSettings['rolloutOrder'];
  readonly #links: readonly ChainedLink[];
  readonly #looks: CacheLooks | undefined;
  readonly #seen: Look[] = [];
  #digest: string | undefined;
  /** Calls that can't be repeated by a look. */
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

  /** The results of an earlier reconcile, where this one would have the same but for rollouts. */
  results(): readonly ObjectResult[] | undefined {
    const looks = this.#looks;
    const known = looks && chainsIn(looks).get(this.#ownerUid);
    if (looks === undefined || known === undefined) return undefined;
    const digest = this.#digestOf();
    const settled = known.find((each) => each.digest === digest);
    const now = settled && this.#seenNow(looks, settled);
    if (now === undefined) return undefined;
    if (now !== settled) this.#keep(looks, now);
    const { onResult } = this.#settings;
    if (onResult !== undefined) now.results.forEach((result) => onResult(result));
    return now.results;
  }

  /** Remembers what the next reconcile would find, where that is nothing to do but to wait for rollouts. */
  remember(results: readonly ObjectResult[] | undefined): void {
    const looks = this.#looks;
    if (looks === undefined || this.#begun > 0 || results?.every(isAsDesired) !== true) return;
    // What was read first may have been written since.
    if (this.#hasWritten && !this.#seen.every((look) => isSeenAgain(looks, look))) return;
    this.#keep(looks, { digest: this.#digestOf(), looks: this.#seen, results });
  }

  #keep(looks: CacheLooks, settled: Settled): void {
    const chains = chainsIn(looks);
    const { digest } = settled;
    const others = (chains.get(this.#ownerUid) ?? []).filter((each) => each.digest !== digest);
    chains.set(this.#ownerUid, [settled, ...others.slice(0, mostChainsOfAnOwner - 1)]);
  }

  /** @returns `settled` where all is as it was, with rollouts as they are now; undefined: something is not */
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

  /** `result` with the rollout as it is now; undefined: more has to be read to tell. */
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

  /** Settings for the reconcile, whose client takes note of what is read. */
  notingSettings(): BuilderSettings {
    const looks = this.#looks;
    const settings = { ...this.#settings, rolloutOrder: this.#rolloutOrder };
    if (looks === undefined) return settings;
    const { client, recorder } = settings;
    const record: NonNullable<typeof recorder>['record'] = (event) => {
      // What was done is done; what is wrong is told again.
      if (event.type === 'Warning') this.#begun++;
      recorder?.record(event);
    };
    const noting = this.#notingClient(client, looks);
    return { ...settings, client: noting, recorder: recorder && { record } };
  }

  #digestOf(): string {
    return (this.#digest ??= digestOf(this.#settings, this.#rolloutOrder, this.#links));
  }

  /** `client`, noting reads and applies; other calls make the reconcile one that is not remembered. */
  #notingClient(client: BuilderSettings['client'], looks: CacheLooks): BuilderSettings['client'] {
    const begin = (): BuilderSettings['client'] => {
      this.#begun++;
      return client;
    };
    return {
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
      pages: (type, options) => begin().pages(type, options),
      watch: (type, options) => begin().watch(type, options),
      stream: (type, key, options) => begin().stream(type, key, options),
      create: (object, options) => begin().create(object, options),
      update: (object, options) => begin().update(object, options),
      patch: (type, key, patch, options) => begin().patch(type, key, patch, options),
      delete: (type, key, options) => begin().delete(type, key, options),
      deleteCollection: (type, options) => begin().deleteCollection(type, options),
      get live() {
        return begin().live;
      },
    };
  }

  #note(looks: CacheLooks, read: Omit<Look, 'seen'>, found: readonly KubernetesObject[]): void {
    const look = { ...read, seen: found };
    // Else it was not read from the cache, or that has changed meanwhile.
    if (isSeenAgain(looks, look)) this.#seen.push(look);
    else this.#begun++;
  }

  /** From now on the object is to be seen as it was written. */
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

/** Looks into the cache that the owner is from; undefined: it is from none, or another one by now. */
function looksOf({ client: { looks }, owner, owns }: BuilderSettings): CacheLooks | undefined {
  // Without `owns` pruning goes by the clock.
  if (looks === undefined || owns === undefined) return undefined;
  return looks.get(owner, keyOf(owner)) === owner ? looks : undefined;
}

/** What a look shows now; undefined: the cache can't say. */
function lookAgain(
  looks: CacheLooks,
  { type, key, options }: Omit<Look, 'seen'>,
): readonly KubernetesObject[] | undefined {
  if (key === undefined) return looks.list(type, options);
  // A subresource, or a certain version.
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
 * Whether nothing else than the status of a workload has changed. Its generation says so of the spec; of
 * other kinds the status may say more than how far a rollout is.
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

/** Chains are plain data, so that equal texts are equal chains. Left out is what says how the work is done. */
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
  const { adopt, adoptManagers, rollout, orderCreation, hashPrefixes } = settings;
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
  const rules = [adopt, adoptManagers, rolloutOrder, rollout, orderCreation, hashPrefixes];
  const others = links.map(({ options: own, workload, requires, selects, scaleTarget }) => [
    ...[own, workload, requires, selects, scaleTarget],
  ]);
  const texts = [JSON.stringify([options, rules, others]), ...links.map(({ json }) => json)];
  // No JSON has a line break.
  return hash('sha256', texts.join('\n'), 'base64');
}

function isAsDesired({ operation, requeueAfterMs, rollout }: ObjectResult): boolean {
  if (operation !== 'unchanged') return false;
  // One that goes on is looked at again when its time is over.
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

function nameIn(json: string): string | undefined {
  return (JSON.parse(json) as KubernetesObject).metadata.name;
}
