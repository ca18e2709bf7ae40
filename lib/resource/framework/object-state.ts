import { TerminalError } from '../../controller/index.js';
import { LruMap, cutCharacters, isOperatorError } from '../../system/index.js';
import type { Recorder } from '../../events/index.js';
import { isForbidden, findCondition } from '../../object/index.js';
import type { Condition, ConditionUpdate, KubernetesObject } from '../../object/index.js';
import { StatusWriter, pauseOf, statusConditions } from '../../status/index.js';
import type { StatusWriting, WrittenStatus } from '../../status/index.js';
import { messageOf } from '../errors.js';
import type { Cancellation } from '../resource-context.js';
import type { ResourceSet } from '../resource-set.js';
import type { ResolvedFrameworkOptions } from './framework-options.js';

/** An object, the id that distinguishes it from all others, and the context that writes to it. */
export interface StatedObject<T extends KubernetesObject> {
  readonly object: T;
  readonly id: string;
  readonly pass: Omit<StatusWriting['context'], 'clock'>;
}

/** The result of a reconcile, as the condition shows it. */
export type Readiness = Pick<ConditionUpdate, 'status' | 'reason' | 'message'>;

type Options<T extends KubernetesObject> = Pick<
  ResolvedFrameworkOptions<T>,
  'name' | 'type' | 'clock' | 'pauseAnnotations' | 'resourceRouter' | 'readyCondition'
>;

const longestMessage = 1_000;

/** Detects pauses and overlapping sets, and shows these and the readiness in conditions and events. */
export class ObjectState<T extends KubernetesObject> {
  readonly #options: Options<T>;
  readonly #recorder: Recorder;
  readonly #reports: LatestReports;
  readonly #status: StatusWriter<T>;

  constructor(options: Options<T>, recorder: Recorder, reports: LatestReports) {
    this.#options = options;
    this.#recorder = recorder;
    this.#reports = reports;
    const { name: fieldManager, type } = options;
    const remedy = 'set readyCondition to another type, or to false';
    const strategy = 'merge';
    this.#status = new StatusWriter({ type, fieldManager, strategy, generation: true, remedy });
  }

  /**
   * Shows the result of a reconcile in the condition `Ready`.
   * @throws ApiError the write failed, except for missing permissions.
   */
  async setReady(stated: StatedObject<T>, readiness: Readiness): Promise<WrittenStatus<T>> {
    const { readyCondition: type } = this.#options;
    if (type === false) return { object: stated.object };
    const message = cutCharacters(readiness.message ?? '', longestMessage);
    const { generation } = stated.object.metadata;
    // Some kinds, such as ConfigMap, have no `metadata.generation`.
    const observed = generation === undefined ? {} : { observedGeneration: generation };
    try {
      const update = { type, ...readiness, message, ...observed };
      return await this.#write(stated, update, { isObserved: true });
    } catch (error) {
      if (!isForbidden(error)) throw error;
      stated.pass.logger.warn(`condition ${type}: not written, a permission is missing`, { error });
      return { object: stated.object };
    }
  }

