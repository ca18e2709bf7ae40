import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Registry } from 'prom-client';
import type { Client } from '../../client/index.js';
import type {
  Clock,
  Counter,
  Gauge,
  Histogram,
  KnownMetric,
  Metrics,
  RemovableSeries,
  Resolved,
} from '../../system/index.js';
import {
  bothMetrics,
  OperatorError,
  refuseOtherMetric,
  refuseUnknownOptions,
  registeredMetrics,
} from '../../system/index.js';
import { HttpEndpoint, refusePort } from '../http-endpoint.js';
import type { HttpAnswer, HttpQuestion } from '../http-endpoint.js';
import type { Runnable } from '../runnable.js';
import type { CertificateSource } from '../webhooks/certificate-source.js';
import { ReviewedAccess } from './reviewed-access.js';

interface BindMetricsOptions {
  readonly metrics: ResolvedMetricsOptions | undefined;
  readonly posts: PostAnswers;
  readonly clock: Clock;
}

/** Answers `POST` requests to a path. The function itself must check by `access` whether the client is allowed. */
export type PostAnswer = (question: HttpQuestion, access: ReviewedAccess) => Promise<HttpAnswer>;

/** The functions that answer `POST` requests, by path. */
type PostAnswers = ReadonlyMap<string, PostAnswer>;

const postAnswers = new WeakMap<object, PostAnswers>();

/**
 * Lets the metrics server of a manager answer `POST` requests to `path`, once it is started. The server needs the
 * option `access: 'reviewed'`.
 */
export function answerPosts(manager: object, path: string, answer: PostAnswer): void {
  postAnswers.set(manager, new Map([...postsOf(manager), [path, answer]]));
}

/** Returns what {@link answerPosts} has added to a manager. */
export function postsOf(manager: object): PostAnswers {
  return postAnswers.get(manager) ?? new Map<string, PostAnswer>();
}

/**
 * Binds the metrics to their registry and to an OpenTelemetry SDK, if the process has one. With neither of them,
 * discards the metrics. Loads prom-client only if needed.
 * @param client - sends the reviews of metrics clients
 * @returns the metrics server; undefined if not requested
 */
export async function bindMetrics(
  late: LateMetrics,
  { metrics: options, posts, clock }: BindMetricsOptions,
  client: Client,
): Promise<Runnable | undefined> {
  const collected = await registeredMetrics();
  if (options === undefined) {
    late.bind(collected);
    return undefined;
  }
  const [{ Registry }, { promMetrics }, { registerProcessMetrics }] = await Promise.all([
    import('prom-client'),
    import('../../prometheus/index.js'),
    import('./process-metrics.js'),
  ]);
  const registry = options.registry ?? new Registry();
  if (options.processMetrics) registerProcessMetrics(registry);
  late.bind(bothMetrics(promMetrics(registry), collected));
  if (!options.serve) return undefined;
  const { host, port, certificate } = options;
  const access = options.access === 'reviewed' ? new ReviewedAccess({ client, clock }) : undefined;
  return new HttpEndpoint({
    ...{ name: 'metrics-server', host, port, certificate, clock },
    posts: new Set(access === undefined ? [] : posts.keys()),
    answer: (question) => {
      const post = posts.get(question.url.pathname);
      return access === undefined || post === undefined
        ? answerMetrics(registry, access, question)
        : post(question, access);
    },
  });
}

const compress = promisify(gzip);

// Smaller responses are not compressed.
const smallBytes = 1_024;

/** Answers `/metrics` with the samples of `registry` if the client has access. */
async function answerMetrics(
  registry: Registry,
  access: ReviewedAccess | undefined,
  question: HttpQuestion,
): Promise<HttpAnswer> {
  const { url, headers, logger } = question;
  if (url.pathname !== '/metrics') return { status: 404, body: '404 page not found\n' };
  const refused = await access?.refusal(question);
  if (refused !== undefined) {
    logger.info('a scrape was refused', { status: refused.status });
    return refused;
  }
  const text = await registry.metrics();
  const shown = { 'content-type': registry.contentType, vary: 'accept-encoding' };
  if (text.length < smallBytes || !acceptsGzip(headers['accept-encoding'])) {
    return { status: 200, headers: shown, body: text };
  }
  const body = await compress(text);
  return { status: 200, headers: { ...shown, 'content-encoding': 'gzip' }, body };
}

/** By RFC 9110, `*` covers only codings that the header does not list. */
function acceptsGzip(header: string | string[] | undefined): boolean {
  const codings = String(header ?? '')
    .split(',')
    .map((coding) => coding.split(';').map((part) => part.trim()));
  const named = (name: string) => codings.find(([one = '']) => one.toLowerCase() === name);
  const [, ...parameters] = named('gzip') ?? named('*') ?? ['', 'q=0'];
  return !parameters.some((parameter) => /^q=0(\.0*)?$/i.test(parameter));
}

