import {
  apiVersionOf,
  diffObjects,
  serverSetFields,
  matchesFields,
  matchesLabels,
  controllerOf,
  groupOfType,
} from '../object/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  UnstructuredObject,
  TypeReference,
} from '../object/index.js';
import type { ListOptions } from '../client/index.js';

/** An object that the plan writes. */
export interface PlannedObjectState {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
  /** State on the server; undefined: does not exist. */
  readonly before: UnstructuredObject | undefined;
  /** Planned state; undefined: deleted. */
  readonly after: UnstructuredObject | undefined;
  /** Desired state of a created object. */
  readonly wanted?: UnstructuredObject | undefined;
  /** Whether the object is deleted and created again. */
  readonly recreated?: boolean;
  /** Whether the object was deleted without its pods, so that the new object takes them over. */
  readonly orphaned?: boolean | undefined;
  /** Why `after` is a guess and not the answer of a dry run. Undefined for an answer. */
  readonly guessed?: string | undefined;
  /** Writers with the part they wrote: `manager/subresource`. */
  readonly writers: ReadonlySet<string>;
  /** The server's answer to the last apply of each writer. */
  readonly applied?: ReadonlyMap<string, UnstructuredObject> | undefined;
  /** The last configuration that each writer applied. */
  readonly configurations?: ReadonlyMap<string, KubernetesObject> | undefined;
  /** Whether the status is simulated and differs from the server's. */
  readonly simulated?: boolean | undefined;
}

/** The state of a plan at a moment. */
export type PlannedMoment = ReadonlyMap<string, PlannedObjectState>;

/** Returns the object in another version of its API, as the API server converts it. */
export type Conversion = (object: UnstructuredObject, apiVersion: string) => UnstructuredObject;

/**
 * The changes of a plan, laid over the server's state. An object has the version of its last writer; reads in
 * another version get it converted.
 */
export class PlannedObjects {
  readonly #convert: Conversion;
  readonly #states = new Map<string, PlannedObjectState>();
  readonly #seen = new Map<string, PlannedObjectState>();
  #revision = 0;

  /** @param convert - converts an object to another version. @defaultValue objects keep their version */
  constructor(convert: Conversion = (object) => object) {
    this.#convert = convert;
  }

  /** Number of changes to fields that the server does not set itself. */
  get revision(): number {
    return this.#revision;
  }

