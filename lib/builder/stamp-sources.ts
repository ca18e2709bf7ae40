import { readObject, refId } from '../apply/index.js';
import type { Outcome } from '../apply/index.js';
import type { ObjectReference } from '../object/object-reference.js';
import type { Chain } from './chain.js';
import type { RunContext } from './context.js';
import { stampTypes } from './stamps-for.js';
import type { StampSources } from './stamps-for.js';

/** What is known when the stamps of a workload are made. */
export interface Known {
  readonly chain: Chain;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** The workload. */
  readonly of: ObjectReference;
}

/** ConfigMaps and Secrets of the chain, of what was just applied, and else of the cluster. */
export function stampSources(
  context: Pick<RunContext, 'client' | 'settings'>,
  { chain, outcomes, of: { namespace } }: Known,
): StampSources {
  const refOf = (kind: 'ConfigMap' | 'Secret', name: string): ObjectReference => ({
    ...{ apiVersion: 'v1', kind, name },
    ...(namespace !== undefined && { namespace }),
  });
  return {
    salt: context.settings.owner.metadata.uid ?? '',
    chained: (kind, name) => {
      return chain.byId.get(refId(refOf(kind, name)))?.link.object;
    },
    applied: (kind, name) => outcomes.get(refId(refOf(kind, name)))?.state === 'done',
    live: async (kind, name) => {
      const ref = refOf(kind, name);
      const outcome = outcomes.get(refId(ref));
      const applied = outcome?.state === 'failed' ? undefined : outcome?.live;
      return applied ?? readObject(context, stampTypes[kind], ref);
    },
  };
}
