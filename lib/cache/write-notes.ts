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

/** Identifies one object of a kind. */
export interface Target {
  readonly type: TypeReference<KubernetesObject>;
  readonly key: ObjectKey;
}

/** Records writes in a cache, so that its readers see them before the watch does. */
export class WriteNotes {
  readonly #cache: Cache;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** Records that a write to `target` returned `answer`: the object, or another one for a subresource. */
  written(target: Target, answer: KubernetesObject, options: WriteOptions = {}): void {
    if (options.dryRun === true) return;
    const { resourceVersion, namespace, name } = answer.metadata;
    // For a generated name, the key is known only from the answer.
    const key = name === undefined ? target.key : { namespace, name };
    const isWhole = answer.kind === target.type.kind && answer.metadata.uid !== undefined;
    for (const informer of this.#informers({ ...target, key })) {
      const { overlay } = informer;
      if (!isWhole) {
        // A Scale has the version of the object that it scales.
        if (resourceVersion !== undefined) overlay.touched(keyString(key), resourceVersion);
      } else if (isGoneAfter(answer)) {
        overlay.deleted(keyString(key), answer.metadata.uid);
      } else {
        informer.written(keyString(key), answer);
      }
    }
  }

  /** Records a deletion of `target`; `remaining` is the object if finalizers or a grace period keep it. */
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
   * Captures the objects selected by `options` before their deletion. It ignores objects created later, even
   * if they have the same name.
   * @returns a function to call after the deletion
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
      // Metadata does not contain other fields; to distrust one key too many does no harm.
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
   * Records that the server rejected a write to `target`. If that shows that the cache is behind, its next
   * reader waits.
   * @param sentVersion - the resourceVersion that the write specified
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
          : // A filtered cache never sees the objects that its selectors exclude.
            seen.type === 'absent' && !filtered && showsThatItExists(error, sentVersion);
      if (isStale) overlay.conflicted(keyString(target.key));
    }
  }

  /** Returns the informers that cover `target`. */
  #informers({ type, key }: Target): readonly SharedInformer[] {
    const namespace = key.namespace === '' ? undefined : key.namespace;
    return [this.#cache.peek(type), this.#cache.peek(type, true)].flatMap((informer) =>
      informer?.covers(namespace) === true ? [informer] : [],
    );
  }
}

/** Returns what readers see: the store, overlaid by recent writes. */
function shownBy<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  namespace: string | undefined,
): readonly T[] {
  const written = informer.overlay.unseen(namespace);
  const keys = new Set(written.map((object) => keyString(keyOf(object))));
  const stored = informer.list(namespace).filter((object) => !keys.has(keyString(keyOf(object))));
  return [...stored, ...written];
}

/** Returns true if the object must exist: a version conflict proves it, a UID conflict does not. */
function showsThatItExists(error: unknown, sentVersion: string | undefined): boolean {
  return isAlreadyExists(error) || (isConflict(error) && sentVersion !== undefined);
}

/** Returns the resourceVersion that a patch requires of the live object, or undefined. */
export function versionInPatch(patch: Patch): string | undefined {
  if (patch.type === 'json') {
    const test = patch.operations.find(
      ({ op, path }) => op === 'test' && path === '/metadata/resourceVersion',
    );
    return test !== undefined && 'value' in test ? String(test.value) : undefined;
  }
  return (patch.body as Partial<KubernetesObject>).metadata?.resourceVersion;
}

/** Returns true if a write ended the object: removing the last finalizer deletes it. */
function isGoneAfter(answer: KubernetesObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = answer.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds > 0) return false;
  // A Namespace keeps its finalizers in its spec.
  const { spec } = answer as { spec?: { finalizers?: readonly string[] } };
  return finalizers.length === 0 && (spec?.finalizers ?? []).length === 0;
}