/** Options of the metrics and of their server. */
export interface MetricsOptions {
  /**
   * Registry of all metrics. Pass one to share it with your own metrics or the client's (see `promMetrics` of
   * `operator-builder/prometheus`). @defaultValue a new registry
   */
  readonly registry?: Registry | undefined;
  /** Serve `/metrics`. @defaultValue true */
  readonly serve?: boolean | undefined;
  /** The address to listen on. @defaultValue all addresses of the machine */
  readonly host?: string | undefined;
  /** 0 selects a free port. @defaultValue 8080 */
  readonly port?: number | undefined;
  /** Serve HTTPS with this certificate, for example `certificateFiles({ folder })`. @defaultValue HTTP */
  readonly certificate?: CertificateSource | undefined;
  /**
   * Access control. `reviewed` requires a bearer token that the API server authenticates (TokenReview) and
   * that may `get` the non-resource URL `/metrics` (SubjectAccessReview). Use HTTPS with it, since the token
   * is sent with each request. @defaultValue 'everyone'
   */
  readonly access?: 'everyone' | 'reviewed' | undefined;
  /** Metrics of the process: CPU, memory, open files, heap. @defaultValue true */
  readonly processMetrics?: boolean | undefined;
}

export type ResolvedMetricsOptions = Resolved<MetricsOptions, 'registry' | 'host' | 'certificate'>;

/** Fills in the defaults. @throws OperatorError `InvalidOption`: an option is out of its range. */
export function resolveMetricsOptions(options: MetricsOptions): ResolvedMetricsOptions {
  const { registry, serve = true, host, port = 8080, certificate } = options;
  const { access = 'everyone', processMetrics = true } = options;
  refusePort('metrics', port);
  // Plain JavaScript can pass another string, which would open the metrics to everyone.
  if (!['everyone', 'reviewed'].includes(access)) {
    const message = `metrics: access ${JSON.stringify(access)}: want everyone or reviewed`;
    throw new OperatorError('InvalidOption', message);
  }
  const resolved = { registry, serve, host, port, certificate, access, processMetrics };
  refuseUnknownOptions<MetricsOptions>('metrics', options, resolved);
  return resolved;
}

/**
 * {@link Metrics} that can be used before their target is known. Registrations and samples are buffered until
 * `bind`.
 */
export class LateMetrics implements Metrics {
  readonly #known = new Map<string, KnownMetric>();
  #target: Metrics | undefined;
  #waiting: ((target: Metrics) => void)[] = [];

  /** Sends the buffer and everything later to `target`. Further calls do nothing. */
  bind(target: Metrics): void {
    if (this.#target !== undefined) return;
    this.#target = target;
    for (const record of this.#waiting) record(target);
    this.#waiting = [];
  }

  counter(options: Parameters<Metrics['counter']>[0]): Counter {
    const metric = this.#late('counter', options, (target) => target.counter(options));
    return {
      add: (value, labels) => metric((counter) => counter.add(value, labels)),
      remove: removal(metric),
    };
  }

  gauge(options: Parameters<Metrics['gauge']>[0]): Gauge {
    const metric = this.#late('gauge', options, (target) => target.gauge(options));
    return {
      set: (value, labels) => metric((gauge) => gauge.set(value, labels)),
      add: (value, labels) => metric((gauge) => gauge.add(value, labels)),
      remove: removal(metric),
      onCollect: (update) => {
        const collecting: { isOver: boolean; end?: (() => void) | undefined } = { isOver: false };
        metric((gauge) => {
          if (!collecting.isOver) collecting.end = gauge.onCollect?.(update);
        });
        return () => {
          collecting.isOver = true;
          collecting.end?.();
        };
      },
    };
  }

  histogram(options: Parameters<Metrics['histogram']>[0]): Histogram {
    const metric = this.#late('histogram', options, (target) => target.histogram(options));
    return {
      observe: (value, labels) => metric((histogram) => histogram.observe(value, labels)),
      remove: removal(metric),
    };
  }

  /** Registers a metric as soon as a registry is bound. Returns a function that calls its argument with that metric. */
  #late<M>(
    type: keyof Metrics,
    { name, labelNames = [] }: Parameters<Metrics['counter']>[0],
    register: (target: Metrics) => M,
  ): (use: (metric: M) => void) => void {
    const known = this.#known.get(name);
    if (known === undefined) this.#known.set(name, { type, labelNames });
    else refuseOtherMetric({ name, type, labelNames }, known, 'the manager');
    let metric: M | undefined;
    const registered = (target: Metrics): M => (metric ??= register(target));
    const whenBound = (record: (target: Metrics) => void): void => {
      if (this.#target === undefined) this.#waiting.push(record);
      else record(this.#target);
    };
    whenBound(registered);
    return (use) => {
      if (metric === undefined) whenBound((target) => use(registered(target)));
      else use(metric);
    };
  }
}

/** Returns a function that removes samples after all earlier updates, and resolves when they are removed. */
function removal(
  use: (record: (metric: RemovableSeries) => void) => void,
): NonNullable<RemovableSeries['remove']> {
  return (labels) => {
    let removed: void | Promise<void> = undefined;
    use((metric) => {
      removed = metric.remove?.(labels);
    });
    return removed;
  };
}
