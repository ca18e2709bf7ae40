import type { Source, SourceContext } from '../../controller/source.js';
import type { ObjectKey } from '../../object/kubernetes-object.js';

/** A source that is told of keys by calls. */
export interface ToldSource extends Source {
  /** A controller is running that uses it. */
  readonly isRunning: boolean;
  /** Has `key` reconciled. @returns false: no controller is running that uses the source */
  tell(key: ObjectKey): boolean;
}

/** Makes a {@link ToldSource}. */
export function toldSource(name: string): ToldSource {
  const contexts = new Set<SourceContext>();
  return {
    name,
    get isRunning() {
      return contexts.size > 0;
    },
    start: (context) => {
      contexts.add(context);
      return { stop: () => void contexts.delete(context) };
    },
    tell: (key) => {
      const trigger = { type: 'source', source: name } as const;
      for (const context of contexts) context.enqueue(key, { trigger });
      return contexts.size > 0;
    },
  };
}
