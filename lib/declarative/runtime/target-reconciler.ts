import type { CacheEvent } from '../../cache/index.js';
import { isStaleWrite } from '../../client/index.js';
import { Backoff, initialListPriority, done, requeueAfter } from '../../controller/index.js';
import type {
  ReconcileContext,
  Reconciler,
  Result,
  SourceContext,
  Trigger,
} from '../../controller/index.js';
import type {
  KubernetesObject,
  ObjectKey,
  UnstructuredObject,
  ResourceType,
} from '../../object/index.js';
import {
  controllerOf,
  isApiError,
  isNamespaceTerminating,
  isNotFound,
  keyString,
  sameKey,
} from '../../object/index.js';
import { asError, isOperatorError, nextTurn, OperatorError } from '../../system/index.js';
import type { Clock } from '../../system/index.js';
import type { Document } from '../document.js';
import { targetText } from '../views/view-writers.js';
import type { Claimant, Lineage, TargetWrites } from '../views/view-writers.js';
import { FeedbackBrake } from './feedback-brake.js';
import type { Braked, FeedbackWrite, GrowthLimit } from './feedback-brake.js';
import { fullReconcileKey } from './pipeline-run.js';
import type { PipelineCause } from './pipeline-run.js';
import type { DesiredObject } from './pipeline-state.js';
import type { Redaction } from './reported-errors.js';
import type { TargetWriter, WriteContext } from './target-writer.js';

/** Parts of a {@link TargetReconciler}. */
export interface TargetReconcilerParts {
  /** The name of the controller in errors, and in a {@link Lineage}: `operator/name`. */
  readonly controller: string;
  readonly type: ResourceType;
  readonly writer: Pick<TargetWriter, keyof TargetWriter>;
  /** The writes of all controllers of the process. */
  readonly writes: TargetWrites;
  /** Whether the controller owns the target's objects exclusively, as an Updater does. */
  readonly isOwner: boolean;
  readonly clock: Clock;
  /** Limit of objects made from the controller's own results. */
  readonly growth: GrowthLimit;
  /** Namespaces to search for written objects; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  /** The desired objects; undefined if not known (yet). */
  readonly desired: () => ReadonlyMap<string, DesiredObject> | undefined;
  /** An unreadable object of a source, whose results are unknown; undefined if there is no such object. */
  readonly unreadable: () => string | undefined;
  /** The state of an object in the watch cache. */
  readonly watched: (key: ObjectKey) => KubernetesObject | undefined;
  readonly enqueue: SourceContext['enqueue'];
  readonly redaction: Redaction;
  /**
   * Called on each failed write that the queue retries and logs. `subject` is the object; absent if the search for
   * written objects failed.
   */
  readonly failed: (error: Error, subject: string | undefined) => void;
  /** Called once for each problem, not logged by the queue, that prevents a write of `subject` until a user acts. */
  readonly refused: (error: Error, subject: string) => void;
  /** Called when the controller is throttled because its own writes trigger it. */
  readonly slowed: (slowed: SlowedWrite) => void;
  /** Called when the reconciler's properties may have changed. */
  readonly changed: () => void;
}

/** A write of a controller that is slowed down, with its cause and the object before the write. */
export interface SlowedWrite extends Braked {
  readonly key: ObjectKey;
  readonly trigger: Trigger;
  /** The object before the write. */
  readonly live: KubernetesObject | undefined;
}

/** Why an object is reconciled: a change of the pipeline, or an event of the target's watch. */
type Due =
  { readonly type: 'change'; readonly lineage: Lineage | undefined } | { readonly type: 'drift' };

/** A write that is about to start. */
interface Writing extends FeedbackWrite {
  readonly lineage: Lineage;
  /** The live object at the last read. */
  live: KubernetesObject | undefined;
  /** The resource version of the server's last answer; null: the object was deleted. */
  version: string | null | undefined;
}

