import { describeObject } from '../object/describe-object.js';
import { isJsonObject } from '../object/json.js';
import type { KubernetesObject, ObjectMeta, OwnerReference } from '../object/kubernetes-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import { apiVersionOf } from '../object/resource-type.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Logger } from '../system/logger.js';
import { OperatorError } from '../system/operator-error.js';

/** An object that a cache can't take in. */
export interface QuarantinedObject extends ObjectReference {
  readonly resourceVersion: string;
  /** Why, for people; never the object's data. */
  readonly reason: string;
}

/** Options of {@link Quarantine}. */
export interface QuarantineOptions {
  readonly type: TypeReference<KubernetesObject>;
  readonly logger: Logger;
  /** Called once for each version of an object that is put in. */
  readonly onQuarantined: (object: QuarantinedObject) => void;
  /** Called with the number of objects in it, when that changes. */
  readonly onCount: (count: number) => void;
}

/** A name that no object can have: the server sent one without a name. */
const unnamed = '<unnamed>';

/**
 * The objects of one kind that the cache can't take in: they nest too deeply, have no name, or the
 * kind's transform or an index throws for them. An object stays until a version arrives that can be
 * taken in, or until it is deleted.
 *
 * In the pipeline from the server to the store, a stand-in takes the object's place: an object with
 * the same key, UID, version, labels and owners, and nothing else.
 */
export class Quarantine<T extends KubernetesObject> {
  readonly #options: QuarantineOptions;
  readonly #standIns = new Map<string, T>();
  readonly #reasons = new WeakMap<T, string>();

  constructor(options: QuarantineOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#standIns.size;
  }

  /** What `take` makes of `object`; where that throws, a stand-in. It never throws itself. */
  guard(object: T, take: (object: T) => T): T {
    try {
      return take(object);
    } catch (error) {
      return this.standInFor(object, error);
    }
  }

  /** Whether `object` is a stand-in that {@link Quarantine.guard} returned. */
  isStandIn(object: T): boolean {
    return this.#reasons.has(object);
  }

  /** A stand-in for `object`, which failed with `error`. */
  standInFor(object: T, error: unknown): T {
    const { type } = this.#options;
    const standIn = {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: plainMetadata(object),
    } as T;
    this.#reasons.set(standIn, error instanceof Error ? error.message : String(error));
    return standIn;
  }

  /** Puts an object in, by its stand-in. A version that is in it already is not reported again. */
  put(key: string, standIn: T): void {
    const known = this.#standIns.get(key)?.metadata;
    this.#standIns.set(key, standIn);
    const { uid, resourceVersion } = standIn.metadata;
    if (known === undefined) this.#options.onCount(this.size);
    else if (known.uid === uid && known.resourceVersion === resourceVersion) return;
    const object = this.#shown(standIn);
    const { reason, kind, namespace, name } = object;
    const fields = { kind, namespace, name, uid, resourceVersion, reason };
    this.#options.logger.error(`${kind}: object quarantined`, fields);
    this.#options.onQuarantined(object);
  }

  /** Takes an object out: it is good again, or gone. */
  release(key: string): void {
    const standIn = this.#standIns.get(key);
    if (standIn === undefined) return;
    this.#standIns.delete(key);
    this.#options.onCount(this.size);
    const { kind, metadata } = standIn;
    const { namespace, name } = metadata;
    this.#options.logger.info(`${kind}: object left quarantine`, { kind, namespace, name });
  }

  /** Takes out all that are not `kept`. */
  keepOnly(kept: (key: string, standIn: T) => boolean): void {
    for (const [key, standIn] of [...this.#standIns]) if (!kept(key, standIn)) this.release(key);
  }

  get(key: string): QuarantinedObject | undefined {
    const standIn = this.#standIns.get(key);
    return standIn && this.#shown(standIn);
  }

  has(key: string): boolean {
    return this.#standIns.has(key);
  }

  /** The stand-ins by key; it must not change meanwhile. */
  entries(): Iterable<readonly [string, T]> {
    return this.#standIns;
  }

  list(): readonly QuarantinedObject[] {
    return [...this.#standIns.values()].map((standIn) => this.#shown(standIn));
  }

  #shown(standIn: T): QuarantinedObject {
    const { apiVersion, kind, metadata } = standIn;
    const { namespace, name = unnamed, uid, resourceVersion = '' } = metadata;
    const reason = this.#reasons.get(standIn) ?? '';
    return { apiVersion, kind, namespace, name, uid, resourceVersion, reason };
  }
}

/** The error of a read that would show `object`. `verb`: `get` or `list`. */
export function quarantinedError(verb: string, object: QuarantinedObject): OperatorError {
  const remedy = 'change or delete the object';
  const message = `${verb} ${describeObject(object)}: the object is quarantined (${object.reason}); ${remedy}`;
  return new OperatorError('Quarantined', message);
}

const textFields = ['namespace', 'uid', 'resourceVersion', 'deletionTimestamp'] as const;

/** Of the metadata of whatever the server sent, the parts that are what they should be. */
function plainMetadata(object: unknown): ObjectMeta {
  const given = isJsonObject(object) && isJsonObject(object.metadata) ? object.metadata : {};
  const { name, labels, ownerReferences } = given;
  const metadata: ObjectMeta = { name: typeof name === 'string' && name !== '' ? name : unnamed };
  for (const field of textFields) {
    const value = given[field];
    if (typeof value === 'string') metadata[field] = value;
  }
  if (isJsonObject(labels)) metadata.labels = { ...(labels as Record<string, string>) };
  if (Array.isArray(ownerReferences)) {
    metadata.ownerReferences = (ownerReferences as OwnerReference[]).filter(isJsonObject);
  }
  return metadata;
}
