import type { CacheEvent } from '../../cache/informer.js';
import type { SourceContext, Trigger } from '../../controller/index.js';
import { eventTrigger } from '../../controller/index.js';
import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { ResourceType } from '../../object/resource-type.js';
import { isOperatorError } from '../../system/operator-error.js';
import { followProblems, problemOf } from './watched-documents.js';

/** Options of {@link TargetWatch}. */
export interface TargetWatchParts {
  readonly type: ResourceType;
  /** Called when an object may have drifted: it appeared, changed or was deleted. */
  readonly changed: (key: ObjectKey, event: CacheEvent, trigger: Trigger) => void;
  /** Called when {@link TargetWatch.problem} has changed. */
  readonly troubled: () => void;
}

/**
 * Watches the objects of a target, so that foreign changes and deletions are reverted at once. The cache
 * follows the whole kind, once for all controllers.
 */
export class TargetWatch {
  readonly #informer;
  readonly #endProblems: () => void;

  constructor({ type, changed, troubled }: TargetWatchParts, context: SourceContext) {
    this.#informer = context.cache.informer(type, { keepManagedFields: true });
    this.#informer.addHandler((event) => {
      changed(keyOf(event.object), event, eventTrigger(event, context.cluster));
    });
    this.#endProblems = followProblems(type, context, troubled);
  }

  /** Returns the cached object; undefined also if it is quarantined. */
  get(key: ObjectKey): KubernetesObject | undefined {
    try {
      return this.#informer.get(key);
    } catch (error) {
      if (isOperatorError(error, 'Quarantined')) return undefined;
      throw error;
    }
  }

  /** Text of the problem that keeps drift unnoticed; undefined if there is no problem. */
  get problem(): string | undefined {
    const problem = problemOf(this.#informer);
    return problem && `target: drift is not undone: ${problem.message}`;
  }

  stop(): void {
    this.#endProblems();
    this.#informer.release();
  }
}