/** Number of objects written before other work of the process has its turn. */
const writesInTurn = 8;
/** Conflicts in a row that are retried without a report. */
const quietConflicts = 10;
/** An object whose last write is older than this counts as settled. */
const driftWindowMs = 60_000;
/**
 * Retry interval in milliseconds of a write that waits: until the object or its namespace is deleted, or until another
 * controller releases the object. Usually a watch event of the object causes a retry earlier.
 */
const lookMs = 60_000;

/**
 * Brings the objects of a target to the state that a pipeline desires. It reads the desired state when it
 * writes, so a retry uses the latest one.
 *
 * ```text
 *   pipeline ── want(key, lineage) ─┐
 *   watch of the target ─ drifted(key) ┴> queue ─> reconcile ─> claim ─> brake ─> write
 * ```
 */
export class TargetReconciler {
  readonly #parts: TargetReconcilerParts;
  /** The last error of each object whose write failed. */
  readonly #failing = new Map<string, string>();
  /** The objects of other controllers that the target must not take over. */
  readonly #refused = new Set<string>();
  /** Delays the next attempt of an object whose namespace is missing. */
  readonly #missingNamespace = new Backoff({ baseDelayMs: 100, maxDelayMs: lookMs });
  /** Why the write of an object waits for the deletion of an earlier one. */
  readonly #waiting = new Map<string, string>();
  /** The cause of each pending reconcile. */
  readonly #due = new Map<string, Due>();
  readonly #brake: FeedbackBrake;
  readonly #claimant: Claimant;
  #reconciles = 0;
  /** The keys of the first full reconcile that are not written yet; undefined: it has not started. */
  #firstPass: Set<string> | undefined;
  #untried: Set<string> | undefined;
  #isStopped = false;

