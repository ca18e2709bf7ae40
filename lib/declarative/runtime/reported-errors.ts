import type { Clock } from '../../system/clock.js';
import { formatSpecPath } from '../spec-problem.js';
import type { SpecPath } from '../spec-problem.js';
import { trimMiddle } from '../trim-middle.js';
import type { ReportedError } from './controller-status.js';
import type { Redaction } from './redaction.js';

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
  readonly redaction: Redaction;
  /** Told of each error, once it is kept. */
  readonly onError: (error: ReportedError) => void;
}

/** The last errors of a controller, the newest last; of each object the last one at a place. */
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
  report(place: ErrorPlace, thrown: Error): void {
    const { operator, controller, clock, onError, redaction } = this.#options;
    const error = redaction.ofData(thrown);
    const subject = redaction.ofSubject(place.subject);
    const { stage } = place;
    const said = describe(place, thrown, redaction);
    const message = trimMiddle(`${operator}/${controller}: ${said}`);
    const reported = { operator, controller, stage, subject, message, atMs: clock.now(), error };
    // A write that is retried must not take the place of all others.
    const known = this.#errors.findIndex((one) => isRepeated(one, reported));
    if (known >= 0) this.#errors.splice(known, 1);
    this.#errors.push(reported);
    if (this.#errors.length > kept) this.#errors.shift();
    onError(reported);
  }
}

function isRepeated(one: ReportedError, other: ReportedError): boolean {
  if (one.stage !== other.stage || one.subject !== other.subject) return false;
  return one.subject !== undefined || one.message === other.message;
}

/** What is wrong, and where: without the names of operator and controller. */
export function describe(
  { stage, subject, path }: ErrorPlace,
  error: Error,
  redaction: Redaction,
): string {
  const where = path === undefined ? stage : `${stage} (${formatSpecPath(path)})`;
  const shown = redaction.ofSubject(subject);
  const of = shown === undefined ? '' : ` of ${shown}`;
  return `${where}${of}: ${redaction.ofData(error).message}`;
}
