import type { Recorder } from '../events/index.js';
import type { ObjectKey } from '../object/index.js';
import type { Clock, Logger, Span } from '../system/index.js';
import type { ReconcileClient } from './reconcile-client.js';
import type { ReconcileContext, ReconcileRun } from './reconcile.js';
import type { Trigger } from './trigger.js';

/** The trigger of a reconcile for whose key no trigger was recorded. */
const unknownTrigger: Trigger = { type: 'source', source: 'unknown' };

/**
 * The context of a reconcile. Its signal, logger, recorder and client are created on first access. Together
 * they cost as much as the rest of a reconcile, and not every reconcile needs them. They are own properties
 * nonetheless, so that a context can be spread.
 */
export class LazyContext implements ReconcileContext {
  readonly key: ObjectKey;
  readonly cluster: string;
  readonly trigger: Trigger;
  readonly triggers: readonly Trigger[];
  readonly moreTriggers: number;
  readonly reconcileID: string;
  readonly span: Span;
  readonly clock: Clock;
  readonly planning: boolean;
  declare readonly signal: AbortSignal;
  declare readonly logger: Logger;
  declare readonly recorder: Recorder;
  declare readonly client: ReconcileClient;
  readonly #run: ReconcileRun;

  constructor(run: ReconcileRun) {
    const { work, triggers: known } = run;
    const [trigger = unknownTrigger] = known.triggers;
    this.key = work.key;
    this.cluster = work.cluster;
    this.trigger = trigger;
    this.triggers = known.triggers.length > 0 ? known.triggers : [trigger];
    this.moreTriggers = known.more;
    this.reconcileID = run.reconcileID;
    this.span = run.span;
    this.clock = run.clock;
    this.planning = run.planning;
    this.#run = run;
    for (const name of createdOnAccess) {
      Object.defineProperty(this, name, LazyContext.#properties[name]);
    }
  }

  /** Returns another context of the same reconcile. */
  copy(): LazyContext {
    return new LazyContext(this.#run);
  }

  /** See {@link ReconcileRun.reporting}. */
  get reporting(): Pick<ReconcileContext, 'client' | 'signal'> {
    return this.#run.reporting;
  }

  /** See {@link ReconcileRun.warnOfPendingWrites}. */
  warnOfPendingWrites(): void {
    this.#run.warnOfPendingWrites();
  }

  // Shared by all contexts: separate functions would give each context its own hidden class, which is slow.
  static readonly #properties = {
    signal: ownProperty(function (this: LazyContext) {
      return this.#run.signal;
    }),
    logger: ownProperty(function (this: LazyContext) {
      return this.#run.logger;
    }),
    recorder: ownProperty(function (this: LazyContext) {
      return this.#run.recorder;
    }),
    client: ownProperty(function (this: LazyContext) {
      return this.#run.client;
    }),
  };
}

const createdOnAccess = ['signal', 'logger', 'recorder', 'client'] as const;

function ownProperty(get: (this: LazyContext) => unknown): PropertyDescriptor {
  return { configurable: true, enumerable: true, get };
}

/**
 * Returns `context` with more fields. Unlike a spread, it does not create the parts that a context creates on
 * first access.
 */
export function extendContext<Fields extends object>(
  context: ReconcileContext,
  fields: Fields,
): ReconcileContext & Fields {
  const copy = context instanceof LazyContext ? context.copy() : { ...context };
  return Object.assign(copy, fields);
}

/**
 * Returns the client and the signal for a report that a reconcile has timed out; undefined if `context` does not come
 * from a controller. See {@link ReconcileRun.reporting}.
 */
export function reportingOf(context: object): LazyContext['reporting'] | undefined {
  return context instanceof LazyContext ? context.reporting : undefined;
}

/** Logs the writes that a handler, which has just returned, did not await. */
export function warnOfPendingWrites(context: ReconcileContext): void {
  if (context instanceof LazyContext) context.warnOfPendingWrites();
}
