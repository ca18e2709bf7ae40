import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';
import { asError, nextTurn, OperatorError, reportedRejections } from '../system/index.js';
import type { Result } from './result.js';

/** A request that may change something outside of the cluster. */
interface OutsideWrite {
  readonly method: string;
  /** The origin of the URL. It omits path and query, which may hold credentials. */
  readonly origin: string;
}

interface Refusal {
  readonly error: OperatorError;
  /** Whether this refusal, or an earlier one, has ended the reconcile. */
  readonly isLast: boolean;
}

// CONNECT opens a tunnel through a proxy; the hooks also check each request that is sent through the tunnel.
const readMethods = ['GET', 'HEAD', 'OPTIONS', 'CONNECT'];

/** Time after the end of a reconcile for which the guard still refuses requests, in milliseconds. */
const lingerMs = 10_000;

/** Number of refused requests that ends a reconcile: its handler would repeat them forever. */
const mostRefusals = 100;

/**
 * The delay, in milliseconds, of the refusal of a request whose caller is unknown, once refusals have ended the
 * reconcile.
 */
const delayMs = 1_000;

const guards = new AsyncLocalStorage<OutsideGuard | undefined>();
/** The guards of refused requests, by the error of the request. */
const refusals = new WeakMap<object, OutsideGuard>();
let running = 0;
let lingering: NodeJS.Timeout | undefined;
let fetches: { readonly original: typeof fetch; readonly guarded: typeof fetch } | undefined;

/** The private method of Node's `ClientRequest` that writes the head of a request, before anything is sent. */
type StoreHeader = (this: ClientRequest, ...args: unknown[]) => unknown;
const httpRequests = ClientRequest.prototype as { _storeHeader?: StoreHeader };
const storeHeader = httpRequests._storeHeader;

/**
 * Refuses the HTTP requests of a handler that are not reads, before a byte is sent: those of `fetch`, undici,
 * `node:http` and `node:https`. `fetch` is replaced as long as a plan runs; the others publish requests on diagnostics
 * channels first. Other protocols pass, since nothing shows whether they read or write.
 *
 * A refused request fails. After 100 refusals the reconcile ends, and further requests never settle: a handler that
 * repeats them without a pause would block all other work of the process. If the caller of a request is unknown, the
 * request fails after a second instead.
 */
export class OutsideGuard {
  readonly #end = new AbortController();
  #handling: Promise<unknown> = Promise.resolve();
  #refused: OutsideWrite | undefined;
  #count = 0;
  #unhandled: unknown;

