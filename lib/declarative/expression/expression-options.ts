import { type Clock, systemClock } from '../../system/clock.js';
import { type Random, systemRandom } from '../../system/random.js';

/** Options of {@link compileExpression} and related functions. */
export interface ExpressionOptions {
  /** Clock of `@now`. @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Source of randomness of `@rnd`. @defaultValue the system's */
  readonly random?: Random | undefined;
  /**
   * Whether data errors include the value that did not fit; false if it may be data of a Secret.
   * @defaultValue true
   */
  readonly showValues?: boolean | undefined;
}

/** {@link ExpressionOptions} with all defaults filled in. */
export interface ResolvedExpressionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly showValues: boolean;
}

/** Fills in the defaults. */
export function resolveExpressionOptions(options: ExpressionOptions): ResolvedExpressionOptions {
  const { clock = systemClock, random = systemRandom, showValues = true } = options;
  return { clock, random, showValues };
}
