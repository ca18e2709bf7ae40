import {
  deepFreeze,
  maxDepth,
  tooDeep,
  assignMembers,
  isJsonObject,
  withoutMember,
  apiVersionOf,
} from '../object/index.js';
import type { KubernetesObject, ObjectMeta, TypeReference } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import { partsOf } from './known-parts.js';
import type { KnownParts } from './known-parts.js';

/** Changes an object before it is stored. The function must not modify its argument. */
export type Transform<T extends KubernetesObject = KubernetesObject> = (object: T) => T;

export interface IntakeOptions<T extends KubernetesObject> {
  readonly type: TypeReference<T>;
  /** Called for each object, because the result may become true while a cache runs. */
  readonly keepManagedFields: () => boolean;
  /** Keeps only `metadata`. */
  readonly metadataOnly: boolean;
  readonly freeze: boolean;
  /** Shared by all kinds of a cache. */
  readonly strings: StringPool;
  readonly transform?: Transform<T> | undefined;
  /** Receives the parts of each cached object. */
  readonly knownParts?: KnownParts | undefined;
}

/** Prepares a server object for the cache; `stored` is the version of it that the cache holds. */
export type Intake<T extends KubernetesObject> = (object: T, stored?: T) => T;

/** `kubectl apply` stores a copy of the whole object in this annotation: half of a cache's memory. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The cached objects whose last-applied annotation was dropped. */
const withoutLastApplied = new WeakSet<KubernetesObject>();

/** Whether `object` is from a cache that has dropped its last-applied annotation. */
export function lacksLastApplied(object: KubernetesObject): boolean {
  return withoutLastApplied.has(object);
}

const headMembers = ['apiVersion', 'kind', 'metadata'];
const managedFieldsOnly = ['managedFields'];

/**
 * Returns a function that prepares server objects for the cache. It sets `apiVersion` and `kind` (list items
 * lack them, metadata-only objects have others), and drops the last-applied annotation and, unless kept,
 * `managedFields`. It then applies the transform, shares equal parts with the stored version and equal strings
 * with other objects, and freezes deeply. It may change the given object in place, unless that object is
 * frozen.
 *
 * The function throws if an object can't be cached: the transformed object nests too deeply, or the transform
 * throws or changes the object's key.
 */
export function newIntake<T extends KubernetesObject>(options: IntakeOptions<T>): Intake<T> {
  const { type, transform, metadataOnly, keepManagedFields, freeze, strings, knownParts } = options;
  const { kind } = type;
  const apiVersion = apiVersionOf(type);
  const settling = new Settling({ pool: strings, freeze, mayBeFrozen: transform !== undefined });
  return (object, stored) => {
    const isStripped = hasLastApplied(object.metadata);
    const metadata = strippedMetadata(object.metadata, {
      isStripped,
      keepManagedFields: keepManagedFields(),
    });
    const isOwn = !Object.isFrozen(object);
    let whole = object;
    if (isOwn && !metadataOnly && object.kind === kind && object.apiVersion === apiVersion) {
      object.metadata = metadata;
    } else {
      const head: KubernetesObject = { apiVersion, kind, metadata };
      whole = (metadataOnly ? head : assignMembers(head, object, headMembers)) as T;
    }
    const taken = transform === undefined ? whole : transformed(whole, transform);
    const isUnchecked = isOwn || taken !== whole;
    const read = partsOf(taken);
    // A frozen object comes from another store of this process, which has already checked it.
    const frozen = (): T => (freeze ? deepFreeze(taken) : taken);
    const settled = isUnchecked ? settling.object(taken, stored) : frozen();
    if (isStripped) withoutLastApplied.add(settled);
    knownParts?.cached(settled, read);
    return settled;
  };
}

/**
 * Returns the key of a server object, `namespace/name`.
 * @throws OperatorError `InvalidObject`: the object's key or version is missing or malformed.
 */
