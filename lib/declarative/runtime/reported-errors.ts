import type { Client } from '../../client/index.js';
import {
  ApiError,
  isApiError,
  findCondition,
  setCondition,
  diffObjects,
  serverSetFields,
  keyString,
  apiVersionOf,
} from '../../object/index.js';
import type {
  Condition,
  ConditionUpdate,
  KubernetesObject,
  ObjectReference,
  ResourceType,
} from '../../object/index.js';
import type { Clock } from '../../system/index.js';
import { OperatorError } from '../../system/index.js';
import { isDataError, trimMiddle } from '../expression/operands.js';
import { formatSpecPath } from '../spec-problem.js';
import type { SpecPath, SpecProblem } from '../spec-problem.js';
import type { SlowedWrite } from './target-reconciler.js';

/** Number of errors kept. */
const kept = 10;

interface ErrorPlace extends Pick<ReportedError, 'stage' | 'subject'> {
  /** Path of the stage in the specification. */
  readonly path?: SpecPath | undefined;
}

interface ReportedErrorsOptions {
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
  readonly #limit: ErrorLimit;

  constructor(options: ReportedErrorsOptions) {
    this.#options = options;
    this.#limit = new ErrorLimit(options.clock);
  }

  /** Returns the kept errors. */
  all(): readonly ReportedError[] {
    return [...this.#errors];
  }

  /**
   * Records an error and reports it.
   * @returns its message; undefined if the log has had too many errors in the last seconds
   */
  report(place: ErrorPlace, thrown: Error): string | undefined {
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
    return this.#limit.pass() ? message : undefined;
  }
}

const mostInWindow = 3;
const windowMs = 2_000;

/** Admits at most three errors in any two seconds. */
export class ErrorLimit {
  readonly #clock: Clock;
  /** Times of the last admitted errors, oldest first, by the monotonic clock. */
  #passedMs: readonly number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a further error is admitted. An admitted error counts towards the limit. */
  pass(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const recent = this.#passedMs.filter((passedMs) => nowMs - passedMs < windowMs);
    this.#passedMs = recent.length < mostInWindow ? [...recent, nowMs] : recent;
    return recent.length < mostInWindow;
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

const hidden = "the server's message may contain Secret data";

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

/** Matches the name of an object, optionally after the alias of its source in a join. */
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
 * Creates the error of a controller whose writes trigger it again. It names the object that the controller keeps
 * writing, its other writers, and the writers of the object that caused the write. Values are omitted: they may be
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
    `its own writes cause further writes, ${writesPerMinute} times a minute, ` +
    `most recently of ${object.kind} ${keyString(object)}${changing}; ` +
    `the object is written by ${[...writers].join(', ') || 'an unknown writer'}${why}. ` +
    `Such writes now wait ${delayMs} ms, and longer if this continues`;
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
  return `; caused by ${object.kind} ${keyString(object)}${by}`;
}

function managersOf(object: KubernetesObject | undefined): readonly string[] {
  const entries = object?.metadata.managedFields ?? [];
  return [...new Set(entries.flatMap(({ manager }) => manager ?? []))];
}

/** An error of a controller. */
export interface ReportedError {
  readonly operator: string;
  readonly controller: string;
  /** The failed part: a stage (`@project`), `source <name>`, or `target`. */
  readonly stage: string;
  /** The object concerned, `namespace/name`. Absent if the error concerns no object. */
  readonly subject?: string | undefined;
  /**
   * One text with all of the above, without data of Secrets. Trimmed in the middle above 1,000 characters.
   */
  readonly message: string;
  /** Time of the error, in milliseconds since 1970. */
  readonly atMs: number;
  readonly error: Error;
}

/** Status of a declarative controller. */
export interface DeclarativeControllerStatus {
  readonly name: string;
  /** Problems of the specification. A controller with problems does not run. */
  readonly problems: readonly SpecProblem[];
  /**
   * `Ready`: True (`Ready`), False (`NotReady`: `problems`) or Unknown (`ReconciliationFailed`: the last
   * writes or documents failed; cleared by success; `Starting` or `Waiting`: nothing has failed yet). `Throttled`, once
   * it was throttled: True (`Feedback`: its own writes cause further writes) or False.
   */
  readonly conditions: readonly Condition[];
  /** The last ten errors, newest last. Only the last error of an object at each stage is kept. */
  readonly lastErrors: readonly string[];
}

/** Callbacks of a declarative controller. */
export interface DeclarativeControllerListener {
  /** Called on each error. Must not throw. */
  readonly onError: (error: ReportedError) => void;
  /**
   * Called after `status()` has changed: a condition changed, or an error occurred or was cleared. Must not
   * throw. @defaultValue no callback
   */
  readonly onStatus?: (() => void) | undefined;
}

/** The facts that determine the conditions of a controller. */
interface HealthFacts {
  /** Why the controller cannot run; undefined if it can. */
  readonly refused: string | undefined;
  /** Text of the first current problem. */
  readonly trouble: string | undefined;
  /** Number of current problems. */
  readonly troubleCount: number;
  /** The reason why the controller or one of its writes is blocked; undefined if nothing is blocked. */
  readonly held: string | undefined;
  /** Condition that the controller waits for; undefined if it does not wait. */
  readonly waiting: string | undefined;
  /** Why the controller is throttled; undefined if it is not. */
  readonly throttled: string | undefined;
}

/** The conditions of a controller: `Ready`, and `Throttled` once it has been throttled. */
export class ControllerHealth {
  readonly #clock: Clock;
  #conditions: readonly Condition[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get conditions(): readonly Condition[] {
    return this.#conditions;
  }

  /** @returns whether a condition has changed */
  update(facts: HealthFacts): boolean {
    const before = this.#conditions;
    this.#conditions = setCondition(before, conditionOf(facts), this.#clock);
    const throttled = throttledCondition(facts, this.#conditions);
    if (throttled !== undefined) {
      this.#conditions = setCondition(this.#conditions, throttled, this.#clock);
    }
    return this.#conditions !== before;
  }
}

function throttledCondition(
  { throttled }: HealthFacts,
  conditions: readonly Condition[],
): ConditionUpdate | undefined {
  const type = 'Throttled';
  if (throttled !== undefined) {
    return { type, status: 'True', reason: 'Feedback', message: trimMiddle(throttled) };
  }
  if (findCondition(conditions, type) === undefined) return undefined;
  return { type, status: 'False', reason: 'NotThrottled' };
}

function conditionOf({ refused, held, waiting, ...wrong }: HealthFacts): ConditionUpdate {
  const type = 'Ready';
  if (refused !== undefined) {
    return { type, status: 'False', reason: 'NotReady', message: trimMiddle(refused) };
  }
  const { trouble, troubleCount } = wrong;
  if (trouble !== undefined) {
    const others = troubleCount <= 1 ? '' : ` (and ${troubleCount - 1} more)`;
    const message = trimMiddle(trouble) + others;
    return { type, status: 'Unknown', reason: 'ReconciliationFailed', message };
  }
  if (held !== undefined) {
    return { type, status: 'Unknown', reason: 'Waiting', message: trimMiddle(held) };
  }
  if (waiting !== undefined) {
    return { type, status: 'Unknown', reason: 'Starting', message: waiting };
  }
  return { type, status: 'True', reason: 'Ready', message: 'it follows its sources' };
}
