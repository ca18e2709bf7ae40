import type { Clock } from '../../system/clock.js';
import { formatSpecPath } from '../spec-problem.js';
import type { SpecPath } from '../spec-problem.js';
import { trimMiddle } from '../trim-middle.js';
import type { ReportedError } from './controller-status.js';
import type { Redaction } from './redaction.js';

/** Number of errors kept. */
const kept = 10;

/** The place of an error. */
export interface ErrorPlace extends Pick<ReportedError, 'stage' | 'subject'> {
  /** Path of the stage in the specification. */
  readonly path?: SpecPath | undefined;
}

/** Options of {@link ReportedErrors}. */
export interface ReportedErrorsOptions {
  readonly operator: string;
  readonly controller: string;
  readonly clock: Clock;
  readonly redaction: Redaction;
  /** Called with each error, after it is recorded. */
  readonly onError: (error: ReportedError) => void;
}

/** The last errors of a controller, newest last. Only the last error of an object at each stage is kept. */
export class ReportedErrors {
  readonly #options: ReportedErrorsOptions;
  readonly #errors: ReportedError[] = [];

  constructor(options: ReportedErrorsOptions) {
    this.#options = options;
  }

  /** Returns the kept errors. */
  all(): readonly ReportedError[] {
    return [...this.#errors];
  }

  /** Records an error and reports it. */
  report(place: ErrorPlace, thrown: Error): void {
    const { operator, controller, clock, onError, redaction } = this.#options;
    const error = redaction.ofData(thrown);
    const subject = redaction.ofSubject(place.subject);
    const { stage } = place;
    const said = describe(place, thrown, redaction);
    const message = trimMiddle(`${operator}/${controller}: ${said}`);
    const reported = { operator, controller, stage, subject, message, atMs: clock.now(), error };
    // A retried write must not displace all other errors.
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

/** Describes an error and its place, without the names of operator and controller. */
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