  constructor(parts: TargetReconcilerParts) {
    this.#parts = parts;
    this.#brake = new FeedbackBrake(parts.clock, parts.growth, parts.changed);
    this.#claimant = {
      controller: parts.controller,
      acquired: (key) => this.want(key, { trigger: { type: 'source', source: 'released' } }),
    };
  }

  /** Whether each object of the first full reconcile has been written or has failed. */
  get isTried(): boolean {
    return this.#untried?.size === 0;
  }

  /** Whether every object of the first full reconcile has been written without an error. */
  get isSynced(): boolean {
    return this.#firstPass?.size === 0;
  }

  /** Number of objects whose write failed. */
  get failing(): number {
    return this.#failing.size;
  }

  /** Text of the first failed write. */
  get firstTrouble(): string | undefined {
    const [first] = this.#failing.values();
    return first;
  }

  /** Text of the first wait for the deletion of an object; undefined if no write waits for one. */
  get firstWait(): string | undefined {
    const [first] = this.#waiting.values();
    return first;
  }

  /** State of the brake; undefined if it is not active. */
  get braked(): Braked | undefined {
    return this.#brake.braked;
  }

  /**
   * Whether the first full reconcile has enqueued all objects. Until then single changes are ignored, because the full
   * reconcile includes them. Otherwise a standby would keep the key of every object that was ever desired.
   */
  get #hasPassed(): boolean {
    return this.#firstPass !== undefined;
  }

  /** Requests a write: the pipeline's desired object has changed. */
  want(key: ObjectKey, { trigger, lineage }: PipelineCause): void {
    if (!this.#hasPassed && !sameKey(key, fullReconcileKey)) return;
    const text = keyString(key);
    const waiting = this.#due.get(text);
    // A write with a foreign cause is never slowed, even if feedback causes it too.
    const isForeign = waiting?.type === 'change' && waiting.lineage === undefined;
    this.#due.set(text, { type: 'change', lineage: isForeign ? undefined : lineage });
    this.#parts.enqueue(key, { trigger });
  }

  /** Requests a check of an object after a watch event that this controller did not cause. */
  readonly drifted = (key: ObjectKey, event: CacheEvent, trigger: Trigger): void => {
    const { desired, controller, writes, isOwner } = this.#parts;
    const text = keyString(key);
    if (!this.#hasPassed || desired()?.has(text) !== true) return;
    const isControlled = event.type !== 'deleted' && controllerOf(event.object) !== undefined;
    if (isControlled && this.#refused.has(text)) return;
    const { resourceVersion } = event.object.metadata;
    const object = this.#textOf(key);
    // Only the owner of an object reacts, except for a Patcher: it owns its fields, whichever Updater owns the object.
    const owner = (isOwner ? writes.ownerOf(object) : undefined) ?? this.#claimant;
    const isOwn = event.type !== 'deleted' && writes.isBy(controller, object, resourceVersion);
    if (isOwn || owner !== this.#claimant) return;
    if (!this.#due.has(text)) this.#due.set(text, { type: 'drift' });
    this.#parts.enqueue(key, { trigger });
  };

  /** Stops the reconciler: other controllers may write its objects. Reconciles that begin later do nothing. */
  stop(): void {
    this.#isStopped = true;
    this.#brake.stop();
    this.#parts.writes.releaseAll(this.#claimant);
  }

  readonly reconcile: Reconciler = async (context): Promise<Result> => {
    const { key } = context;
    // View writes stay in this process: without a pause, thousands of them would block all other work.
    if (++this.#reconciles % writesInTurn === 0) await nextTurn();
    // A claim after the stop would never be released.
    if (this.#isStopped) return done();
    const desired = this.#parts.desired();
    if (desired === undefined) {
      throw new OperatorError('Stopped', 'desired state is unknown: the controller is restarting');
    }
    const text = keyString(key);
    const isPass = sameKey(key, fullReconcileKey);
    const due = this.#due.get(text);
    this.#due.delete(text);
    try {
      const waitMs = isPass
        ? await this.#pass(desired, context)
        : await this.#reconcileObject(desired.get(text)?.document, due, context);
      if (waitMs > 0) {
        this.#putBack(text, due);
        return requeueAfter(waitMs);
      }
    } catch (thrown) {
      this.#putBack(text, due);
      if (context.signal.aborted) throw thrown;
      if (isOperatorError(thrown, 'TargetDeleting')) {
        this.#waits(text, thrown, context);
        return requeueAfter(lookMs);
      }
      if (isOperatorError(thrown, 'AlreadyOwned')) {
        this.#refused.add(text);
        this.#refuse(text, thrown);
        return requeueAfter(lookMs);
      }
      if (this.#isGone(key, thrown)) {
        this.#succeeded(text);
        return requeueAfter(lookMs);
      }
      if (isMissingNamespace(thrown)) {
        this.#refuse(text, asError(this.#parts.redaction.ofWrite(thrown)));
        return requeueAfter(this.#missingNamespace.next(text));
      }
      throw this.#failed(isPass ? undefined : text, thrown, context);
    }
    this.#succeeded(text);
    return done();
  };

  /** Enqueues all desired objects and all objects that the target has written. */
  async #pass(
    desired: ReadonlyMap<string, DesiredObject>,
    { client, signal }: ReconcileContext,
  ): Promise<number> {
    const { writer, namespaces } = this.#parts;
    const written = await writer.written({ client: client.live, signal, namespaces });
    const keys = new Map(written.map((key) => [keyString(key), key]));
    for (const [text, { key }] of desired) keys.set(text, key);
    this.#firstPass ??= new Set(keys.keys());
    this.#untried ??= new Set(keys.keys());
    const trigger: Trigger = { type: 'source', source: 'full reconcile' };
    for (const [text, key] of keys) {
      // A pending key keeps its cause: otherwise each full reconcile would let feedback continue unslowed and
      // uncounted.
      if (!this.#due.has(text)) this.#due.set(text, { type: 'change', lineage: undefined });
      this.#parts.enqueue(key, { trigger, priority: initialListPriority });
    }
    return 0;
  }

  /** Writes or deletes one object. Returns 0, or the milliseconds by which the brake delays the write. */
  async #reconcileObject(
    document: Document | undefined,
    due: Due | undefined,
    context: ReconcileContext,
  ): Promise<number> {
    const { key } = context;
    if (due?.type === 'drift' && this.#isCurrent(document, context.key)) return 0;
    if (document === undefined) this.#checkKnown(key);
    else await this.#claim(context);
    const writing = this.#writingOf(key, due);
    const before = this.#brake.braked;
    const waitMs = this.#brake.take(writing);
    if (waitMs > 0) return waitMs;
    await this.#write(document, context, writing);
    if (document === undefined) this.#parts.writes.release(writing.object, this.#claimant);
    const { braked } = this.#brake;
    if (before === undefined && braked !== undefined) {
      this.#parts.slowed({ ...braked, key, trigger: context.trigger, live: writing.live });
    }
    return 0;
  }

  /** Whether the watch cache shows that the object needs no write. */
  #isCurrent(document: Document | undefined, key: ObjectKey): boolean {
    const cached = this.#parts.watched(key);
    if (document === undefined || cached === undefined) return false;
    return this.#parts.writer.isCurrent(cached as UnstructuredObject, document);
  }

  /** @throws OperatorError `TargetConflict`: another controller writes the object. */
  async #claim({ key, client, signal }: ReconcileContext): Promise<void> {
    const { isOwner, writes, writer, controller, type } = this.#parts;
    if (!isOwner) return;
    const owner = writes.claim(this.#textOf(key), { claimant: this.#claimant, key });
    if (owner === undefined) return;
    await writer.release(key, { client: client.live, signal });
    const object = `${type.kind} ${keyString(key)}`;
    const problem = `${object}: two controllers have it as a target, ${controller} and ${owner}`;
    const remedy = `only ${owner} writes it; let one of the two controllers use other names for its objects`;
    throw new OperatorError('TargetConflict', `${problem}; ${remedy}`);
  }

  /**
   * Refuses a removal while a source object is unreadable: its results may include what an earlier process wrote.
   * @throws OperatorError `Quarantined`: there is such an object.
   */
  #checkKnown(key: ObjectKey): void {
    const { type, writes, isOwner, unreadable } = this.#parts;
    // This process has desired the object before, and its sources show that the object is no longer desired.
    if (isOwner && writes.ownerOf(this.#textOf(key)) === this.#claimant) return;
    const source = unreadable();
    if (source === undefined) return;
    const object = `${type.kind} ${keyString(key)}`;
    const remedy = `change or delete ${source}`;
    const problem = `${object}: not removed, it may still be desired because of ${source}, which is quarantined`;
    throw new OperatorError('Quarantined', `${problem}; ${remedy}`);
  }

  #writingOf(key: ObjectKey, due: Due | undefined): Writing {
    const { controller, writes, clock } = this.#parts;
    const object = this.#textOf(key);
    const last = writes.lastOf(object);
    const isRecent = last !== undefined && clock.monotonicMs() - last.atMs < driftWindowMs;
    const cause = due?.type === 'drift' ? (isRecent ? last.lineage : undefined) : due?.lineage;
    const depth = cause?.get(controller) ?? 0;
    const lineage = new Map(cause).set(controller, depth + 1);
    return { object, depth, lineage, live: undefined, version: undefined };
  }

  async #write(
    document: Document | undefined,
    { key, client, signal }: ReconcileContext,
    writing: Writing,
  ): Promise<void> {
    const { controller, writes, writer, clock } = this.#parts;
    const { object, lineage, depth } = writing;
    const bytes = depth === 0 || document === undefined ? 0 : JSON.stringify(document).length;
    if (bytes > 0 && this.#brake.refuses(writing, bytes))
      throw growsTooMuch(object, this.#parts.growth);
    writes.begin(object, controller, lineage);
    try {
      const note: WriteContext['note'] = (live, now) => {
        if (writing.version === undefined) writing.live = live;
        if (now !== live) writing.version = now?.metadata.resourceVersion ?? null;
      };
      await writer.write(key, document, { client: client.live, signal, note });
      if (depth > 0 || document === undefined) this.#brake.wrote(writing, bytes);
    } finally {
      const { version } = writing;
      const settled = {
        controller,
        lineage,
        version: version ?? undefined,
        atMs: clock.monotonicMs(),
      };
      writes.end(object, controller, version === undefined ? undefined : settled);
    }
  }

  /** Whether a write failed because the object is gone with its namespace, which is deleted or being deleted. */
  #isGone(key: ObjectKey, thrown: unknown): boolean {
    if (this.#parts.writes.lastOf(this.#textOf(key)) === undefined) return false;
    return isNamespaceTerminating(thrown) || isMissingNamespace(thrown);
  }

  #textOf(key: ObjectKey): string {
    return targetText(this.#parts.type, key);
  }

  /** A failed or delayed key keeps its cause, unless there is a new one. */
  #putBack(text: string, due: Due | undefined): void {
    if (due !== undefined && !this.#due.has(text)) this.#due.set(text, due);
  }

  #succeeded(text: string): void {
    const wasAwaited = this.#firstPass?.delete(text) ?? false;
    this.#untried?.delete(text);
    const wasFailing = this.#failing.delete(text);
    const wasWaiting = this.#waiting.delete(text);
    this.#refused.delete(text);
    this.#missingNamespace.forget(text);
    const isNews = wasAwaited || wasFailing || wasWaiting;
    if (isNews || text === fullReconcileKey.name) this.#parts.changed();
  }

  /** Records that the object `text` can be written once an earlier object with this name is deleted. */
  #waits(text: string, { message }: OperatorError, { logger }: ReconcileContext): void {
    const isNew = !this.#waiting.has(text);
    this.#waiting.set(text, `target of ${text}: ${message}`);
    this.#failing.delete(text);
    this.#untried?.delete(text);
    if (isNew) logger.info(`waits: ${message}`);
    else logger.debug(`still waits: ${message}`);
    this.#parts.changed();
  }

  /**
   * Records that the object `text` belongs to another controller, or that its namespace is missing. Reports each
   * problem once.
   */
  #refuse(text: string, error: Error): void {
    const { refused, changed } = this.#parts;
    const said = `target of ${text}: ${error.message}`;
    this.#waiting.delete(text);
    this.#untried?.delete(text);
    if (this.#failing.get(text) === said) return;
    this.#failing.set(text, said);
    refused(error, text);
    changed();
  }

  /** Reports a failed write, except a conflict that is retried at once. @returns the error to throw */
  #failed(subject: string | undefined, thrown: unknown, { triggers }: ReconcileContext): unknown {
    const { redaction, failed, changed } = this.#parts;
    const error = redaction.ofWrite(thrown);
    const retry = triggers.find((trigger) => trigger.type === 'retry');
    // Another writer was faster; the write is retried at once.
    if (isStaleWrite(error) && (retry?.failures ?? 0) < quietConflicts) return error;
    const said = asError(error);
    const where = subject === undefined ? '' : ` of ${subject}`;
    if (subject !== undefined) {
      this.#untried?.delete(subject);
      this.#waiting.delete(subject);
    }
    this.#failing.set(subject ?? fullReconcileKey.name, `target${where}: ${said.message}`);
    failed(said, subject);
    changed();
    return error;
  }
}

/** Whether a write failed because the namespace of the object does not exist. */
function isMissingNamespace(thrown: unknown): boolean {
  return isApiError(thrown) && isNotFound(thrown) && thrown.body.details?.kind === 'namespaces';
}

function growsTooMuch(object: string, limit: GrowthLimit): OperatorError {
  const most = `${limit.objects.toLocaleString('en')} objects or ${limit.bytes / 1024 ** 2} MiB`;
  const problem = `${object}: growth limit reached: the controller keeps creating objects from its own results`;
  const remedy = `it stops at ${most}; break the cycle of controllers`;
  return new OperatorError('GrowthLimit', `${problem}; ${remedy}`);
}
