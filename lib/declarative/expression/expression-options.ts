import { type Clock, systemClock } from '../../system/clock.js';
import { type Random, systemRandom } from '../../system/random.js';

/** Options of {@link compileExpression} and its kin. */
export interface ExpressionOptions {
  /** The time of `@now`. @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** The chance of `@rnd`. @defaultValue the machine's */
  readonly random?: Random | undefined;
  /**
   * Whether data errors hold the value that did not fit; false where it may be a Secret's.
   * @defaultValue true
   */
  readonly showValues?: boolean | undefined;
}

/** {@link ExpressionOptions} with nothing left open. */
export interface ResolvedExpressionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly showValues: boolean;
}

/** Fills in what is left open. */
export function resolveExpressionOptions(options: ExpressionOptions): ResolvedExpressionOptions {
  const { clock = systemClock, random = systemRandom, showValues = true } = options;
  return { clock, random, showValues };
}
