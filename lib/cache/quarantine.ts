import { describeObject, isJsonObject, apiVersionOf } from '../object/index.js';
import type {
  KubernetesObject,
  ObjectMeta,
  OwnerReference,
  ObjectReference,
  TypeReference,
} from '../object/index.js';
import type { Logger } from '../system/index.js';
import { OperatorError } from '../system/index.js';

/** An object that a cache can't store. */
export interface QuarantinedObject extends ObjectReference {
  readonly resourceVersion: string;
  /** The reason for diagnostics; it never contains the object's data. */
  readonly reason: string;
}

export interface QuarantineOptions {
  readonly type: TypeReference<KubernetesObject>;
  readonly logger: Logger;
  /** Called once for each quarantined version of an object. */
  readonly onQuarantined: (object: QuarantinedObject) => void;
  /** Called with the number of quarantined objects when it changes. */
  readonly onCount: (count: number) => void;
}

/** Stands for a missing name; no object can have this name. */
const unnamed = '<unnamed>';

/**
 * Holds the objects of one kind that the cache can't store. They nest too deeply or have no name, or the
 * kind's transform or an index throws for them. An object stays until a valid version arrives or it is
 * deleted.
 *
 * A stand-in replaces the object in the pipeline from the server to the store. It has the object's key, UID,
 * version, labels and owners, and nothing else.
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

  isStandIn(object: T): boolean {
    return this.#reasons.has(object);
  }

  /** Creates a stand-in for `object`, which failed with `error`. */
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

  /** Quarantines an object by its stand-in. Reports each version of an object once. */
  put(key: string, standIn: T): void {
    const known = this.#standIns.get(key)?.metadata;
    this.#standIns.set(key, standIn);
    const { uid, resourceVersion } = standIn.metadata;
    if (known === undefined) this.#options.onCount(this.size);
    else if (known.uid === uid && known.resourceVersion === resourceVersion) return;
    const object = this.#shown(standIn);
    const { reason, kind, namespace, name } = object;
    const fields = { kind, namespace, name, uid, resourceVersion, reason };
    this.#options.logger.error(
      `${kind}: the cache quarantined an object, which it cannot serve; correct the object, or the transform or index that the reason names`,
      fields,
    );
    this.#options.onQuarantined(object);
  }

  /** Removes an object that is valid again or deleted. */
  release(key: string): void {
    const standIn = this.#standIns.get(key);
    if (standIn === undefined) return;
    this.#standIns.delete(key);
    this.#options.onCount(this.size);
    const { kind, metadata } = standIn;
    const { namespace, name } = metadata;
    this.#options.logger.info(`${kind}: object left quarantine`, { kind, namespace, name });
  }

  /** Removes all objects except those for which `kept` returns true. */
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

  /** Returns the stand-ins by key; the quarantine must not change during the iteration. */
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

/** Builds the error of a read that would return `object`. `verb`: `get` or `list`. */
export function quarantinedError(verb: string, object: QuarantinedObject): OperatorError {
  const remedy = 'change or delete the object';
  const message = `${verb} ${describeObject(object)}: the object is quarantined (${object.reason}); ${remedy}`;
  return new OperatorError('Quarantined', message);
}

const textFields = ['namespace', 'uid', 'resourceVersion', 'deletionTimestamp'] as const;

/** Copies the well-formed parts of the metadata, since the server's object may be malformed. */
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
