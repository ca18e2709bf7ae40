import {
  sleep,
  ConnectionError,
  OperatorError,
  isOperatorError,
  noMetrics,
  withLazySignal,
} from '../system/index.js';
import type { Metrics, TransportRequest, TransportResponse } from '../system/index.js';
import { readText, apiErrorOf, WarningLog } from './answers.js';
import { describeCall } from './call.js';
import type { ApiRequest } from './call.js';
import type { Fence } from './client.js';
import type { ResolvedClientOptions } from './client-options.js';
import type { CredentialHeaders } from './credentials.js';
import {
  Deadline,
  TokenBucket,
  refusalDelayMs,
  resetDelayMs,
  retryAfterMs,
} from './request-limits.js';
import { RequestMetrics } from './request-metrics.js';

/** A successful response, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A stream whose response began successfully. */
export interface Stream {
  readonly body: AsyncIterable<Uint8Array>;
  /** The values of the body, if the server runs in this process. */
  readonly events?: TransportResponse['events'];
}

/** Options of {@link Exchange.stream}. */
export interface StreamOptions {
  /** Ends the stream as broken after this many milliseconds; `Infinity` for no limit. */
  readonly maxMs: number;
}

type Identity = CredentialHeaders;

/** A response with an error status. */
interface Refusal {
  readonly outcome: 'refused';
  readonly status: number;
  readonly error: Error;
  /** The delay that the server requests. */
  readonly waitMs?: number;
}

type Attempt<T> =
  | { readonly outcome: 'ok'; readonly value: T }
  | (Refusal & { readonly identity: Identity })
  | { readonly outcome: 'failed'; readonly error: unknown };

type Receive<T> = (response: TransportResponse, deadline: Deadline) => Promise<T>;

/**
 * Sends requests, with the parts that all have in common: credentials, time limits, retries, warnings and
 * metrics. Throws the errors of {@link Client}.
 *
 * ```text
 *  limit -> credentials -> fences, transport -> 2xx ----------------------------> answer
 *    ^                         |-----> 401, once: refresh credentials --|
 *    |                         |-----> 429, 503 with Retry-After: wait -|
 *    |                         `-----> broken, repeatable: wait --------|
 *    `------------------------------------------------------------------'
 * ```
 */
export class Exchange {
  readonly #options: ResolvedClientOptions;
  #metrics: RequestMetrics;
  readonly #warnings: WarningLog;
  readonly #limiter: TokenBucket | undefined;
  /** Called when the server serves nothing at the path of a request. */
  onUnserved: (request: ApiRequest) => void = () => undefined;
  /** One renewal serves all requests that are refused at the same time. */
  #renewing: Promise<void> | undefined;

  constructor(options: ResolvedClientOptions) {
    const { transport, metrics, logger, rateLimit, clock } = options;
    this.#options = options;
    this.#metrics = new RequestMetrics(metrics, transport.host ?? '');
    this.#warnings = new WarningLog(logger);
    this.#limiter = rateLimit && new TokenBucket(rateLimit, clock);
  }

