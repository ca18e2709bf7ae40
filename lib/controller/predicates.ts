import type { AddedEvent, CacheEvent, DeletedEvent, UpdatedEvent } from '../cache/informer.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import {
  labelRequirementsOf,
  matchesLabels,
  parseLabelSelector,
} from '../object/label-selector.js';
import type { LabelSelector } from '../object/label-selector.js';
import { OperatorError } from '../system/operator-error.js';
import { isThenable } from './sources.js';

/**
 * Returns true if an event causes a reconcile. If it throws or returns a promise, the error is logged and the
 * event counts: events are delivered synchronously.
 */
export type Predicate<T extends KubernetesObject = KubernetesObject> = (
  event: CacheEvent<T>,
) => boolean;

/** A function for each type of event; an absent one accepts all events of its type. */
export interface EventPredicates<T extends KubernetesObject = KubernetesObject> {
  readonly added?: ((event: AddedEvent<T>) => boolean) | undefined;
  readonly updated?: ((event: UpdatedEvent<T>) => boolean) | undefined;
  readonly deleted?: ((event: DeletedEvent<T>) => boolean) | undefined;
}

/** Returns a predicate that has a function for each type of event. */
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
 * Returns a predicate that accepts an update only if `differs` returns true, or if the UID changed: the
 * object was recreated while the watch was interrupted.
 */
function updatedWhere(
  differs: (old: KubernetesObject, object: KubernetesObject) => boolean,
): Predicate {
  return onEvents({
    updated: ({ old, object }) => old.metadata.uid !== object.metadata.uid || differs(old, object),
  });
}

/**
 * Accepts updates only if the spec changed, not for status, labels and annotations. For kinds without
 * generations (ConfigMap, Secret) it accepts all.
 */
export function generationChanged(): Predicate {
  return updatedWhere(
    ({ metadata: { generation } }, object) =>
      generation === undefined || generation !== object.metadata.generation,
  );
}

/** Accepts updates only if the resource version changed. */
export function resourceVersionChanged(): Predicate {
  return updatedWhere(
    (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
  );
}

/** Accepts updates only if a label changed; with `names`, only one of these labels. */
export function labelChanged(...names: readonly string[]): Predicate {
  return updatedWhere((old, object) => differ(old.metadata.labels, object.metadata.labels, names));
}

/** Accepts updates only if an annotation changed; with `names`, only one of these annotations. */
export function annotationChanged(...names: readonly string[]): Predicate {
  return updatedWhere((old, object) =>
    differ(old.metadata.annotations, object.metadata.annotations, names),
  );
}

/**
 * Accepts only objects that match, or that matched before the event, so that an object that stops matching is
 * reconciled too.
 * @param selector - `app=web,tier in (a,b)`, or a selector object
 * @throws OperatorError `InvalidSelector`
 */
export function labelSelector(selector: string | LabelSelector): Predicate {
  const requirements =
    typeof selector === 'string' ? parseLabelSelector(selector) : labelRequirementsOf(selector);
  return (event) =>
    statesOf(event).some(({ metadata }) => matchesLabels(requirements, metadata.labels));
}

/** Rejects all events from these namespaces, like the `DENY_LIST` of many operators. */
export function ignoreNamespaces(...namespaces: readonly string[]): Predicate {
  const ignored = new Set(namespaces);
  return ({ object }) => !ignored.has(object.metadata.namespace ?? '');
}

/**
 * Rejects events of objects that have the annotation, with `value` if given. The event that removes the
 * annotation is accepted, and so are deletions.
 */
export function ignoreAnnotated(annotation: string, value?: string): Predicate {
  return ({ type, object }) => {
    const { annotations = {} } = object.metadata;
    if (type === 'deleted' || !Object.hasOwn(annotations, annotation)) return true;
    return value !== undefined && annotations[annotation] !== value;
  };
}

/**
 * Returns the result of `predicate`.
 * @throws the error of `predicate`
 * @throws OperatorError `InvalidValue`: it returned a promise, which would count as true.
 */
export function answerOf<T extends KubernetesObject>(
  predicate: Predicate<T>,
  event: CacheEvent<T>,
): boolean {
  const answer: unknown = predicate(event);
  if (!isThenable(answer)) return answer as boolean;
  // Ignore its rejection, since nothing awaits the promise.
  answer.then(undefined, () => undefined);
  const message = 'a predicate has to answer at once, this one returned a promise';
  throw new OperatorError('InvalidValue', message);
}

/** Accepts an event if all predicates accept it. */
export function and<T extends KubernetesObject>(
  ...predicates: readonly Predicate<T>[]
): Predicate<T> {
  return (event) => predicates.every((predicate) => answerOf(predicate, event));
}

/** Accepts an event if at least one predicate accepts it. */
export function or<T extends KubernetesObject>(
  ...predicates: readonly Predicate<T>[]
): Predicate<T> {
  return (event) => predicates.some((predicate) => answerOf(predicate, event));
}

/** Accepts an event if `predicate` rejects it. */
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
