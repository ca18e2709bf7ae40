import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { CachingClient, Client } from '../client/index.js';
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
  /** @defaultValue the system's random source */
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
  const handler = guard === undefined ? handle : () => guard.during(handle);
  const running = run.run(handler, options.reconcileTimeoutMs);
  const end = await endOf(running, run, signal);
  const refused = guard?.refused;
  if (refused !== undefined) {
    const error = refusalOf(run, refused, end);
    // A handler that times out counts as refused too: its HTTP library may repeat the refused request until then.
    const isTimeout = end.type === 'timedOut' && isOperatorError(run.signal.reason, 'Timeout');
    if (end.type === 'threw' || isTimeout) throw error;
    run.logger.warn('the handler ignored a refused request', { error });
  }
  return resultOf(end, run);
}

function endedByCaller({ work }: ReconcileRun): OperatorError {
  return new OperatorError('Aborted', `reconcile of ${work.text}: it was ended`);
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
    if (signal.aborted) run.abort(endedByCaller(run));
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

/** A request that may change something outside of the cluster. */
interface OutsideWrite {
  readonly method: string;
  /** Without path and query, which may hold credentials. */
  readonly origin: string;
}

// CONNECT opens a tunnel through a proxy; a request that is sent through the tunnel is published, too.
const readMethods = ['GET', 'HEAD', 'OPTIONS', 'CONNECT'];

const guards = new AsyncLocalStorage<OutsideGuard | undefined>();
let running = 0;
let lingering: NodeJS.Timeout | undefined;

/**
 * Time after the return of a handler in which the guard refuses the requests that it did not await, in
 * milliseconds.
 */
const lingerMs = 10_000;

/**
 * Refuses the HTTP requests of a handler that are not reads, before a byte is sent: those of `fetch`, undici,
 * `node:http` and `node:https`. Node.js publishes the requests before it sends them. Other protocols pass, since
 * nothing shows whether they read or write.
 */
class OutsideGuard {
  /** The first request that was refused. */
  refused: OutsideWrite | undefined;

  /** Returns a client whose requests are not refused. */
  passing(client: CachingClient): CachingClient {
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (name === 'live' && target.live !== undefined) return this.passing(target.live);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown =>
          guards.run(undefined, () => Reflect.apply(value, target, args) as unknown);
      },
    });
  }

  /** Runs a handler under the guard. */
  async during(handler: () => Promise<Result>): Promise<Result> {
    running++;
    listen();
    try {
      return await guards.run(this, handler);
    } finally {
      // eslint-disable-next-line no-restricted-globals -- a timer of the Clock would keep the process alive
      if (--running === 0) lingering = setTimeout(unlisten, lingerMs).unref();
    }
  }

  /** @returns the reason to end the request; undefined if it may pass */
  check(request: OutsideWrite): Error | undefined {
    if (readMethods.includes(request.method.toUpperCase())) return undefined;
    this.refused ??= request;
    return new OperatorError('OutsideWrite', refusalText(request));
  }
}

type Listener = (message: unknown) => void;

const listeners: Readonly<Record<string, Listener>> = {
  'undici:request:create': (message) => {
    const { request } = message as { readonly request: UndiciRequest };
    const { method, origin } = request;
    const refusal = guards.getStore()?.check({ method, origin: String(origin) });
    if (refusal === undefined) return;
    // The method has another name in the undici of Node.js 26.
    if (request.onError === undefined) request.onResponseError?.(refusal);
    else request.onError(refusal);
  },
  // Node.js 20 has only the second channel; later versions may have sent the headers by then.
  'http.client.request.created': refuseHttp,
  'http.client.request.start': refuseHttp,
};

function listen(): void {
  const isListening = lingering !== undefined || running > 1;
  clearTimeout(lingering);
  lingering = undefined;
  if (isListening) return;
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener);
}

/** An AsyncLocalStorage in use slows down all promises of Node.js 20, and an operator that answers plans lives on. */
function unlisten(): void {
  lingering = undefined;
  for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener);
  guards.disable();
}

/** The published parts of a request of undici. */
interface UndiciRequest {
  readonly method: string;
  readonly origin: string | URL;
  onError?(error: Error): void;
  onResponseError?(error: Error): void;
}

function refuseHttp(message: unknown): void {
  const { request } = message as { readonly request: ClientRequest };
  const { method, protocol } = request;
  if (request.destroyed) return;
  const host = String(request.getHeader('host') ?? request.host);
  const refusal = guards.getStore()?.check({ method, origin: `${protocol}//${host}` });
  if (refusal !== undefined) request.destroy(refusal);
}

function refusalText({ method, origin }: OutsideWrite): string {
  const remedy = "return before the call if planning is true, or set requestsInPlans to 'all'";
  return `${method} ${origin} was not sent, since a plan must change nothing outside of the cluster; ${remedy}`;
}

/** Names the reconcile, whose handler may have hidden the reason behind an error of its HTTP client. */
function refusalOf(
  { work, signal }: ReconcileRun,
  refused: OutsideWrite,
  end: RunEnd,
): OperatorError {
  const ending: unknown = end.type === 'timedOut' ? signal.reason : undefined;
  const cause = end.type === 'threw' ? end.error : ending;
  const message = `reconcile of ${work.text}: ${refusalText(refused)}`;
  return new OperatorError('OutsideWrite', message, { cause });
}
