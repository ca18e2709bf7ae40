import type { Client } from '../client/index.js';
import { silentRecorder } from '../events/index.js';
import type { Recorder } from '../events/index.js';
import type { ObjectKey } from '../object/index.js';
import {
  isOperatorError,
  noTracer,
  OperatorError,
  silentLogger,
  systemClock,
  systemRandom,
  whenAborted,
} from '../system/index.js';
import type { Clock, Logger, Random } from '../system/index.js';
import { workKeyOf } from './keys.js';
import { LazyContext } from './lazy-context.js';
import { ownedTypes } from './options.js';
import type { ControllerDefinition } from './options.js';
import { OutsideGuard } from './outside-guard.js';
import { ReconcileRun } from './reconcile.js';
import type { RunEnd } from './reconcile.js';
import type { Result } from './result.js';

/** Parameters of a single reconcile; the controller need not run. */
export interface SingleReconcile {
  readonly key: ObjectKey;
  /** The client of the reconciler. */
  readonly client: Client;
  /**
   * Makes the reconciler plan only; the client must use dry runs. Requests that the reconciler sends with
   * something else than this client are refused, see `ControllerOptions.requestsInPlans`. @defaultValue false
   */
  readonly planning?: boolean | undefined;
  /** Ends the reconcile. @defaultValue none */
  readonly signal?: AbortSignal | undefined;
  /** Records the reconciler's events. @defaultValue no Events */
  readonly recorder?: Recorder | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Draws the ID of the reconcile. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** @defaultValue no logs */
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
  const subject = { work: workKeyOf(key), reconcileID, triggers: { triggers: [], more: 0 } };
  const guard = planning && options.requestsInPlans === 'reads' ? new OutsideGuard() : undefined;
  const client = guard?.passing(reconcile.client) ?? reconcile.client;
  const run = new ReconcileRun(subject, {
    ...{ kind: type.kind, client, clock, tracer: noTracer, planning },
    logger: parent.child({ controller: options.name }),
    owns: ownedTypes(definition),
    recorder: () => recorder,
    observe: () => () => undefined,
  });
  if (signal?.aborted === true) throw endedByCaller(run);
  const handle = (): Promise<Result> => reconciler(new LazyContext(run));
  const handler = guard === undefined ? handle : () => guard.run(handle);
  const ended = (): Promise<RunEnd> =>
    endOf(run.run(handler, options.reconcileTimeoutMs), run, { signal, refused: guard?.ended });
  const end = await (guard === undefined ? ended() : guard.during(ended));
  if (guard !== undefined) judgeRefusals(guard, run, end);
  return resultOf(end, run);
}

/**
 * Decides whether requests of the handler that were refused fail the reconcile. If it succeeded nevertheless, they are
 * only logged.
 * @throws OperatorError `OutsideWrite`: the reconcile ended because of refused requests.
 */
function judgeRefusals(guard: OutsideGuard, run: ReconcileRun, end: RunEnd): void {
  const warn = (what: string): void => {
    run.logger.warn(what, { error: refusalOf(run, guard, end) });
  };
  // HTTP libraries may repeat a request that fails, until the time-out.
  const isTimeout = end.type === 'timedOut' && isOperatorError(run.signal.reason, 'Timeout');
  const isReason = end.type === 'threw' || isTimeout || guard.ended.aborted;
  if (guard.refusal !== undefined && isReason) throw refusalOf(run, guard, end);
  if (guard.refusal !== undefined) warn('the handler ignored a refused request');
  void whenAborted(guard.ended).then(() => warn('the handler did not await a refused request'));
}

function endedByCaller({ work }: ReconcileRun): OperatorError {
  return new OperatorError('Aborted', `reconcile of ${work.text}: its caller aborted it`);
}

interface Endings {
  /** The signal of the caller. */
  readonly signal: AbortSignal | undefined;
  /**
   * Aborted because of refused requests. The handler's signal is not aborted, because that would settle its pending
   * requests.
   */
  readonly refused: AbortSignal | undefined;
}

/** Waits for the end of a run. An aborted signal ends the wait, even if the handler continues. */
async function endOf(
  running: Promise<RunEnd>,
  run: ReconcileRun,
  { signal, refused }: Endings,
): Promise<RunEnd> {
  const ended = new AbortController();
  const signals = [signal, refused, ended.signal].filter((each) => each !== undefined);
  if (signals.length === 1) return running;
  const stopped = whenAborted(AbortSignal.any(signals)).then((): RunEnd => {
    if (signal?.aborted === true) run.abort(endedByCaller(run));
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

/**
 * Returns the error of a reconcile whose requests were refused. The error names the refused request, because the
 * handler may have wrapped the refusal in an error of its HTTP client.
 */
function refusalOf(
  { work, signal }: ReconcileRun,
  { refusal }: OutsideGuard,
  end: RunEnd,
): OperatorError {
  const ending: unknown = end.type === 'timedOut' && signal.aborted ? signal.reason : undefined;
  const cause = refusal?.unhandled ?? (end.type === 'threw' ? end.error : ending);
  const message = `reconcile of ${work.text}: ${refusal?.text ?? ''}`;
  return new OperatorError('OutsideWrite', message, { cause });
}
