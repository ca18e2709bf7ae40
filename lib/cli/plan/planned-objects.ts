import { diffObjects, serverSetFields } from '../../object/diff-by-path.js';
import { matchesFields } from '../../object/field-selector.js';
import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { matchesLabels } from '../../object/label-selector.js';
import { controllerOf } from '../../object/owner-reference.js';
import { groupOfType } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';
import type { ListOptions } from '../../client/client.js';

/** An object that was written in a plan. */
export interface PlannedObjectState {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
  /** As the server has it; undefined: not at all. */
  readonly before: UnstructuredObject | undefined;
  /** As it would be; undefined: gone. */
  readonly after: UnstructuredObject | undefined;
  /** What was wanted of one that is made. */
  readonly wanted?: UnstructuredObject | undefined;
  /** It was deleted, and made again. */
  readonly recreated?: boolean;
  /** Why `after` is a guess: the server could not be asked. */
  readonly guessed?: string | undefined;
  /** Who wrote it, and which part: `manager/subresource`. */
  readonly writers: ReadonlySet<string>;
  /** Its status is what the cluster's controllers are taken to write: the server knows another. */
  readonly simulated?: boolean | undefined;
}

/** A moment of a plan: what there was by then. */
export type PlannedMoment = ReadonlyMap<string, PlannedObjectState>;

/** What a plan would change: laid over what the server has. */
export class PlannedObjects {
  readonly #states = new Map<string, PlannedObjectState>();
  readonly #seen = new Map<string, PlannedObjectState>();
  #revision = 0;

  /** How often anything was changed that the server does not set itself. */
  get revision(): number {
    return this.#revision;
  }

  /** All that was written, in the order of the first writes. */
  get all(): readonly PlannedObjectState[] {
    return [...this.#states.values()];
  }

  /** Of an object that was written. */
  get(type: TypeReference<KubernetesObject>, key: ObjectKey): PlannedObjectState | undefined {
    return this.#states.get(idOf(type, key));
  }

  /** Takes note of what an object would be now. */
  set(given: PlannedObjectState): void {
    const id = idOf(given.type, given.key);
    const earlier = this.#states.get(id);
    const from = earlier === undefined ? given.before : earlier.after;
    const state = { ...given, after: withGeneration(from, given.after) };
    if (differ(from, state.after) || (state.recreated === true && earlier?.recreated !== true)) {
      this.#revision++;
    }
    this.#states.set(id, state);
  }

  /** Takes note of an object that was looked at, as the server has it. */
  see(type: TypeReference<KubernetesObject>, object: UnstructuredObject): void {
    const { namespace, name = '' } = object.metadata;
    const key = { namespace, name };
    const writers = new Set<string>();
    this.#seen.set(idOf(type, key), { type, key, before: object, after: object, writers });
  }

  /** What was written or looked at, and is there. */
  get known(): readonly PlannedObjectState[] {
    const all = new Map([...this.#seen, ...this.#states]);
    return [...all.values()].filter(({ after }) => after !== undefined);
  }

  /** An owner, and what it controls, that was looked at and not written: all of it stays as it is. */
  keptOf(owner: KubernetesObject): readonly PlannedObjectState[] {
    const { uid } = owner.metadata;
    return [...this.#seen].flatMap(([id, state]) => {
      const { after } = state;
      if (after === undefined || this.#states.has(id)) return [];
      return [after.metadata.uid, controllerOf(after)?.uid].includes(uid) ? [state] : [];
    });
  }

  /** Lays over an object what the controllers of the cluster make of it: nobody's change. */
  simulate(state: PlannedObjectState, after: UnstructuredObject): void {
    this.#states.set(idOf(state.type, state.key), { ...state, after, simulated: true });
  }

  /** Now, for {@link PlannedObjects.since}. */
  moment(): PlannedMoment {
    return new Map(this.#states);
  }

  /** What was written, as if it had begun at a moment. */
  since(moment: PlannedMoment): readonly PlannedObjectState[] {
    return [...this.#states].map(([id, state]) => {
      const then = moment.get(id);
      if (then === undefined) return state;
      const recreated = state.recreated === true && then.recreated !== true;
      return { ...state, before: then.after, recreated };
    });
  }

  /** `items` of a list, as they would be. */
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
    const own = written.flatMap(({ after }) =>
      after !== undefined && isListed(after, options)
        ? [structuredClone(after) as unknown as T]
        : [],
    );
    return [...others, ...own];
  }
}

/**
 * Dry runs all count from the generation that the server has; who looks whether a change was observed
 * needs one for each change.
 */
function withGeneration(
  from: UnstructuredObject | undefined,
  to: UnstructuredObject | undefined,
): UnstructuredObject | undefined {
  const earlier = from?.metadata.generation;
  if (from === undefined || to?.metadata.generation === undefined) return to;
  if (earlier === undefined) return to;
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
    (namespace === undefined || namespace === '' || metadata.namespace === namespace) &&
    matchesLabels(labelSelector, metadata.labels) &&
    matchesFields(fieldSelector, object) &&
    (controllerUid === undefined || controllerOf(object)?.uid === controllerUid)
  );
}

/** Whether two states differ in more than what the server sets itself. */
export function differ(
  one: KubernetesObject | undefined,
  other: KubernetesObject | undefined,
): boolean {
  if (one === undefined || other === undefined) return one !== other;
  return diffObjects(one, other, { ignore: serverSetFields }).length > 0;
}
