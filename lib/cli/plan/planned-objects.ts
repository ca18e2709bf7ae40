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
}

/** What a plan would change: laid over what the server has. */
export class PlannedObjects {
  readonly #states = new Map<string, PlannedObjectState>();
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
  set(state: PlannedObjectState): void {
    const id = idOf(state.type, state.key);
    const earlier = this.#states.get(id);
    const from = earlier === undefined ? state.before : earlier.after;
    if (differ(from, state.after) || (state.recreated === true && earlier?.recreated !== true)) {
      this.#revision++;
    }
    this.#states.set(id, state);
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