  /**
   * Counts later requests in `metrics`, unless the options named metrics.
   * @returns a function that stops the counting
   */
  countIn(metrics: Metrics): () => void {
    const { metrics: own, transport } = this.#options;
    if (own !== noMetrics) return () => undefined;
    const host = transport.host ?? '';
    const counting = new RequestMetrics(metrics, host);
    this.#metrics = counting;
    return () => {
      if (this.#metrics === counting) this.#metrics = new RequestMetrics(noMetrics, host);
    };
  }

  /** Sends a request and reads its response. */
  send(request: ApiRequest): Promise<Answer> {
    return this.#exchange(request, false, async (response) => {
      const { status, headers } = response;
      const text = await readText(response);
      this.#metrics.received(request.method, Buffer.byteLength(text));
      return { status, headers, text };
    });
  }

  /** Begins a stream; leaving the loop over its body ends it. */
  stream(request: ApiRequest, { maxMs }: StreamOptions): Promise<Stream> {
    return this.#exchange(request, true, async (response, deadline) => {
      deadline.restart(this.#options.clock, maxMs);
      const { body, events } = response;
      const within = { request, deadline };
      const values = events && { events: this.#streamBody(events, within) };
      return { body: this.#streamBody(body, within), ...values };
    });
  }

  /** Ends the request when a fence is lost, even if the request still waits to be sent. */
  #exchange<T>(request: ApiRequest, streaming: boolean, receive: Receive<T>): Promise<T> {
    const { fences = [] } = request;
    return fences.length === 0
      ? this.#repeat(request, streaming, receive)
      : this.#exchangeFenced({ ...request, fences }, streaming, receive);
  }

  async #exchangeFenced<T>(
    request: ApiRequest & { readonly fences: readonly Fence[] },
    streaming: boolean,
    receive: Receive<T>,
  ): Promise<T> {
    checkFences(request);
    const ends = new Deadline(request.signal, this.#options.clock, Infinity);
    for (const { lost } of request.fences) ends.follow(lost);
    try {
      return await this.#repeat({ ...request, signal: ends.signal }, streaming, receive);
    } finally {
      ends.release();
    }
  }

  async #repeat<T>(request: ApiRequest, streaming: boolean, receive: Receive<T>): Promise<T> {
    let refreshed = false;
    let resets = 0;
    let retryAfters = 0;
    for (;;) {
      const attempt = await this.#attempt(request, streaming, receive);
      if (attempt.outcome === 'ok') return attempt.value;
      const { credentials, maxRetryAfters, maxRetryAfterMs, maxResets, random } = this.#options;
      let waitMs: number | undefined;
      if (attempt.outcome === 'failed') {
        if (resets < maxResets) waitMs = resetDelayMs(attempt.error, request, { resets, random });
        resets += 1;
      } else if (attempt.status === 401 && !refreshed && credentials.refresh !== undefined) {
        await this.#renew(request, attempt.identity);
        refreshed = true;
        waitMs = 0;
      } else if (retryAfters < maxRetryAfters && (attempt.waitMs ?? Infinity) <= maxRetryAfterMs) {
        waitMs = refusalDelayMs(attempt.waitMs ?? 0, retryAfters);
        retryAfters += 1;
      }
      if (waitMs === undefined) throw attempt.error;
      this.#metrics.retried(request.method, statusOf(attempt));
      if (waitMs > 0) await this.#wait(waitMs, request);
    }
  }

  async #attempt<T>(
    request: ApiRequest,
    streaming: boolean,
    receive: Receive<T>,
  ): Promise<Attempt<T>> {
    const { clock, requestTimeoutMs, credentials } = this.#options;
    if (request.signal?.aborted === true) throw abortedError(request);
    if (this.#limiter !== undefined && !isUrgent(request))
      await this.#admit(request, this.#limiter);
    const deadline = new Deadline(request.signal, clock, requestTimeoutMs);
    let keep = false;
    try {
      const known = credentials.headers();
      const identity = isThenable(known) ? await deadline.until(Promise.resolve(known)) : known;
      const response = await this.#sendOnce(request, { streaming, identity, deadline });
      if (!isGood(response.status)) {
        return { ...(await this.#refusal(request, response)), identity };
      }
      const value = await receive(response, deadline);
      keep = streaming;
      return { outcome: 'ok', value };
    } catch (error) {
      return { outcome: 'failed', error: this.#explain(error, request, deadline) };
    } finally {
      if (!keep) deadline.release();
    }
  }

  /** Renews the credentials, unless another request has done so since `used` was sent. */
  async #renew(request: ApiRequest, used: Identity): Promise<void> {
    const { clock, requestTimeoutMs, credentials } = this.#options;
    const deadline = new Deadline(request.signal, clock, requestTimeoutMs);
    try {
      const current = await deadline.until(credentials.headers());
      if (current['authorization'] !== used['authorization']) return;
      this.#renewing ??= credentials.refresh?.().finally(() => (this.#renewing = undefined));
      await deadline.until(this.#renewing);
    } catch (error) {
      throw this.#explain(error, request, deadline);
    } finally {
      deadline.release();
    }
  }

  async #sendOnce(
    request: ApiRequest,
    how: { streaming: boolean; identity: Identity; deadline: Deadline },
  ): Promise<TransportResponse> {
    const { transport, clock } = this.#options;
    const { method, path, body, call } = request;
    if (body !== undefined) this.#metrics.sent(method, Buffer.byteLength(body));
    const { fences = [] } = request;
    const beforeSend = (): void => checkFences(request);
    const startMs = clock.monotonicMs();
    let status: number | undefined;
    try {
      const sent = {
        method,
        path,
        streaming: how.streaming,
        ...this.#headers(request, how),
        ...(body !== undefined && { body }),
        ...(fences.length > 0 && { beforeSend }),
        ...(isUrgent(request) && { urgent: true }),
      };
      const response = await transport.request(withLazySignal(sent, how.deadline));
      status = response.status;
      this.#warnings.add(response.headers['warning'], call);
      return response;
    } finally {
      this.#metrics.observe(method, status, clock.monotonicMs() - startMs);
    }
  }

  #headers(
    request: ApiRequest,
    { streaming, identity }: { readonly streaming: boolean; readonly identity: Identity },
  ): Pick<TransportRequest, 'headers' | 'repeatedHeaders'> {
    const { userAgent, compression } = this.#options;
    const { accept = 'application/json', contentType, credentialsHeader } = request;
    const headers: Record<string, string> = { accept, 'user-agent': userAgent };
    if (contentType !== undefined) headers['content-type'] = contentType;
    // Compression would delay events until a block is full.
    if (compression && !streaming) headers['accept-encoding'] = 'gzip';
    Object.assign(headers, request.headers);
    const { authorization } = identity;
    if (credentialsHeader !== undefined && typeof authorization === 'string') {
      headers[credentialsHeader] = authorization;
    }
    let repeatedHeaders: Record<string, readonly string[]> | undefined;
    for (const [name, value] of Object.entries(identity)) {
      if (typeof value === 'string') headers[name] = value;
      else (repeatedHeaders ??= {})[name] = value;
    }
    return repeatedHeaders === undefined ? { headers } : { headers, repeatedHeaders };
  }

  async #refusal(request: ApiRequest, response: TransportResponse): Promise<Refusal> {
    const { status, headers } = response;
    const nowMs = this.#options.clock.now();
    const afterMs = retryAfterMs(headers['retry-after'], nowMs, headers['date']);
    const text = await readText(response);
    const error = apiErrorOf(request.call, { status, headers, text }, afterMs);
    // If only the object is missing, the body of the 404 is a Status.
    if (status === 404 && error.body.kind !== 'Status' && request.call.verb !== 'discover') {
      this.onUnserved(request);
    }
    const wait = (status === 429 || status === 503) && afterMs !== undefined;
    return { outcome: 'refused', status, error, ...(wait && { waitMs: afterMs }) };
  }

  /**
   * Converts errors of `body` to errors of the call. Not a generator, whose extra promises for each chunk
   * would slow watches down.
   */
  #streamBody<T>(
    body: AsyncIterable<T>,
    { request, deadline }: { readonly request: ApiRequest; readonly deadline: Deadline },
  ): AsyncIterable<T> {
    const chunks = body[Symbol.asyncIterator]();
    const arrived = (chunk: IteratorResult<T, undefined>): IteratorResult<T, undefined> => {
      if (chunk.done === true) deadline.release();
      return chunk;
    };
    const failed = (error: unknown): never => {
      const { expired } = deadline;
      deadline.release();
      if (!expired) throw this.#explain(error, request, deadline);
      const message = `${describeCall(request.call)}: the watch did not end at its time-out; the connection is dead`;
      throw new ConnectionError(message, { cause: error, requestSent: true });
    };
    const iterator: AsyncIterator<T, undefined> = {
      next: () => chunks.next().then(arrived, failed),
      return: async () => {
        deadline.release();
        await chunks.return?.();
        return { done: true, value: undefined };
      },
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }

  async #admit(request: ApiRequest, limiter: TokenBucket): Promise<void> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    await limiter.take(request.signal).catch(() => {
      throw abortedError(request);
    });
    this.#metrics.waited(request.method, clock.monotonicMs() - startMs);
  }

  async #wait(waitMs: number, request: ApiRequest): Promise<void> {
    await sleep(this.#options.clock, waitMs, request.signal).catch(() => {
      throw abortedError(request);
    });
  }

  /** Returns the transport's error as an error of this call. */
  #explain(error: unknown, request: ApiRequest, deadline: Deadline): unknown {
    const what = describeCall(request.call);
    if (deadline.expired) {
      const message = `${what}: no answer in time (requestTimeoutMs is ${this.#options.requestTimeoutMs})`;
      return new OperatorError('Timeout', message, { cause: error });
    }
    if (request.signal?.aborted === true) return abortedError(request);
    if (!isOperatorError(error, 'ConnectionFailed')) return error;
    const requestSent = error instanceof ConnectionError ? error.requestSent : true;
    return new ConnectionError(`${what}: ${error.message}`, { cause: error, requestSent });
  }
}

/**
 * Whether headers are still to come. Recognizes a promise of another realm too, which is not an instance of this
 * realm's `Promise`.
 */
function isThenable(headers: Identity | Promise<Identity>): headers is Promise<Identity> {
  return typeof headers['then'] === 'function';
}

function statusOf(attempt: Attempt<unknown>): number | undefined {
  return attempt.outcome === 'refused' ? attempt.status : undefined;
}

// 304 answers only a request with `if-none-match`.
function isGood(status: number): boolean {
  return (status >= 200 && status <= 299) || status === 304;
}

/** @throws OperatorError `Fenced`. */
function checkFences({ call, fences = [] }: ApiRequest): void {
  for (const fence of fences) fence.check(describeCall(call));
}

/** Returns the error of a call whose signal was aborted. */
export function abortedError({ call, signal }: ApiRequest): OperatorError {
  return new OperatorError('Aborted', `${describeCall(call)}: aborted`, { cause: signal?.reason });
}

/**
 * Returns true for requests about Leases. A Lease that is renewed late is lost. So these requests do not wait
 * for the rate limit and do not share connections with others, as with client-go's client for elections.
 */
function isUrgent({ path }: ApiRequest): boolean {
  return path.startsWith('/apis/coordination.k8s.io/');
}