export function checkedKey(object: unknown): string {
  const metadata = isJsonObject(object) ? object.metadata : undefined;
  const { name, namespace = '', resourceVersion = '' } = isJsonObject(metadata) ? metadata : {};
  if (typeof name !== 'string' || name === '') return refuse('metadata.name is missing');
  if (typeof namespace !== 'string') return refuse('metadata.namespace is not a string');
  if (typeof resourceVersion !== 'string')
    return refuse('metadata.resourceVersion is not a string');
  return namespace === '' ? name : `${namespace}/${name}`;
}

function transformed<T extends KubernetesObject>(object: T, transform: Transform<T>): T {
  let result: T;
  try {
    result = transform(object);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new OperatorError('InvalidObject', `transform threw: ${message}`, { cause: error });
  }
  const { metadata } = object;
  const made: unknown = isJsonObject(result) ? result.metadata : undefined;
  const isSame = (field: 'name' | 'namespace' | 'resourceVersion'): boolean =>
    isJsonObject(made) && made[field] === metadata[field];
  if (!isSame('name') || !isSame('namespace') || !isSame('resourceVersion')) {
    refuse('transform must keep metadata.name, namespace and resourceVersion');
  }
  return result;
}

function refuse(problem: string): never {
  throw new OperatorError('InvalidObject', problem);
}

function hasLastApplied({ annotations }: ObjectMeta): boolean {
  return annotations !== undefined && Object.hasOwn(annotations, lastAppliedAnnotation);
}

function strippedMetadata(
  metadata: ObjectMeta,
  { isStripped, keepManagedFields }: { isStripped: boolean; keepManagedFields: boolean },
): ObjectMeta {
  if (!isStripped && (keepManagedFields || metadata.managedFields === undefined)) return metadata;
  const stripped: ObjectMeta = {};
  assignMembers(stripped, metadata, keepManagedFields ? [] : managedFieldsOnly);
  const { annotations } = metadata;
  if (isStripped && annotations !== undefined) {
    stripped.annotations = withoutMember(annotations, lastAppliedAnnotation);
  }
  return stripped;
}

/** `JSON.parse` makes no copies of shorter strings: V8 interns them. */
const shortestText = 11;
/** Longer strings rarely repeat: hashing them would cost more than it saves. */
const longestText = 48;

/** Metadata fields that are unique to an object. */
const uniqueFields: ReadonlySet<string> = new Set(['name', 'uid', 'resourceVersion']);

type Members = Record<string, unknown>;

interface SettlingOptions {
  readonly pool: StringPool;
  readonly freeze: boolean;
  /** Parts of an object may be frozen: a transform may insert shared parts. */
  readonly mayBeFrozen: boolean;
}

/**
 * Makes the objects of one kind share memory, and freezes them, in one walk. A part that equals the same part
 * of the stored version is replaced by the stored part, so that comparing both versions is quick. Other
 * strings are replaced by the shared copies of a pool.
 *
 * The benefit of the pool depends on the kind. It saves 30 % of the memory of cached Pods, and nothing on
 * ConfigMaps, whose strings differ (measured with 20,000 objects of each kind). So there are two trials, one
 * for `metadata` and one for the rest. Pooling stops for a part if fewer than half of its second 2,048
 * strings were known.
 */
class Settling {
  readonly #pool: StringPool;
  readonly #freeze: boolean;
  readonly #mayBeFrozen: boolean;
  readonly #metadata = new Trial();
  readonly #body = new Trial();

  constructor({ pool, freeze, mayBeFrozen }: SettlingOptions) {
    this.#pool = pool;
    this.#freeze = freeze;
    this.#mayBeFrozen = mayBeFrozen;
  }

  /** @throws OperatorError `TooDeep`: the object nests deeper than {@link maxDepth}. */
  object<T extends KubernetesObject>(object: T, stored: T | undefined): T {
    // Users may modify objects that are not frozen, so versions must not share parts.
    return this.#settled(object, this.#freeze ? stored : undefined, maxDepth, this.#body) as T;
  }

  /** Returns `value`, or `stored` if both are equal. */
  #settled(value: object, stored: unknown, depth: number, trial: Trial): object {
    if (this.#mayBeFrozen && Object.isFrozen(value)) return value;
    if (depth === 0) throw tooDeep('object');
    const old = isAlike(value, stored) ? stored : undefined;
    // Two loops, because one `for...in` over lists and objects takes three times as long on Node.js 24.
    const isEqual = Array.isArray(value)
      ? this.#settleItems(value, old, depth, trial)
      : this.#settleMembers(value as Members, old, depth, trial);
    if (old !== undefined && isEqual) return old;
    return this.#freeze ? Object.freeze(value) : value;
  }

