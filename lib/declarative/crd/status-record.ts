import type { FormerController } from '../runtime/clean-up-target.js';
import { sameTarget } from '../operator/targets.js';
import type { TargetSpec } from '../spec/operator-spec.js';
import type { OperatorControllerStatus, OperatorStatus } from './operator-resource.js';

// The status records the targets before the controllers write. So a process that has no other record of a
// controller can still clean up after it.

/** Returns the controllers whose targets a status records. */
export function formerControllers(status: OperatorStatus | undefined): readonly FormerController[] {
  return (status?.controllers ?? []).flatMap((one) => {
    const target = targetOf(one);
    return target === undefined ? [] : [{ name: one.name, target }];
  });
}

/** Returns entries for the controllers of `needed` that a status does not record. */
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
 * Returns the entries of a new status, with recorded targets of the previous one: those of controllers
 * that cannot run now, and with `keepsFormer` also those of controllers that are not among the new ones.
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
