import type { Source, SourceContext } from '../../controller/index.js';
import type { ObjectKey } from '../../object/kubernetes-object.js';
import { keyString } from '../../object/object-key.js';
import type { Timer } from '../../system/clock.js';

/** A source that enqueues keys when its methods are called. */
export interface ToldSource extends Source {
  /** Whether a running controller uses the source. */
  readonly isRunning: boolean;
  /** Enqueues `key`. @returns false if no running controller uses the source */
  tell(key: ObjectKey): boolean;
  /** Enqueues `key` of a cluster after a delay, unless the controller stops first. */
  tellLater(key: ObjectKey, cluster: string, afterMs: number): void;
}

/** Makes a {@link ToldSource}. */
export function toldSource(name: string): ToldSource {
  const contexts = new Set<SourceContext>();
  const timers = new Map<SourceContext, Map<string, Timer>>();
  const trigger = { type: 'source', source: name } as const;
  return {
    name,
    get isRunning() {
      return contexts.size > 0;
    },
    start: (context) => {
      contexts.add(context);
      timers.set(context, new Map());
      return {
        stop: () => {
          contexts.delete(context);
          for (const timer of timers.get(context)?.values() ?? []) timer.cancel();
          timers.delete(context);
        },
      };
    },
    tellLater: (key, cluster, afterMs) => {
      for (const [context, waiting] of timers) {
        if (context.cluster !== cluster) continue;
        const id = keyString(key);
        waiting.get(id)?.cancel();
        const timer = context.clock.setTimer(() => {
          waiting.delete(id);
          context.enqueue(key, { trigger });
        }, afterMs);
        waiting.set(id, timer);
      }
    },
    tell: (key) => {
      for (const context of contexts) context.enqueue(key, { trigger });
      return contexts.size > 0;
    },
  };
}
