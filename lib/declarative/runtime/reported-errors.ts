import type { Clock } from '../../system/clock.js';
import { isDataError } from '../expression/data-error.js';
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
  /** Whether errors may show values of documents. */
  readonly showValues: () => boolean;
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
    const { operator, controller, clock, onError, showValues } = this.#options;
    const shown = showValues();
    const error = shown ? thrown : withoutValues(thrown);
    const subject = shown ? place.subject : withoutText(place.subject);
    const { stage } = place;
    const message = trimMiddle(
      `${operator}/${controller}: ${describe({ ...place, subject }, error)}`,
    );
    const reported = { operator, controller, stage, subject, message, atMs: clock.now(), error };
    // A write that is retried must not take the place of all others.
    const known = this.#errors.findIndex((one) => isRepeated(one, reported));
    if (known >= 0) this.#errors.splice(known, 1);
    this.#errors.push(reported);
    if (this.#errors.length > kept) this.#errors.shift();
    onError(reported);
  }
}

/**
 * The words for an error that show no value of a document. Names of objects are none; what could be no
 * name may have been meant for one, and is left out.
 */
export function describeWithoutValues(place: ErrorPlace, error: Error): string {
  return describe({ ...place, subject: withoutText(place.subject) }, withoutValues(error));
}

function withoutText(subject: string | undefined): string | undefined {
  if (subject === undefined || subject.split(', ').every((part) => named.test(part)))
    return subject;
  return 'an object whose name is left out';
}

/** An object, or the alias of a source and its object. */
const named = /^(?:a document without a name|(?:[\w-]+ )?(?:[a-z0-9.-]+\/)?[\w.:~-]+)$/;

function isRepeated(one: ReportedError, other: ReportedError): boolean {
  if (one.stage !== other.stage || one.subject !== other.subject) return false;
  return one.subject !== undefined || one.message === other.message;
}

/** A data error with the kind of the value in its place; other errors are as they were. */
function withoutValues(error: Error): Error {
  return isDataError(error) ? error.withoutValue() : error;
}

/** What is wrong, and where: without the names of operator and controller. */
export function describe({ stage, subject, path }: ErrorPlace, error: Error): string {
  const where = path === undefined ? stage : `${stage} (${formatSpecPath(path)})`;
  return `${where}${subject === undefined ? '' : ` of ${subject}`}: ${error.message}`;
}
