import { describeObject } from '../../object/describe-object.js';
import { isJsonObject } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { rolloutStatus } from '../../object/rollout-status.js';
import type { Explanation } from '../conditions/marks.js';

/** The workloads of a system that have not rolled out. */
export interface Degradation extends Explanation {
  /** Waiting longer will not help: a controller has given up, or somebody holds it. */
  readonly stuck: boolean;
}

/** Why the system is not well: the workloads that have not rolled out. Undefined: all have. */
export function whyDegraded(objects: readonly UnstructuredObject[]): Degradation | undefined {
  const waiting = objects.flatMap((object) => {
    const rollout = rolloutStatus(object);
    if (rollout.complete) return [];
    const { message, stuck } = rollout;
    // Somebody has to resume it: an upgrade would wait for ever, and not say for what.
    if (isPaused(object))
      return [{ kind: object.kind, message: `${message}; paused`, stuck: true }];
    return [{ kind: object.kind, message, stuck }];
  });
  const [first] = waiting;
  if (first === undefined) return undefined;
  const message = waiting.map((each) => each.message).join('; ');
  return { reason: `${first.kind}NotReady`, message, stuck: waiting.some(({ stuck }) => stuck) };
}

/** The workloads that have not rolled out, each with how far it is, in words that stay the same. */
export function rollouts(objects: readonly UnstructuredObject[]): readonly string[] {
  return objects.flatMap((object) => {
    const rollout = rolloutStatus(object);
    if (rollout.complete) return [];
    if (rollout.stuck) return [rollout.message];
    if (isPaused(object)) return [`${describeObject(object)}: rollout is paused`];
    return [`${describeObject(object)}: ${object.kind === 'Job' ? 'running' : 'rolling out'}`];
  });
}

function isPaused({ kind, spec }: UnstructuredObject): boolean {
  return kind === 'Deployment' && isJsonObject(spec) && spec['paused'] === true;
}
