import type { FormerController } from '../runtime/clean-up-target.js';
import { sameTarget } from '../operator/targets.js';
import type { TargetSpec } from '../spec/operator-spec.js';
import type { OperatorControllerStatus, OperatorStatus } from './operator-resource.js';

// The status says where controllers write, before they begin to: so that a process that knows nothing
// of a controller any more can still clean up after it.

/** Returns the controllers whose targets a status records. */
export function formerControllers(status: OperatorStatus | undefined): readonly FormerController[] {
  return (status?.controllers ?? []).flatMap((one) => {
    const target = targetOf(one);
    return target === undefined ? [] : [{ name: one.name, target }];
  });
}

/** What of `needed` a status does not have, as entries for it. */
export function unrecorded(
  status: OperatorStatus | undefined,
  needed: readonly FormerController[],
): readonly OperatorControllerStatus[] {
  const known = formerControllers(status);
  return needed
    .filter(
      ({ name, target }) =>
        !known.some((one) => one.name === name && sameTarget(one.target, target)),
    )
    .map(({ name, target }) => ({ name, target: writtenTarget(target) }));
}

/**
 * The entries of a new status; what is to be remembered of the one before is added: targets of
 * controllers that can't be run now, and with `keepsFormer` all those that are not among the new.
 */
export function withRecords(
  controllers: readonly OperatorControllerStatus[],
  {
    before,
    keepsFormer,
  }: { readonly before: OperatorStatus | undefined; readonly keepsFormer: boolean },
): OperatorControllerStatus[] {
  const old = before?.controllers ?? [];
  const entries = controllers.map((one) => {
    const target = one.target ?? old.find(({ name }) => name === one.name)?.target;
    return target === undefined ? one : { ...one, target };
  });
  if (!keepsFormer) return entries;
  return [...entries, ...unrecorded({ controllers: entries }, formerControllers(before))];
}

/** Returns a target as JSON, without undefined members. */
export function writtenTarget({
  apiGroup,
  version,
  kind,
  type,
}: TargetSpec): NonNullable<OperatorControllerStatus['target']> {
  return {
    ...(apiGroup !== undefined && { apiGroup }),
    ...(version !== undefined && { version }),
    ...{ kind, type },
  };
}

function targetOf({ target }: OperatorControllerStatus): TargetSpec | undefined {
  if (target === undefined) return undefined;
  return { ...target, type: target.type === 'Patcher' ? 'Patcher' : 'Updater' };
}
