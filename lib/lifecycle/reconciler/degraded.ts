import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { rolloutStatus } from '../../object/rollout-status.js';
import type { Explanation } from '../conditions/marks.js';
import { setLifecycleCondition } from '../conditions/set-lifecycle-condition.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';

/** Why the system is not well: the workloads that have not rolled out. Undefined: all have. */
export function whyDegraded(objects: readonly UnstructuredObject[]): Explanation | undefined {
  const waiting = objects.flatMap((object) => {
    const rollout = rolloutStatus(object);
    return rollout.complete ? [] : [{ kind: object.kind, message: rollout.message }];
  });
  const [first] = waiting;
  if (first === undefined) return undefined;
  const message = waiting.map((each) => each.message).join('; ');
  return { reason: `${first.kind}NotReady`, message };
}

/** Says in the status that the system is not well, or is well again; its phase stays. */
export function setDegraded<CR extends LifecycleObject>(
  pass: Pass<CR>,
  why: Explanation | undefined,
): void {
  const { conditions = [] } = pass.status;
  const current = conditions.find(({ type }) => type === 'Degraded');
  const status = why === undefined ? 'False' : 'True';
  const isSame =
    current?.status === status &&
    current.reason === why?.reason &&
    current.message === why?.message;
  if (isSame) return;
  const update = { type: 'Degraded', status, ...why } as const;
  const next = setLifecycleCondition(conditions, update, pass.settings.clock);
  pass.status = { ...pass.status, conditions: next };
}
