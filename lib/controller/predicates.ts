import type { AddedEvent, CacheEvent, DeletedEvent, UpdatedEvent } from '../cache/informer.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import {
  labelRequirementsOf,
  matchesLabels,
  parseLabelSelector,
} from '../object/label-selector.js';
import type { LabelSelector } from '../object/label-selector.js';
import { OperatorError } from '../system/operator-error.js';
import { isThenable } from './thenable.js';

/**
 * Whether an event matters. One that throws, or returns a promise, is logged, and the event matters:
 * there is no time to wait while events are told.
 */
export type Predicate<T extends KubernetesObject = KubernetesObject> = (
  event: CacheEvent<T>,
) => boolean;

/** One function for each kind of event; what is left out passes. */
export interface EventPredicates<T extends KubernetesObject = KubernetesObject> {
  readonly added?: ((event: AddedEvent<T>) => boolean) | undefined;
  readonly updated?: ((event: UpdatedEvent<T>) => boolean) | undefined;
  readonly deleted?: ((event: DeletedEvent<T>) => boolean) | undefined;
}

/** A predicate of one function for each kind of event. */
export function onEvents<T extends KubernetesObject>(predicates: EventPredicates<T>): Predicate<T> {
  const { added, updated, deleted } = predicates;
  return (event) => {
    switch (event.type) {
      case 'added':
        return added?.(event) ?? true;
      case 'updated':
        return updated?.(event) ?? true;
      case 'deleted':
        return deleted?.(event) ?? true;
    }
  };
}

/**
 * Updates count only where `differs` says so, or the object is another of the same name: one that
 * was recreated while nobody looked.
 */
function updatedWhere(
  differs: (old: KubernetesObject, object: KubernetesObject) => boolean,
): Predicate {
  return onEvents({
    updated: ({ old, object }) => old.metadata.uid !== object.metadata.uid || differs(old, object),
  });
}

/**
 * Updates count only when the spec changed: status updates, labels and annotations don't. Of a kind
 * without generations (ConfigMap, Secret) all count.
 */
export function generationChanged(): Predicate {
  return updatedWhere(
    ({ metadata: { generation } }, object) =>
      generation === undefined || generation !== object.metadata.generation,
  );
}

/** Updates count only when something changed at all. */
export function resourceVersionChanged(): Predicate {
  return updatedWhere(
    (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
  );
}

/** Updates count only when a label changed; with names, one of these. */
export function labelChanged(...names: readonly string[]): Predicate {
  return updatedWhere((old, object) => differ(old.metadata.labels, object.metadata.labels, names));
}

/** Updates count only when an annotation changed; with names, one of these. */
export function annotationChanged(...names: readonly string[]): Predicate {
  return updatedWhere((old, object) =>
    differ(old.metadata.annotations, object.metadata.annotations, names),
  );
}

/**
 * Only objects that match, or did before the event: who selects by label must hear of those that
 * leave, too.
 * @param selector - `app=web,tier in (a,b)`, or a selector object
 * @throws OperatorError `InvalidSelector`
 */
export function labelSelector(selector: string | LabelSelector): Predicate {
  const requirements =
    typeof selector === 'string' ? parseLabelSelector(selector) : labelRequirementsOf(selector);
  return (event) =>
    statesOf(event).some(({ metadata }) => matchesLabels(requirements, metadata.labels));
}

/** Nothing from these namespaces: what operators know as their `DENY_LIST`. */
export function ignoreNamespaces(...namespaces: readonly string[]): Predicate {
  const ignored = new Set(namespaces);
  return ({ object }) => !ignored.has(object.metadata.namespace ?? '');
}

/**
 * Nothing of objects that have the annotation, with `value` where one is given. Whoever takes it off
 * is heard. Deletions count.
 */
export function ignoreAnnotated(annotation: string, value?: string): Predicate {
  return ({ type, object }) => {
    const { annotations = {} } = object.metadata;
    if (type === 'deleted' || !Object.hasOwn(annotations, annotation)) return true;
    return value !== undefined && annotations[annotation] !== value;
  };
}

/**
 * What `predicate` says.
 * @throws what it throws
 * @throws OperatorError `InvalidValue`: it returned a promise, which would count as true.
 */
export function answerOf<T extends KubernetesObject>(
  predicate: Predicate<T>,
  event: CacheEvent<T>,
): boolean {
  const answer: unknown = predicate(event);
  if (!isThenable(answer)) return answer as boolean;
  // Nobody will wait for it.
  answer.then(undefined, () => undefined);
  const message = 'a predicate has to answer at once, this one returned a promise';
  throw new OperatorError('InvalidValue', message);
}

/** What all of them let pass. */
export function and<T extends KubernetesObject>(
  ...predicates: readonly Predicate<T>[]
): Predicate<T> {
  return (event) => predicates.every((predicate) => answerOf(predicate, event));
}

/** What one of them lets pass. */
export function or<T extends KubernetesObject>(
  ...predicates: readonly Predicate<T>[]
): Predicate<T> {
  return (event) => predicates.some((predicate) => answerOf(predicate, event));
}

/** What it does not let pass. */
export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => !answerOf(predicate, event);
}

function statesOf<T extends KubernetesObject>(event: CacheEvent<T>): readonly T[] {
  return event.type === 'updated' ? [event.old, event.object] : [event.object];
}

type Texts = Readonly<Record<string, string>>;

function differ(before: Texts = {}, after: Texts = {}, names: readonly string[]): boolean {
  const compared = names.length > 0 ? names : Object.keys({ ...before, ...after });
  const own = (texts: Texts, name: string): string | undefined =>
    Object.hasOwn(texts, name) ? texts[name] : undefined;
  return compared.some((name) => own(before, name) !== own(after, name));
}
