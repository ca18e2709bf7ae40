import type { DeleteCollectionOptions, DeleteOptions, WriteOptions } from '../client/client.js';
import { isAlreadyExists, isApiError, isConflict, isNotFound } from '../object/api-error.js';
import { matchesFields } from '../object/field-selector.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import { matchesLabels } from '../object/label-selector.js';
import { keyOf, keyString } from '../object/object-key.js';
import type { Patch } from '../object/patch.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Cache } from './cache.js';
import type { SharedInformer } from './shared-informer.js';

/** One object of a kind. */
export interface Target {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
}

/** Tells a cache what was written, so that its readers see it before the watch shows it. */
export class WriteNotes {
  readonly #cache: Cache;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** A write to `target` was answered with `answer`, the object or, of a subresource, another. */
  written(target: Target, answer: KubernetesObject, options: WriteOptions = {}): void {
    if (options.dryRun === true) return;
    const { resourceVersion, namespace, name } = answer.metadata;
    // The key of a generated name is known only now.
    const key = name === undefined ? target.key : { namespace, name };
    const isWhole = answer.kind === target.type.kind && answer.metadata.uid !== undefined;
    for (const informer of this.#informers({ ...target, key })) {
      const { overlay } = informer;
      if (!isWhole) {
        // A Scale has the version of what it scales.
        if (resourceVersion !== undefined) overlay.touched(keyString(key), resourceVersion);
      } else if (isGoneAfter(answer)) {
        overlay.deleted(keyString(key), answer.metadata.uid);
      } else {
        informer.written(keyString(key), answer);
      }
    }
  }

  /** `target` was deleted; `remaining` is what finalizers or a grace period left of it. */
  deleted(target: Target, remaining: KubernetesObject | undefined, options: DeleteOptions): void {
    if (options.dryRun === true) return;
    if (remaining !== undefined) {
      this.written(target, remaining);
      return;
    }
    for (const { overlay } of this.#informers(target)) {
      overlay.deleted(keyString(target.key), options.preconditions?.uid);
    }
  }

  /**
   * All that `options` select are about to be deleted. What is made after that, of the same name
   * perhaps, is left alone.
   * @returns what to call when they are
   */
  deletingCollection(
    type: TypeReference<KubernetesObject>,
    options: DeleteCollectionOptions = {},
  ): () => void {
    if (options.dryRun === true) return () => undefined;
    const { namespace = '', labelSelector = '', fieldSelector = '' } = options;
    const notes = [false, true].flatMap((metadataOnly) => {
      const informer = this.#cache.peek(type, metadataOnly);
      const objects = informer ? shownBy(informer, namespace === '' ? undefined : namespace) : [];
      const isSelected = ({ metadata }: KubernetesObject): boolean =>
        matchesLabels(labelSelector, metadata.labels);
      // Of other fields metadata tells nothing: to doubt one too many does no harm.
      const hasFields = (object: KubernetesObject): boolean =>
        metadataOnly || matchesFields(fieldSelector, object);
      return objects
        .filter((object) => isSelected(object) && hasFields(object))
        .map((object) => () => {
          informer?.overlay.deletedWithOthers(keyString(keyOf(object)), object.metadata.uid);
        });
    });
    return () => {
      for (const note of notes) note();
    };
  }

  /**
   * The server refused a write to `target`. Where that shows that the cache is behind, its next
   * reader waits.
   * @param sentVersion - the resourceVersion that the write named
   */
  refused(target: Target, error: unknown, sentVersion: string | undefined): void {
    const { name } = target.key;
    if (name === '' || !isApiError(error)) return;
    for (const { overlay, filtered } of this.#informers(target)) {
      const seen = overlay.look(keyString(target.key));
      const isStale =
        seen.type === 'object'
          ? isNotFound(error) ||
            (isConflict(error) && seen.object.metadata.resourceVersion === sentVersion)
          : // Of what its selectors leave out, a cache never hears.
            seen.type === 'absent' && !filtered && showsThatItExists(error, sentVersion);
      if (isStale) overlay.conflicted(keyString(target.key));
    }
  }

  /** The informers that show `target`. */
  #informers({ type, key }: Target): readonly SharedInformer[] {
    const namespace = key.namespace === '' ? undefined : key.namespace;
    return [this.#cache.peek(type), this.#cache.peek(type, true)].flatMap((informer) =>
      informer?.covers(namespace) === true ? [informer] : [],
    );
  }
}

/** What readers see: the state of the watch, and over it what was written since. */
function shownBy<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  namespace: string | undefined,
): readonly T[] {
  const written = informer.overlay.unseen(namespace);
  const keys = new Set(written.map((object) => keyString(keyOf(object))));
  const stored = informer.list(namespace).filter((object) => !keys.has(keyString(keyOf(object))));
  return [...stored, ...written];
}

/** A conflict about a version, but not one about a UID, is of an object that exists. */
function showsThatItExists(error: unknown, sentVersion: string | undefined): boolean {
  return isAlreadyExists(error) || (isConflict(error) && sentVersion !== undefined);
}

/** The resourceVersion that a patch demands of the live object, or undefined. */
export function versionInPatch(patch: Patch): string | undefined {
  if (patch.type === 'json') {
    const test = patch.operations.find(
      ({ op, path }) => op === 'test' && path === '/metadata/resourceVersion',
    );
    return test !== undefined && 'value' in test ? String(test.value) : undefined;
  }
  return (patch.body as Partial<KubernetesObject>).metadata?.resourceVersion;
}

/** Whether a write has ended the object: what takes the last finalizer off deletes it. */
function isGoneAfter(answer: KubernetesObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = answer.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds > 0) return false;
  // A Namespace's finalizers stand in its spec.
  const { spec } = answer as { spec?: { finalizers?: readonly string[] } };
  return finalizers.length === 0 && (spec?.finalizers ?? []).length === 0;
}