  /** Reports that a pause or an overlap has ended, if so. @returns the object as the last write returned it */
  async settle(stated: StatedObject<T>, sets: readonly ResourceSet<T>[]): Promise<T> {
    const object = await this.#resumed(stated);
    if (sets.length > 1) return object;
    const end = overlapEndToReport(this.#options.name, statusConditions(object));
    return end === undefined ? object : (await this.#write({ ...stated, object }, end)).object;
  }

  /** Whether the object is paused. If so, writes the condition and records one event. */
  async isPaused(stated: StatedObject<T>): Promise<boolean> {
    const { object, id } = stated;
    const { by, update, wasPaused } = this.#pauseOf(object);
    if (by === undefined) return false;
    if (update !== undefined) await this.#write(stated, update);
    // If the kind has no conditions, the object does not show a reported pause. So this process records that it
    // reported the pause.
    const isNew = this.#status.keeps(object) ? !wasPaused : this.#reports.isNew(id, 'paused', by);
    if (isNew) this.#record(stated, 'Paused', `${by} pauses it: nothing is reconciled`);
    return true;
  }

  /**
   * Reports that several sets handle the object.
   * @throws TerminalError always: the object cannot be reconciled.
   */
  async refuseOverlap(stated: StatedObject<T>, sets: readonly ResourceSet<T>[]): Promise<never> {
    const { object } = stated;
    const update = overlapToReport(this.#options.name, statusConditions(object), sets);
    if (update !== undefined) await this.#write(stated, update);
    try {
      this.#options.resourceRouter.resourceSet(object);
    } catch (error) {
      throw overlapError(error);
    }
    throw overlapError(
      `several resource sets handle it: ${sets.map(({ name }) => name).join(', ')}`,
    );
  }

  async #resumed(stated: StatedObject<T>): Promise<T> {
    const { object, id } = stated;
    const { by, update } = this.#pauseOf(object);
    if (by !== undefined) return object;
    const wasReported = this.#reports.isOver(id, 'paused');
    const current = update === undefined ? object : (await this.#write(stated, update)).object;
    if (update !== undefined || wasReported) {
      this.#record(stated, 'Resumed', 'no longer paused: it is reconciled again');
    }
    return current;
  }

  #pauseOf(object: T): ReturnType<typeof pauseOf> {
    return pauseOf(object, statusConditions(object), this.#options.pauseAnnotations);
  }

  #write(
    { object, pass }: StatedObject<T>,
    update: ConditionUpdate,
    { isObserved = false } = {},
  ): Promise<WrittenStatus<T>> {
    const context = { ...pass, clock: this.#options.clock };
    return this.#status.write(object, { conditions: [update] }, { context, isObserved });
  }

  #record({ object, pass }: StatedObject<T>, reason: 'Paused' | 'Resumed', note: string): void {
    pass.logger.info(note);
    const facts = { type: 'Normal', reason, action: 'Reconcile', note } as const;
    this.#recorder.record({ regarding: object, ...facts });
  }
}

/** Returns the readiness after a chain that ended without an error. */
export function readinessOf(
  waiting: readonly Cancellation[],
  notStarted: readonly string[],
): Readiness {
  if (waiting.length === 0) {
    return { status: 'True', reason: 'Reconciled', message: 'all resources are as desired' };
  }
  const rest = notStarted.length === 0 ? '' : `; not started: ${notStarted.join(', ')}`;
  const message = `waits for ${describeKeepers(waiting)}${rest}`;
  return { status: 'False', reason: 'Waiting', message };
}

/** Formats resources and reasons, as in `database (the dump goes on), backups`. */
export function describeKeepers(keepers: readonly Cancellation[]): string {
  return keepers
    .map(({ resource, step, reason }) => {
      const who = resource === '' ? step : resource;
      return reason === '' ? who : `${who} (${reason})`;
    })
    .join(', ');
}

/** The type of the condition of an object that several sets handle, and the reason of the event. */
export const overlapCondition = 'ResourceSetsOverlap';

/** Returns the condition that reports an overlap, or undefined if it is already set. */
function overlapToReport(
  framework: string,
  conditions: readonly Condition[],
  sets: readonly { readonly name: string }[],
): ConditionUpdate | undefined {
  const names = sets.map(({ name }) => name).join(', ');
  const message = `${framework}: several resource sets handle it: ${names}; nothing is reconciled`;
  const reports = findCondition(conditions, overlapCondition);
  if (reports?.status === 'True') {
    // Two frameworks must not overwrite each other's condition alternately, without end.
    if (reports.message === message || !isOf(framework, reports)) return undefined;
  }
  return { type: overlapCondition, status: 'True', reason: 'SeveralResourceSets', message };
}

/**
 * Returns the condition that reports the end of an overlap, or undefined if this framework reported no
 * overlap.
 */
function overlapEndToReport(
  framework: string,
  conditions: readonly Condition[],
): ConditionUpdate | undefined {
  const reports = findCondition(conditions, overlapCondition);
  if (reports?.status !== 'True' || !isOf(framework, reports)) return undefined;
  const message = `${framework}: at most one resource set handles it`;
  return { type: overlapCondition, status: 'False', reason: 'NoOverlap', message };
}

/** Makes an overlap terminal: the choice of sets depends on the object alone, so retries are useless. */
function overlapError(cause: unknown): TerminalError {
  return new TerminalError(messageOf(cause), { cause });
}

/** Whether `error` was made by {@link overlapError}. */
export function isOverlapError(error: unknown): boolean {
  return isOperatorError(error, 'Terminal') && isOperatorError(error.cause, 'ExecutionFailed');
}

function isOf(framework: string, { message }: Condition): boolean {
  return message.startsWith(`${framework}: `);
}

const remembered = 10_000;

/**
 * Remembers the reports about each object, so that each is made once and not in every reconcile. The reports are in
 * memory: a report is lost at a restart, and after reports about ten thousand other objects.
 */
export class LatestReports {
  readonly #reports = new LruMap<string, Map<string, string>>(remembered);

  /** Remembers `text` as the latest report about `topic`. @returns whether it is new */
  isNew(object: string, topic: string, text: string): boolean {
    const topics = this.#reports.get(object) ?? new Map<string, string>();
    if (topics.get(topic) === text) return false;
    topics.set(topic, text);
    this.#reports.set(object, topics);
    return true;
  }

  /** Removes the report about a topic that has ended. @returns whether there was one */
  isOver(object: string, topic: string): boolean {
    return this.#reports.get(object)?.delete(topic) ?? false;
  }
}