  /** Aborted if the reconcile must end because of refused requests, even if the handler continues. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  /** The text of the first refusal, and the first unhandled error of a refusal; undefined: no refusal. */
  get refusal(): { readonly text: string; readonly unhandled: unknown } | undefined {
    if (this.#refused === undefined) return undefined;
    const text = refusalText(this.#refused);
    const repeated = `${this.#count} requests were refused, and the handler sends more`;
    const isRepeated = this.#count >= mostRefusals;
    return { text: isRepeated ? `${text}; ${repeated}` : text, unhandled: this.#unhandled };
  }

  /** Returns a client whose requests are never refused, nor those of its lists and watches. */
  passing<T extends object>(client: T): T {
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (name === 'live' && isObject(value)) return this.passing(value);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          const result = guards.run(undefined, () => Reflect.apply(value, target, args) as unknown);
          return isObject(result) && Symbol.asyncIterator in result ? this.passing(result) : result;
        };
      },
    });
  }

  /**
   * Guards a reconcile. The guard stays active until some seconds after the handler has ended, because the handler may
   * continue after a time-out. If refused requests have ended the reconcile, the guard does not wait for the handler,
   * which may never end.
   */
  async during<T>(reconcile: () => Promise<T>): Promise<T> {
    running++;
    listen();
    try {
      return await reconcile();
    } finally {
      if (this.#end.signal.aborted) release();
      else void this.#handling.then(release, release);
    }
  }

  async run(handler: () => Promise<Result>): Promise<Result> {
    const handling = guards.run(this, handler);
    this.#handling = handling;
    const result = await handling;
    // Node.js reports unhandled rejections at the end of a turn.
    await nextTurn();
    return result;
  }

  /** @returns the refusal of the request; undefined if it may pass */
  check(request: OutsideWrite): Refusal | undefined {
    if (readMethods.includes(request.method.toUpperCase())) return undefined;
    if (this.#refused === undefined) watchRejections();
    this.#refused ??= request;
    this.#count++;
    const isLast = this.#count >= mostRefusals;
    if (isLast) this.#end.abort();
    const error = new OperatorError('OutsideWrite', refusalText(request));
    refusals.set(error, this);
    return { error, isLast };
  }

  /** Ends the reconcile because of an error that nothing handles. @returns false if no request was refused */
  endWith(unhandled: unknown): boolean {
    if (this.#refused === undefined) return false;
    this.#unhandled ??= unhandled;
    this.#end.abort();
    return true;
  }
}

function refusalText({ method, origin }: OutsideWrite): string {
  const remedy = "return before the call if planning is true, or set requestsInPlans to 'all'";
  return `${method} ${origin} was not sent, since a plan must change nothing outside of the cluster; ${remedy}`;
}

type Listener = (message: unknown) => void;

const listeners: Readonly<Record<string, Listener>> = {
  'undici:request:create': (message) => {
    const { request } = message as { readonly request: UndiciRequest };
    const { method, origin } = request;
    const caller = callerOf(request);
    const guard =
      caller === undefined ? guards.getStore() : caller.runInAsyncScope(() => guards.getStore());
    const refusal = guard?.check({ method, origin: String(origin) });
    if (refusal === undefined) return;
    if (!refusal.isLast) refuseUndici(request, refusal);
    else if (caller === undefined) refuseLater(request, refusal);
    // undici does not send a request that is aborted.
    else request.aborted = true;
  },
  'http.client.request.created': (message) => {
    refuseHttp((message as { readonly request: ClientRequest }).request);
  },
};

function listen(): void {
  const isListening = lingering !== undefined || running > 1;
  clearTimeout(lingering);
  lingering = undefined;
  if (isListening) return;
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener);
  // Node.js before 22.12 publishes a request only after it has written it to a connection that was kept open.
  if (storeHeader !== undefined) httpRequests._storeHeader = guardedHeader(storeHeader);
  const { fetch: original } = globalThis;
  const guarded = guardedFetch(original);
  fetches = { original, guarded };
  Reflect.set(globalThis, 'fetch', guarded);
}

function release(): void {
  if (--running === 0) lingering = later(lingerMs, unlisten);
}

/** Removes all hooks: on Node.js 20, an AsyncLocalStorage in use slows down all promises. */
function unlisten(): void {
  lingering = undefined;
  for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener);
  if (storeHeader !== undefined) httpRequests._storeHeader = storeHeader;
  // Keep a function by which other code has replaced `fetch` meanwhile.
  if (globalThis.fetch === fetches?.guarded) Reflect.set(globalThis, 'fetch', fetches.original);
  process.off('unhandledRejection', reportRejection);
  guards.disable();
}

/**
 * Returns a `fetch` that checks each request, with the properties of the original. On Deno and Bun, the guard has no
 * other way to check the requests of `fetch`.
 */
function guardedFetch(original: typeof fetch): typeof fetch {
  return new Proxy(original, {
    apply: (target, self, args: Parameters<typeof fetch>) => {
      const guard = guards.getStore();
      const request = guard && fetchedRequest(...args);
      const refusal = request && guard.check(request);
      if (refusal === undefined) return Reflect.apply(target, self, args);
      if (refusal.isLast) return new Promise(() => undefined);
      return Promise.reject(new TypeError('fetch failed', { cause: refusal.error }));
    },
  });
}