  /** All written objects in the order of their first writes. */
  get all(): readonly PlannedObjectState[] {
    return [...this.#states.values()];
  }

  /** Returns the state of a written object, in the version of `type`. */
  get(type: TypeReference<KubernetesObject>, key: ObjectKey): PlannedObjectState | undefined {
    const state = this.#states.get(idOf(type, key));
    return state && this.#inVersion(state, apiVersionOf(type));
  }

  /** Records the planned state of an object. */
  set(given: PlannedObjectState): void {
    const id = idOf(given.type, given.key);
    const earlier = this.get(given.type, given.key);
    const from = earlier === undefined ? given.before : earlier.after;
    const state = { ...given, after: withGeneration(from, given.after) };
    if (differ(from, state.after)) this.#revision++;
    this.#states.set(id, state);
  }

  /** Records an object that was read from the server. */
  see(type: TypeReference<KubernetesObject>, object: UnstructuredObject): void {
    const { namespace, name = '' } = object.metadata;
    const key = { namespace, name };
    const writers = new Set<string>();
    this.#seen.set(idOf(type, key), { type, key, before: object, after: object, writers });
  }

  /** The written and read objects that exist. */
  get known(): readonly PlannedObjectState[] {
    const all = new Map([...this.#seen, ...this.#states]);
    return [...all.values()].filter(({ after }) => after !== undefined);
  }

  /** Returns an owner and its controlled objects that were read and not written: they stay unchanged. */
  keptOf(owner: KubernetesObject): readonly PlannedObjectState[] {
    const { uid } = owner.metadata;
    return [...this.#seen].flatMap(([id, state]) => {
      const { after } = state;
      if (after === undefined || this.#states.has(id)) return [];
      return [after.metadata.uid, controllerOf(after)?.uid].includes(uid) ? [state] : [];
    });
  }

  /** Records what the cluster's controllers would do with an object. This does not count as a change of the plan. */
  simulate(state: PlannedObjectState, after: UnstructuredObject): void {
    this.#states.set(idOf(state.type, state.key), { ...state, after, simulated: true });
  }

  /** Returns the current state for {@link PlannedObjects.since}. */
  moment(): PlannedMoment {
    return new Map(this.#states);
  }

  /** Returns the writes since a moment. */
  since(moment: PlannedMoment): readonly PlannedObjectState[] {
    return [...this.#states].map(([id, state]) => {
      const then = moment.get(id);
      if (then === undefined) return state;
      const recreated = state.recreated === true && then.recreated !== true;
      const { after: before } = this.#inVersion(then, apiVersionOf(state.type));
      return { ...state, before, recreated };
    });
  }

  /** Lays the plan over the `items` of a list. */
  laidOver<T extends KubernetesObject>(
    items: readonly T[],
    type: TypeReference<T>,
    options: ListOptions,
  ): T[] {
    const written = this.all.filter((state) => isOfKind(state.type, type));
    const isWritten = new Set(written.map(({ key }) => idOf(type, key)));
    const others = items.filter(({ metadata: { namespace, name = '' } }) => {
      return !isWritten.has(idOf(type, { namespace, name }));
    });
    const own = written.flatMap((state) => {
      const { after } = this.#inVersion(state, apiVersionOf(type));
      const isOwn = after !== undefined && isListed(after, options);
      return isOwn ? [structuredClone(after) as unknown as T] : [];
    });
    return [...others, ...own];
  }

  #inVersion(state: PlannedObjectState, apiVersion: string): PlannedObjectState {
    const { type, before, after, applied = new Map<string, UnstructuredObject>() } = state;
    if (apiVersionOf(type) === apiVersion) return state;
    const converted = (object: UnstructuredObject): UnstructuredObject =>
      object.apiVersion === apiVersion ? object : this.#convert(object, apiVersion);
    return {
      ...state,
      type: { apiVersion, kind: type.kind },
      before: before && converted(before),
      after: after && converted(after),
      applied: new Map([...applied].map(([writer, object]) => [writer, converted(object)])),
      // Objects without the defaults of their version can't be converted.
      wanted: undefined,
      configurations: undefined,
    };
  }
}

/**
 * Increments the generation. Every dry run starts from the server's generation, but an observer of
 * `observedGeneration` needs a new one for each change.
 */
function withGeneration(
  from: UnstructuredObject | undefined,
  to: UnstructuredObject | undefined,
): UnstructuredObject | undefined {
  if (from?.metadata.generation === undefined || to?.metadata.generation === undefined) return to;
  const { generation: earlier } = from.metadata;
  const ignore = ['metadata', 'status'];
  const generation = diffObjects(from, to, { ignore }).length > 0 ? earlier + 1 : earlier;
  return { ...to, metadata: { ...to.metadata, generation } };
}

function idOf(type: TypeReference<KubernetesObject>, { namespace = '', name }: ObjectKey): string {
  return [groupOfType(type), type.kind, namespace, name].join('/');
}

function isOfKind(
  one: TypeReference<KubernetesObject>,
  other: TypeReference<KubernetesObject>,
): boolean {
  return one.kind === other.kind && groupOfType(one) === groupOfType(other);
}

function isListed(object: KubernetesObject, options: ListOptions): boolean {
  const { namespace, labelSelector = '', fieldSelector = '', controllerUid } = options;
  const { metadata } = object;
  return (
    (namespace === undefined || metadata.namespace === namespace) &&
    matchesLabels(labelSelector, metadata.labels) &&
    matchesFields(fieldSelector, object) &&
    (controllerUid === undefined || controllerOf(object)?.uid === controllerUid)
  );
}

/** Returns `object` with another string wherever it contains `from`, even in names of fields. */
export function replacedIn(
  object: UnstructuredObject,
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
): UnstructuredObject {
  if (from === undefined || to === undefined || from === to) return object;
  const text = JSON.stringify(object).replaceAll(inJson(from), () => inJson(to));
  return JSON.parse(text) as UnstructuredObject;
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Whether two states differ in fields that the server does not set itself. */
export function differ(
  one: KubernetesObject | undefined,
  other: KubernetesObject | undefined,
): boolean {
  return diffObjects(one, other, { ignore: serverSetFields }).length > 0;
}
