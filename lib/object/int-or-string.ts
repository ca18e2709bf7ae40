import { OperatorError } from '../system/operator-error.js';

/** A number, or a share of some total: `3` or `25%`. */
export type IntOrString = number | string;

/**
 * The number that `value` stands for where `total` is the whole: `25%` of 10 is 3 when it is rounded
 * up (`maxSurge`) and 2 when it is rounded down (`maxUnavailable`).
 * @throws OperatorError `InvalidValue`: neither a whole number nor a percentage
 */
export function scaledValue(value: IntOrString, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') {
    if (Number.isInteger(value)) return value;
    throw new OperatorError('InvalidValue', `${value} is no whole number`);
  }
  const percentage = /^([0-9]+)%$/.exec(value)?.[1];
  if (percentage === undefined) {
    throw new OperatorError('InvalidValue', `${JSON.stringify(value)} is no percentage like 25%`);
  }
  const exact = Number(percentage) * total;
  return rounding === 'up' ? Math.ceil(exact / 100) : Math.floor(exact / 100);
}

/** How far a Deployment may leave its number of replicas during a rolling update. */
export interface RollingUpdateBounds {
  /** Pods that may be there beyond `replicas`. */
  readonly maxSurge: number;
  /** Pods that may be missing from `replicas`. */
  readonly maxUnavailable: number;
}

/**
 * The bounds of a Deployment's rolling update (both default to 25%). Where both come out as 0, one Pod
 * may be missing: the rollout could not move otherwise.
 * @throws OperatorError `InvalidValue`
 */
export function rollingUpdateBounds(
  replicas: number,
  rollingUpdate: { maxSurge?: IntOrString; maxUnavailable?: IntOrString } = {},
): RollingUpdateBounds {
  const maxSurge = scaledValue(rollingUpdate.maxSurge ?? '25%', replicas, 'up');
  const maxUnavailable = scaledValue(rollingUpdate.maxUnavailable ?? '25%', replicas, 'down');
  return { maxSurge, maxUnavailable: maxSurge + maxUnavailable === 0 ? 1 : maxUnavailable };
}