/** @returns undefined if `fetch` itself refuses the arguments */
function fetchedRequest(...[input, init]: Parameters<typeof fetch>): OutsideWrite | undefined {
  const given = input instanceof URL ? input.href : input;
  const { url, method } = typeof given === 'string' ? { url: given, method: 'GET' } : given;
  if (!URL.canParse(url)) return undefined;
  return { method: init?.method ?? method, origin: new URL(url).origin };
}

/** The parts of a request that undici publishes on its diagnostics channels. */
interface UndiciRequest {
  readonly method: string;
  readonly origin: string | URL;
  aborted: boolean;
  onError?(error: Error): void;
  onResponseError?(error: Error): void;
}

/**
 * Returns the async context of the caller, which undici records for `request`, `stream` and similar functions. The
 * current context may be wrong: a pool with limited connections creates a waiting request in the context of another
 * request. Undefined: the caller is unknown, as for `fetch`.
 */
function callerOf(request: UndiciRequest): AsyncResource | undefined {
  const parts = request as unknown as Readonly<Record<symbol, unknown>>;
  return Object.getOwnPropertySymbols(request)
    .map((name) => parts[name])
    .find((part) => part instanceof AsyncResource);
}

function refuseUndici(request: UndiciRequest, { error }: Refusal): void {
  // The method has another name in the undici of Node.js 26.
  if (request.onError === undefined) request.onResponseError?.(error);
  else request.onError(error);
}

/** Refuses a request later: its caller is unknown, and may be other code than the handler. */
function refuseLater(request: UndiciRequest, refusal: Refusal): void {
  request.aborted = true;
  const refuse = (): void => {
    request.aborted = false;
    refuseUndici(request, refusal);
  };
  later(delayMs, refuse);
}

/** Calls `run` after `ms`, unless the process ends before: a timer of a Clock would keep it alive. */
function later(ms: number, run: () => void): NodeJS.Timeout {
  // eslint-disable-next-line no-restricted-globals -- a Clock has no timer that lets the process end
  return setTimeout(run, ms).unref();
}

function guardedHeader(store: StoreHeader): StoreHeader {
  return function (...args) {
    refuseHttp(this);
    return store.apply(this, args);
  };
}

function refuseHttp(request: ClientRequest): void {
  const { method, protocol } = request;
  if (request.destroyed) return;
  const host = String(request.getHeader('host') ?? request.host);
  const guard = guards.getStore();
  const refusal = guard?.check({ method, origin: `${protocol}//${host}` });
  if (refusal === undefined) return;
  if (refusal.isLast) {
    request.emit = () => false;
    request.destroy();
    return;
  }
  // Without a listener the error would end the process.
  request.on('error', () => {
    if (request.listenerCount('error') === 1) guard?.endWith(refusal.error);
  });
  request.destroy(refusal.error);
}

/**
 * Listens for unhandled rejections. Called at the first refusal only, because the listener changes how Node.js
 * handles all other rejections.
 */
function watchRejections(): void {
  if (process.listeners('unhandledRejection').includes(reportRejection)) return;
  process.prependListener('unhandledRejection', reportRejection);
}

function reportRejection(reason: unknown, promise: Promise<unknown>): void {
  // Node.js and Deno call this in the context of the promise, Bun does not.
  const guard = guards.getStore() ?? guardBehind(reason);
  if (guard?.endWith(reason) === true) reportedRejections.add(promise);
  // Without any listener Node.js would throw the error: do so if this is the only listener.
  else if (process.listenerCount('unhandledRejection') === 1) throw asError(reason);
}

function guardBehind(reason: unknown): OutsideGuard | undefined {
  for (let error = reason, depth = 0; error instanceof Error && depth < 10; depth++) {
    const guard = refusals.get(error);
    if (guard !== undefined) return guard;
    error = error.cause;
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
