import type { UnstructuredObject, ResourceType, Schema } from '../../object/index.js';
import { apiVersionOf } from '../../object/index.js';
import { Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import type { KindRules } from '../rules/kind-rules.js';
import { definitionName, goTypeName, definition } from './documents.js';

export interface ServedSubresource {
  readonly name: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
}

export interface Decoded {
  /** The decoded object: new, except for parts that the API keeps unchanged. */
  readonly object: UnstructuredObject;
  /** JSON paths of unknown fields; they are not in `object`. */
  readonly unknownFields: readonly string[];
}

/** A kind in one version of its API, with everything that requests need. */
export interface ServedKind {
  readonly type: ResourceType;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: ReadonlyMap<string, ServedSubresource>;
  /** The collection of its objects: `configmaps`, `apps/deployments`. Versions of a kind share it. */
  readonly collection: string;
  /** True if objects are stored in this version of the API. */
  readonly isStorageVersion: boolean;
  readonly rules: KindRules;
  /** Set if a CustomResourceDefinition defines the kind. */
  readonly custom: CustomKind | undefined;
  /** Returns the schema, resolved at its first use; undefined if the kind has no schema. */
  schema(): Schema | undefined;
  /**
   * Decodes a JSON object as this kind: it checks types and removes unknown fields.
   * @param fromStorage - empty lists become null where the real server reads them so from its storage.
   * @throws DecodeError the object does not fit the kind.
   */
  decode(value: Readonly<Record<string, unknown>>, fromStorage?: boolean): Decoded;
  /** Returns a changed decoded object with the fields of built-in kinds in the order of Go's structs. */
  inOrder(object: UnstructuredObject): UnstructuredObject;
  /** Converts an object from this version to the storage version. */
  toStorage(object: UnstructuredObject): UnstructuredObject;
  /** Converts a stored object to this version. Cheap; returns the same object if possible. */
  fromStorage(object: UnstructuredObject): UnstructuredObject;
  /**
   * Batch conversions, if a webhook converts the objects.
   * @defaultValue undefined: no webhook converts them
   */
  readonly conversions?: KindConversions | undefined;
}

interface KindConversions {
  /**
   * Converts an object, of which parts may be missing, to another version. Unlike in a read, unknown fields stay, and
   * there are no defaults. Call it within a request.
   */
  convert(object: UnstructuredObject, apiVersion: string): UnstructuredObject;
  /** Fetches the conversions that `fromStorage` of these objects needs. Call it within a request. */
  prepare(stored: readonly UnstructuredObject[]): void;
  /** Fetches the same conversions as `prepare`, outside of a request. Never rejects. */
  fetch(stored: readonly UnstructuredObject[]): Promise<void>;
  /** Returns a conversion that `prepare` or `fetch` has fetched; undefined if neither has. */
  known(stored: UnstructuredObject): UnstructuredObject | undefined;
}

/** The parts of a CustomResourceDefinition other than its schema. */
interface CustomKind {
  /**
   * The resource version of the last change of the CRD's spec. Watches cannot resume from an earlier version, as on a
   * real server.
   */
  readonly since: number;
  readonly scale: ScalePaths | undefined;
  /** The path of the replicas in each version that has a scale, by `apiVersion`. */
  readonly replicasPaths: ReadonlyMap<string, string>;
  readonly hasStatus: boolean;
  readonly columns: readonly CustomColumn[];
  /** True if the definition is being deleted, so that creates are refused. */
  readonly terminating: boolean;
  /**
   * Drops nulls that the schema forbids, in place, from bodies and patched objects. Nulls in the result of an
   * apply stay, and validation refuses them.
   * @returns true if there were any
   */
  dropNulls(object: UnstructuredObject): boolean;
}

/** Paths of the fields in a custom resource's scale subresource, for example `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string | undefined;
}

/** `additionalPrinterColumns` of a CRD. */
export interface CustomColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** Built-in groups and kinds whose finalizers need no domain. Finalizers of custom resources need no domain either. */
const plainFinalizers: ReadonlySet<string> = new Set([
  ...['apiextensions.k8s.io', 'apiregistration.k8s.io', 'admissionregistration.k8s.io'],
  ...['/Event', 'coordination.k8s.io/Lease', 'node.k8s.io/RuntimeClass'],
  'policy/PodDisruptionBudget',
]);

/** Returns whether finalizers of a kind must have qualified names. */
export function hasQualifiedFinalizers({ type, custom }: ServedKind): boolean {
  const { group, kind } = type;
  if (custom !== undefined || plainFinalizers.has(group)) return false;
  return !plainFinalizers.has(`${group}/${kind}`);
}

/** Returns the subject of errors about an object of `kind`. */
export function subjectOf(
  kind: ServedKind,
  name?: string,
): { group: string; plural: string; name: string | undefined } {
  return { group: kind.type.group, plural: kind.type.plural, name };
}

/** Returns a built-in kind that only the subresource of `parent` accepts. */
export function subresourceKind(
  parent: ServedKind,
  {
    group,
    version,
    kind,
  }: { readonly group: string; readonly version: string; readonly kind: string },
): ServedKind {
  const { plural, namespaced } = parent.type;
  const type = { group, version, kind, plural, namespaced };
  const name = definitionName(group, version, kind);
  return {
    ...parent,
    type,
    rules: {},
    custom: undefined,
    conversions: undefined,
    subresources: new Map(),
    schema: () => definition(name),
    decode: (value) => {
      const at = new Decoding();
      const typed = { ...value, kind, apiVersion: apiVersionOf(type) };
      const object = goType(goTypeName(name)).decode(typed, at) as UnstructuredObject;
      return { object, unknownFields: at.unknownFields };
    },
    inOrder: (object) => object,
    toStorage: (object) => object,
    fromStorage: (object) => object,
  };
}

/** All served kinds, in each of their versions. CRDs add and remove kinds. */
export class KindRegistry {
  readonly #byPlural = new Map<string, ServedKind>();
  readonly #byKind = new Map<string, ServedKind>();
  readonly #listeners = new Set<() => void>();
  #generation = 0;
  #converting = false;

  /** Increases with each change. A value computed from the kinds is valid for one generation. */
  get generation(): number {
    return this.#generation;
  }

  /** True if a webhook converts the objects of a kind. */
  get converting(): boolean {
    return this.#converting;
  }

  find(group: string, version: string, plural: string): ServedKind | undefined {
    return this.#byPlural.get(`${group}/${version}/${plural}`);
  }

  findKind(group: string, version: string, kind: string): ServedKind | undefined {
    return this.#byKind.get(`${group}/${version}/${kind}`);
  }

  /** Returns all kinds in the order of their addition. */
  all(): Iterable<ServedKind> {
    return this.#byPlural.values();
  }

  /** Returns one version of each kind: the storage version, or another version if the storage version is not served. */
  stored(): readonly ServedKind[] {
    const stored = new Map<string, ServedKind>();
    for (const kind of this.all()) {
      if (!kind.verbs.includes('list')) continue;
      if (kind.isStorageVersion || !stored.has(kind.collection)) stored.set(kind.collection, kind);
    }
    return [...stored.values()];
  }

  /**
   * Returns the storage version of the kind in `collection`, or another version if the storage version is not served.
   */
  storedIn(collection: string): ServedKind | undefined {
    let found: ServedKind | undefined;
    for (const kind of this.all()) {
      if (kind.collection !== collection) continue;
      if (kind.isStorageVersion) return kind;
      found ??= kind;
    }
    return found;
  }

  /** Starts to serve `kinds`. */
  add(kinds: readonly ServedKind[]): void {
    this.replace([], kinds);
  }

  /** Replaces the kinds `before` by `kinds` in one change. */
  replace(before: readonly ServedKind[], kinds: readonly ServedKind[]): void {
    for (const { type } of before) {
      this.#byPlural.delete(`${type.group}/${type.version}/${type.plural}`);
      this.#byKind.delete(`${type.group}/${type.version}/${type.kind}`);
    }
    for (const kind of kinds) {
      const { group, version, plural } = kind.type;
      this.#byPlural.set(`${group}/${version}/${plural}`, kind);
      this.#byKind.set(`${group}/${version}/${kind.type.kind}`, kind);
    }
    this.#changed();
  }

  /** Calls `listener` after each change of the kinds. @returns a function that unsubscribes */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    this.#generation++;
    this.#converting = [...this.all()].some(({ conversions }) => conversions !== undefined);
    for (const listener of [...this.#listeners]) listener();
  }
}
