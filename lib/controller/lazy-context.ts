import type { Recorder } from '../events/recorder.js';
import type { ObjectKey } from '../object/kubernetes-object.js';
import type { Clock } from '../system/clock.js';
import type { Logger } from '../system/logger.js';
import type { Span } from '../system/tracer.js';
import type { ReconcileClient } from './reconcile-client.js';
import type { ReconcileRun } from './reconcile-run.js';
import type { ReconcileContext } from './reconciler.js';
import type { Trigger } from './trigger.js';

/** Creates the parts of a {@link LazyContext} on first access. */
interface Makers {
  readonly client: () => ReconcileClient;
  readonly logger: () => Logger;
  readonly recorder: () => Recorder;
  readonly clock: Clock;
  readonly span: Span;
  /** @defaultValue false */
  readonly planning?: boolean;
}

/** The trigger of a key that was handed out without a recorded one. */
const untold: Trigger = { type: 'source', source: 'unknown' };

/**
 * The context of a reconcile. Its signal, logger, recorder and client are created on first access: together
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
  readonly #makers: Makers;
  #client: ReconcileClient | undefined;

  constructor(run: ReconcileRun, makers: Makers) {
    const { work, triggers: known } = run;
    const [trigger = untold] = known.triggers;
    this.key = work.key;
    this.cluster = work.cluster;
    this.trigger = trigger;
    this.triggers = known.triggers.length > 0 ? known.triggers : [trigger];
    this.moreTriggers = known.more;
    this.reconcileID = run.reconcileID;
    this.span = makers.span;
    this.clock = makers.clock;
    this.planning = makers.planning ?? false;
    this.#run = run;
    this.#makers = makers;
    Object.defineProperty(this, 'signal', LazyContext.#signalProperty);
    Object.defineProperty(this, 'logger', LazyContext.#loggerProperty);
    Object.defineProperty(this, 'recorder', LazyContext.#recorderProperty);
    Object.defineProperty(this, 'client', LazyContext.#clientProperty);
  }

  // Shared by all contexts: separate functions would give each context its own hidden class, which is slow.
  static readonly #signalProperty = ownProperty(function (this: LazyContext) {
    return this.#run.signal;
  });

  static readonly #loggerProperty = ownProperty(function (this: LazyContext) {
    return this.#makers.logger();
  });

  static readonly #recorderProperty = ownProperty(function (this: LazyContext) {
    return this.#makers.recorder();
  });

  static readonly #clientProperty = ownProperty(function (this: LazyContext) {
    return (this.#client ??= this.#makers.client());
  });
}

function ownProperty(get: (this: LazyContext) => unknown): PropertyDescriptor {
  return { configurable: true, enumerable: true, get };
}
