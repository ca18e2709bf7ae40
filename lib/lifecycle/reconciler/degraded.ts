import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { rolloutStatus } from '../../object/rollout-status.js';
import type { Explanation } from '../conditions/marks.js';

/** The workloads of a system that have not rolled out. */
export interface Degradation extends Explanation {
  /** Waiting longer will not help: a controller has given up. */
  readonly stuck: boolean;
}

/** Why the system is not well: the workloads that have not rolled out. Undefined: all have. */
export function whyDegraded(objects: readonly UnstructuredObject[]): Degradation | undefined {
  const waiting = objects.flatMap((object) => {
    const rollout = rolloutStatus(object);
    return rollout.complete ? [] : [{ kind: object.kind, ...rollout }];
  });
  const [first] = waiting;
  if (first === undefined) return undefined;
  const message = waiting.map((each) => each.message).join('; ');
  return { reason: `${first.kind}NotReady`, message, stuck: waiting.some(({ stuck }) => stuck) };
}
