import { operatorOfViewGroup, viewGroupOf } from '../spec/operator-spec.js';
import type { ResourceSpec, TargetSpec } from '../spec/operator-spec.js';

/** Whether two targets are the same: then a new controller takes over the objects of the old one. */
export function sameTarget(one: TargetSpec | undefined, other: TargetSpec): boolean {
  return one !== undefined && sameKind(one, other) && one.type === other.type;
}

/** Whether two targets of an operator write objects of one kind. */
export function sameKind(one: TargetSpec, other: TargetSpec): boolean {
  return one.apiGroup === other.apiGroup && one.kind === other.kind;
}

/** Whether a source or target is a view of `operator` itself, which is dropped with the operator. */
export function isOwnView({ apiGroup }: ResourceSpec, operator: string): boolean {
  return apiGroup === undefined || apiGroup === viewGroupOf(operator);
}

/** Whether a target is a view of any operator. */
export function isView({ apiGroup }: TargetSpec): boolean {
  return apiGroup === undefined || operatorOfViewGroup(apiGroup) !== undefined;
}