  /** Replaces the items of `list` in place by stored or shared ones. @returns whether the list equals `old` */
  #settleItems(list: unknown[], old: object | undefined, depth: number, trial: Trial): boolean {
    const before = old as readonly unknown[] | undefined;
    let isEqual = before?.length === list.length;
    for (const [n, given] of list.entries()) {
      const settled = isObject(given)
        ? this.#settled(given, before?.[n], depth - 1, trial)
        : (this.#sharedText(given, before?.[n], trial) ?? given);
      if (settled !== before?.[n]) isEqual = false;
      list[n] = settled;
    }
    return isEqual;
  }

  /** Replaces the members of `object` in place by stored or shared ones. @returns whether the object equals `old` */
  #settleMembers(object: Members, old: Members | undefined, depth: number, trial: Trial): boolean {
    let [members, isEqual] = [0, true];
    for (const name in object) {
      members++;
      const given = object[name];
      const before = knownMember(old, name);
      let settled = given;
      if (isObject(given)) {
        const part = depth === maxDepth && name === 'metadata' ? this.#metadata : trial;
        if (given !== before && !(depth === maxDepth && this.#freeze && Object.isFrozen(given))) {
          settled = this.#settled(given, before, depth - 1, part);
        }
        if (settled !== given) object[name] = settled;
      }
      if (settled !== before) isEqual = false;
    }
    if (isEqual && old !== undefined && Object.keys(old).length === members) return true;
    const isMetadata = trial === this.#metadata && depth === maxDepth - 1;
    for (const name in object) {
      const given = object[name];
      const before = knownMember(old, name);
      if (isMetadata && uniqueFields.has(name) && given !== before) continue;
      const shared = this.#sharedText(given, before, trial);
      if (shared !== undefined) object[name] = shared;
    }
    return false;
  }

  /** Returns the copy of a text that the stored version or other objects use; undefined without such a copy. */
  #sharedText(given: unknown, before: unknown, trial: Trial): string | undefined {
    if (typeof given !== 'string' || given.length < shortestText) return undefined;
    if (given === before) return before;
    if (trial.failed || given.length > longestText) return undefined;
    const shared = this.#pool.shared(given);
    trial.count(shared !== undefined);
    return shared;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Returns the member `name` of `old`. `old.__proto__` is usually the inherited prototype, not a member. */
function knownMember(old: Members | undefined, name: string): unknown {
  return name === '__proto__' ? undefined : old?.[name];
}

function isAlike(value: object, stored: unknown): stored is Members {
  return isObject(stored) && Array.isArray(stored) === Array.isArray(value);
}

/** The pool holds at most twice this many strings and drops those that do not recur. */
const generationSize = 4_096;

/** Keeps one copy of each string that objects share; `JSON.parse` creates a new one each time. */
export class StringPool {
  #young = new Map<string, string>();
  #old: ReadonlyMap<string, string> = new Map();

  /** The number of strings kept; bounded. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Returns the shared copy of `text`, or undefined if `text` is the first one. */
  shared(text: string): string | undefined {
    const known = this.#young.get(text);
    if (known !== undefined) return known;
    const shared = this.#old.get(text);
    if (this.#young.size >= generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    const kept = shared ?? text;
    this.#young.set(kept, kept);
    return shared;
  }
}

/** The first strings of each part do not count, because the pool starts empty. */
const firstTexts = 2_048;
/** The number of strings after which the trial of a part ends. */
const trialTexts = 4_096;

/** Decides if enough strings of a part repeat. */
class Trial {
  failed = false;
  #texts = 0;
  #known = 0;

  count(known: boolean): void {
    if (this.#texts >= trialTexts) return;
    this.#texts++;
    if (known && this.#texts > firstTexts) this.#known++;
    if (this.#texts === trialTexts) this.failed = this.#known * 2 < trialTexts - firstTexts;
  }
}
