import { OperatorError } from '../system/index.js';

/** A number, or a percentage of a total: `3` or `25%`. */
export type IntOrString = number | string;

/**
 * Returns the number for `value` of `total`: `25%` of 10 is 3 when rounded up (`maxSurge`) and 2 when rounded
 * down (`maxUnavailable`).
 * @throws OperatorError `InvalidValue`: neither a whole number nor a percentage
 */
export function scaledValue(value: IntOrString, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') {
    if (Number.isInteger(value)) return value;
    throw new OperatorError('InvalidValue', `${value} is not a whole number`);
  }
  const percentage = /^([0-9]+)%$/.exec(value)?.[1];
  if (percentage === undefined) {
    throw new OperatorError(
      'InvalidValue',
      `${JSON.stringify(value)} is not a percentage, such as 25%`,
    );
  }
  const exact = Number(percentage) * total;
  return rounding === 'up' ? Math.ceil(exact / 100) : Math.floor(exact / 100);
}

/** The bounds on a Deployment's number of Pods during a rolling update. */
export interface RollingUpdateBounds {
  /** The number of Pods allowed above `replicas`. */
  readonly maxSurge: number;
  /** The number of Pods allowed to be missing from `replicas`. */
  readonly maxUnavailable: number;
}

/**
 * Returns the bounds of a Deployment's rolling update (both default to 25%). If both are 0, one Pod may be
 * missing, because the rollout could not progress otherwise.
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
