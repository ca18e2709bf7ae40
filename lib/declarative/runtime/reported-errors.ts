import type { Clock } from '../../system/clock.js';
import { formatSpecPath } from '../spec-problem.js';
import type { SpecPath } from '../spec-problem.js';
import { trimMiddle, isDataError } from '../expression/operands.js';
import type { ReportedError } from './controller-status.js';
import { ApiError, isApiError } from '../../object/api-error.js';
import type { Client } from '../../client/client.js';
import { diffObjects, serverSetFields } from '../../object/diff-by-path.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { keyString } from '../../object/object-key.js';
import type { ObjectReference } from '../../object/object-reference.js';
import { OperatorError } from '../../system/operator-error.js';
import type { ResourceType } from '../../object/resource-type.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { SlowedWrite } from './target-reconciler.js';

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

const hidden = 'what the server says may show data of a Secret';

/**
 * Redacts the errors of a controller. If its documents may include data of Secrets, errors show neither
 * values of documents nor messages of the server.
 */
export class Redaction {
  readonly #hides: () => boolean;

  /** @param hides - whether values are hidden now */
  constructor(hides: () => boolean) {
    this.#hides = hides;
  }

  /** Redacts the error of a write. */
  ofWrite(thrown: unknown): unknown {
    return this.#hides() ? hideWords(thrown) : thrown;
  }

  /** Replaces the value in a data error by its type; returns other errors unchanged. */
  ofData(error: Error): Error {
    return this.#hides() && isDataError(error) ? error.withoutValue() : error;
  }

  /** Names of objects may be shown. A text that is not a valid name may be a value, and is hidden. */
  ofSubject(subject: string | undefined): string | undefined {
    if (subject === undefined || !this.#hides()) return subject;
    const isName = subject.split(', ').every((part) => named.test(part));
    return isName ? subject : 'an object whose name is left out';
  }
}

/** Matches an object, or the alias of a source and its object. */
const named = /^(?:a document without a name|(?:[\w-]+ )?(?:[a-z0-9.-]+\/)?[\w.:~-]+)$/;

/**
 * Removes from an API error everything that may be a value of the object: the server's messages. The paths of
 * rejected fields stay. Returns other errors unchanged.
 */
function hideWords(error: unknown): unknown {
  if (!isApiError(error)) return error;
  const { body, context, causes } = error;
  const fields = [
    ...causes.flatMap(({ field }) => field ?? []),
    ...undeclaredIn(body.message ?? ''),
  ];
  const about = fields.length === 0 ? '' : `, about ${fields.join(', ')}`;
  const details = {
    ...body.details,
    causes: causes.map(({ reason, field }) => ({
      ...(reason !== undefined && { reason }),
      ...(field !== undefined && { field }),
    })),
  };
  const message = `(left out${about}: ${hidden})`;
  return new ApiError({ ...body, message, details }, { ...context, text: undefined });
}

/** Extracts an undeclared field, which the server reports only in its message; the path has no values. */
function undeclaredIn(message: string): readonly string[] {
  const [, path] =
    /(?<![^\s:])((?:\.[A-Za-z]\w*)+): field not declared in schema/.exec(message) ?? [];
  return path === undefined ? [] : [path.slice(1)];
}

/**
 * Creates the error of a controller that feeds itself. It names the object that the controller keeps writing,
 * its other writers, and the writers of the object that caused the write. Values are omitted: they may be
 * secret.
 */
export async function hotLoopError(
  { key, trigger, live, writesPerMinute, delayMs }: SlowedWrite,
  type: ResourceType,
  client: Client,
): Promise<OperatorError> {
  const object = { apiVersion: apiVersionOf(type), kind: type.kind, ...key };
  const after = await read(object, client);
  const paths = live === undefined || after === undefined ? [] : changedPaths(live, after);
  const changing = paths.length === 0 ? '' : `, changing ${paths.slice(0, 5).join(', ')}`;
  const writers = new Set([...managersOf(after), ...managersOf(live)]);
  const why = trigger.type === 'event' ? await describeCause(trigger.object, client) : '';
  const message =
    `keeps writing because of its own writes, ${writesPerMinute} times a minute, ` +
    `${object.kind} ${keyString(object)} last${changing}; ` +
    `it is written by ${[...writers].join(', ') || 'an unknown writer'}${why}. ` +
    `Such writes wait ${delayMs} ms now, and longer if this goes on`;
  return new OperatorError('HotLoop', message);
}

function changedPaths(before: KubernetesObject, after: KubernetesObject): readonly string[] {
  return diffObjects(before, after, { ignore: serverSetFields }).map(({ path }) => path);
}

/** If the object is gone or not readable, the report omits its details. */
async function read(
  { apiVersion, kind, ...key }: ObjectReference,
  client: Client,
): Promise<KubernetesObject | undefined> {
  return client.get({ apiVersion, kind }, key).catch(() => undefined);
}

async function describeCause(object: ObjectReference, client: Client): Promise<string> {
  const managers = managersOf(await read(object, client));
  const by = managers.length === 0 ? '' : `, which is written by ${managers.join(', ')}`;
  return `; what makes it write is ${object.kind} ${keyString(object)}${by}`;
}

function managersOf(object: KubernetesObject | undefined): readonly string[] {
  const entries = object?.metadata.managedFields ?? [];
  return [...new Set(entries.flatMap(({ manager }) => manager ?? []))];
}
