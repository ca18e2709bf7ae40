import type { CacheEvent } from '../../cache/informer.js';
import type { SourceContext } from '../../controller/source.js';
import { eventTrigger } from '../../controller/trigger.js';
import type { Trigger } from '../../controller/trigger.js';
import type { KubernetesObject, ObjectKey } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { ResourceType } from '../../object/resource-type.js';
import { isOperatorError } from '../../system/operator-error.js';
import { followProblems, problemOf } from './watched-documents.js';

/** What a {@link TargetWatch} works with. */
export interface TargetWatchParts {
  readonly type: ResourceType;
  /** Takes an object that may not be as desired: it appeared, changed or went. */
  readonly changed: (key: ObjectKey, event: CacheEvent, trigger: Trigger) => void;
  /** Called when {@link TargetWatch.problem} is another. */
  readonly troubled: () => void;
}

/**
 * Watches the objects of a target, so that what others change or delete there is undone at once. The
 * cache follows the kind as a whole, once for all controllers.
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

  /** What the watch has shown of an object; undefined too where it is in quarantine. */
  get(key: ObjectKey): KubernetesObject | undefined {
    try {
      return this.#informer.get(key);
    } catch (error) {
      if (isOperatorError(error, 'Quarantined')) return undefined;
      throw error;
    }
  }

  /** Why drift is not noticed, in words; undefined: it is. */
  get problem(): string | undefined {
    const problem = problemOf(this.#informer);
    return problem && `target: drift is not undone: ${problem.message}`;
  }

  stop(): void {
    this.#endProblems();
    this.#informer.release();
  }
}
