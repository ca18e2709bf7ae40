import type { Client } from '../client/client.js';
import { silentRecorder } from '../events/recorder.js';
import type { Recorder } from '../events/recorder.js';
import type { ObjectKey } from '../object/kubernetes-object.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { OperatorError } from '../system/operator-error.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import { noSpan } from '../system/tracer.js';
import { whenAborted } from '../system/when-aborted.js';
import { ownedTypes } from './controller-definition.js';
import type { ControllerDefinition } from './controller-definition.js';
import { LazyContext } from './lazy-context.js';
import { reconcileClient } from './reconcile-client.js';
import { workKeyOf } from './reconcile-key.js';
import { ReconcileRun } from './reconcile-run.js';
import type { RunEnd } from './reconcile-run.js';
import type { Result } from './result.js';

/** Parameters of a single reconcile; the controller need not run. */
export interface SingleReconcile {
  readonly key: ObjectKey;
  /** The client of the reconciler. */
  readonly client: Client;
  /** Makes the reconciler plan only; the client must use dry runs. @defaultValue false */
  readonly planning?: boolean | undefined;
  /** Ends the reconcile. @defaultValue none */
  readonly signal?: AbortSignal | undefined;
  /** Records the reconciler's events. @defaultValue a silent recorder */
  readonly recorder?: Recorder | undefined;
  /** @defaultValue the machine's clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's random source */
  readonly random?: Random | undefined;
  /** @defaultValue discards all records */
  readonly logger?: Logger | undefined;
}

/** Reconciles one key once; see `Controller.reconcileOnce`. */
export async function reconcileOnce(
  definition: ControllerDefinition,
  reconcile: SingleReconcile,
): Promise<Result> {
  const { type, options, reconciler } = definition;
  const { key, planning = false, signal, clock = systemClock } = reconcile;
  const {
    recorder = silentRecorder,
    random = systemRandom,
    logger: parent = silentLogger,
  } = reconcile;
  const reconcileID = random.uuid();
  const facts = { controller: options.name, kind: type.kind, ...key, reconcileID };
  const triggers = { triggers: [], more: 0 };
  const run = new ReconcileRun({ work: workKeyOf(key), reconcileID, triggers }, clock);
  const client = reconcileClient(reconcile.client, {
    owns: ownedTypes(definition),
    get signal() {
      return run.signal;
    },
    writeSignal: run.writeSignal,
    isOver: () => run.isOver,
    track: (write) => run.track(write),
    observe: () => () => undefined,
  });
  const logger = parent.child(facts);
  const making = {
    ...{ client: () => client, logger: () => logger, recorder: () => recorder },
    ...{ clock, span: noSpan, planning },
  };
  const running = run.run(
    () => reconciler(new LazyContext(run, making)),
    options.reconcileTimeoutMs,
  );
  return resultOf(await endOf(running, run, signal), run);
}

/** Waits for the end of a run. An aborted signal ends the wait, even if the handler continues. */
async function endOf(
  running: Promise<RunEnd>,
  run: ReconcileRun,
  signal: AbortSignal | undefined,
): Promise<RunEnd> {
  if (signal === undefined) return running;
  const ended = new AbortController();
  const stopped = whenAborted(AbortSignal.any([signal, ended.signal])).then((): RunEnd => {
    if (signal.aborted) {
      run.abort(new OperatorError('Aborted', `reconcile of ${run.work.text}: it was ended`));
    }
    return { type: 'timedOut' };
  });
  try {
    return await Promise.race([running, stopped]);
  } finally {
    ended.abort();
  }
}

async function resultOf(end: RunEnd, run: ReconcileRun): Promise<Result> {
  if (end.type === 'timedOut') throw run.signal.reason;
  // Wait for writes that the handler did not await.
  await run.whenEnded();
  if (end.type === 'threw') throw end.error;
  return end.result;
}
