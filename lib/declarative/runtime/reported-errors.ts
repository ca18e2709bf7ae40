import type { Clock } from '../../system/clock.js';
import { formatSpecPath } from '../spec-problem.js';
import type { SpecPath } from '../spec-problem.js';
import { trimMiddle } from '../trim-middle.js';
import type { ReportedError } from './controller-status.js';

/** So many are kept. */
const kept = 10;

/** What an error is about. */
export interface ErrorPlace extends Pick<ReportedError, 'stage' | 'subject'> {
  /** Where the stage stands in the specification. */
  readonly path?: SpecPath | undefined;
}

/** What {@link ReportedErrors} is made of. */
export interface ReportedErrorsOptions {
  readonly operator: string;
  readonly controller: string;
  readonly clock: Clock;
  /** Told of each error, once it is kept. */
  readonly onError: (error: ReportedError) => void;
}

/** The last errors of a controller, the newest last. */
export class ReportedErrors {
  readonly #options: ReportedErrorsOptions;
  readonly #errors: ReportedError[] = [];

  constructor(options: ReportedErrorsOptions) {
    this.#options = options;
  }

  /** Those that are kept. */
  all(): readonly ReportedError[] {
    return [...this.#errors];
  }

  /** Notes an error, and tells of it. */
  report(place: ErrorPlace, error: Error): void {
    const { stage, subject } = place;
    const { operator, controller, clock, onError } = this.#options;
    const message = trimMiddle(`${operator}/${controller}: ${describe(place, error)}`);
    const reported = { operator, controller, stage, subject, message, atMs: clock.now(), error };
    this.#errors.push(reported);
    if (this.#errors.length > kept) this.#errors.shift();
    onError(reported);
  }
}

/** What is wrong, and where: without the names of operator and controller. */
export function describe({ stage, subject, path }: ErrorPlace, error: Error): string {
  const where = path === undefined ? stage : `${stage} (${formatSpecPath(path)})`;
  return `${where}${subject === undefined ? '' : ` of ${subject}`}: ${error.message}`;
}
