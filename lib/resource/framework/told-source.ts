import type { Source, SourceContext } from '../../controller/source.js';
import type { ObjectKey } from '../../object/kubernetes-object.js';
import { keyString } from '../../object/object-key.js';
import type { Timer } from '../../system/clock.js';

/** A source that is told of keys by calls. */
export interface ToldSource extends Source {
  /** A controller is running that uses it. */
  readonly isRunning: boolean;
  /** Has `key` reconciled. @returns false: no controller is running that uses the source */
  tell(key: ObjectKey): boolean;
  /** Has `key` of a cluster reconciled after a while, unless the controller is stopped first. */
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
