import { checkJson, describeObject, isJsonObject, jsonCopy } from '../../object/index.js';
import { errorMessage, OperatorError } from '../../system/index.js';
import type { Clock, Logger, Metrics } from '../../system/index.js';
import {
  admissionReviewOf,
  readAdmissionReview,
  tooDeepReview,
  BadRequestError,
  convertAll,
  convertedReview,
  failedReview,
  readConversionReview,
} from './reviews.js';
import { refusal } from './webhook-server.js';
import type { PostedAnswer, PostedRequest } from './webhook-server.js';
import type { AdmissionWebhook, Allowed, Denied, Mutated, Webhook } from './webhook.js';

/** Outputs of {@link WebhookHandlers}. */
interface WebhookReports {
  readonly metrics: WebhookMetrics;
  readonly logger: Logger;
}

/** Passes reviews to the webhook of their path. */
export class WebhookHandlers {
  readonly #webhooks: readonly Webhook[];
  readonly #metrics: WebhookMetrics;
  readonly #logger: Logger;

  constructor(webhooks: readonly Webhook[], { metrics, logger }: WebhookReports) {
    this.#webhooks = webhooks;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Never throws: an error becomes a response. */
  async answer(request: PostedRequest): Promise<PostedAnswer> {
    const { path } = request;
    const webhook = this.#webhooks.find((each) => each.path === path);
    if (webhook === undefined) return refusal(404, `${path}: no webhook is served here`);
    const ended = this.#metrics.begin(path);
    const answer = await this.#answerSafely(webhook, request);
    ended(answer.status);
    return answer;
  }

  async #answerSafely(webhook: Webhook, request: PostedRequest): Promise<PostedAnswer> {
    try {
      const body = parse(request.body);
      return webhook.type === 'conversion'
        ? this.#convert(body)
        : await this.#admit(webhook, body, request.signal);
    } catch (error) {
      if (error instanceof BadRequestError) {
        this.#logger.warn(`webhook ${webhook.name}: ${error.message}`);
        return refusal(400, error.message);
      }
      this.#metrics.handlerThrew(webhook.type);
      this.#logger.error(`webhook ${webhook.name} threw`, { webhook: webhook.name, error });
      return refusal(500, `webhook ${webhook.name} failed: ${errorMessage(error)}`);
    }
  }

  async #admit(
    webhook: AdmissionWebhook,
    body: unknown,
    signal: AbortSignal,
  ): Promise<PostedAnswer> {
    const refused = tooDeepReview(body);
    if (refused !== undefined) {
      this.#logger.warn(`webhook ${webhook.name}: object refused, it nests too deeply`);
      return { status: 200, body: refused };
    }
    const request = readAdmissionReview(body, webhook);
    const { uid: requestUid, namespace, name, operation } = request;
    const logger = this.#logger.child({
      ...{ webhook: webhook.name, kind: webhook.resource.kind, namespace, name, requestUid },
    });
    // With the failurePolicy Ignore, the user of the API server gets no error, so the log must show it.
    const onGone = (): void => logger.warn('the API server no longer waits for the handler');
    signal.addEventListener('abort', onGone, { once: true });
    const verdict = await webhook.handler(request, { signal, logger });
    signal.removeEventListener('abort', onGone);
    if (!isVerdict(verdict)) {
      throw new TypeError('its handler has to return allowed(), denied(…) or mutated(…)');
    }
    if (verdict.type === 'mutated' && webhook.type === 'validating') {
      throw new TypeError(
        'a validating webhook can not change the object: return allowed() or denied(…)',
      );
    }
    if (verdict.type === 'mutated' && request.object === undefined) {
      // The API server would answer 500 to a patch without an object, whatever the failurePolicy.
      throw new TypeError(`a ${operation} has no object to change: return allowed() or denied(…)`);
    }
    const subject = describeObject(webhook.resource, { namespace, name });
    const answer = asJson(verdict, `${subject}: ${verdict.type}`);
    logger.debug(`${operation} ${verdict.type}`);
    return { status: 200, body: admissionReviewOf(request, webhook.resource, answer) };
  }

  #convert(body: unknown): PostedAnswer {
    const request = readConversionReview(body);
    const resources = this.#webhooks.flatMap((each) =>
      each.type === 'conversion' ? [each.resource] : [],
    );
    const { uid, desiredApiVersion, objects } = request;
    try {
      return { status: 200, body: convertedReview(uid, convertAll(request, resources)) };
    } catch (error) {
      // An object that is being created may not have a name yet.
      const names = objects.slice(0, 3).map((object) => describeObject(object));
      this.#metrics.handlerThrew('conversion');
      this.#logger.error(`conversion to ${desiredApiVersion} failed`, { objects: names, error });
      return { status: 200, body: failedReview(uid, errorMessage(error)) };
    }
  }
}

/** @throws BadRequestError */
function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new BadRequestError(`the body is not JSON: ${errorMessage(error)}`, error);
  }
}

function isVerdict(value: unknown): boolean {
  const types: readonly unknown[] = ['allowed', 'denied', 'mutated'];
  return isJsonObject(value) && types.includes(value['type']);
}

/**
 * Returns `verdict` with its object as JSON. Other values would be lost in the patch or the response, and the
 * API server would store an object that the handler did not return.
 * @throws OperatorError `InvalidValue`: a value has no JSON form.
 */
function asJson(verdict: Allowed | Denied | Mutated, subject: string): Allowed | Denied | Mutated {
  if (verdict.type !== 'mutated') {
    checkJson(verdict, subject);
    return verdict;
  }
  const { object, ...rest } = verdict;
  checkJson(rest, subject);
  if (!isJsonObject(object) || (object as unknown) instanceof Promise) {
    const got = notAnObject(object);
    throw new OperatorError('InvalidValue', `${subject}: want an object, got ${got}`);
  }
  return { ...verdict, object: jsonCopy(object, subject) };
}

function notAnObject(value: unknown): string {
  if (value instanceof Promise) return 'a Promise; await it';
  if (Array.isArray(value)) return 'a list';
  return value === null ? 'null' : typeof value;
}

// controller-runtime's buckets: 10 ns to 1,000 s, each ten times the previous.
const buckets = Array.from({ length: 12 }, (_, n) => 10 ** (n - 8));

/** Metrics of webhooks, with controller-runtime's names; the label `webhook` is the path. */
export class WebhookMetrics {
  readonly #clock: Clock;
  readonly #latency;
  readonly #requests;
  readonly #inFlight;
  readonly #panics;
  readonly #conversionPanics;

  constructor(metrics: Metrics, clock: Clock) {
    const prefix = 'controller_runtime_webhook';
    const labelNames = ['webhook'];
    this.#clock = clock;
    this.#latency = metrics.histogram({
      name: `${prefix}_latency_seconds`,
      help: 'Duration of webhook requests, in seconds.',
      ...{ labelNames, buckets },
    });
    this.#requests = metrics.counter({
      name: `${prefix}_requests_total`,
      help: 'Webhook requests, by the HTTP status of the answer.',
      labelNames: ['webhook', 'code'],
    });
    this.#inFlight = metrics.gauge({
      name: `${prefix}_requests_in_flight`,
      help: 'Webhook requests that are being answered.',
      labelNames,
    });
    this.#panics = metrics.counter({
      name: `${prefix}_panics_total`,
      help: 'Admission requests whose handler threw.',
    });
    this.#conversionPanics = metrics.counter({
      name: 'controller_runtime_conversion_webhook_panics_total',
      help: 'Conversion requests whose converter threw.',
    });
  }

  /** Initializes the series of `webhook` with 0, so that a rate has a start value. */
  introduce(webhook: string): void {
    for (const code of ['200', '500']) this.#requests.add(0, { webhook, code });
    this.#inFlight.set(0, { webhook });
  }

  /** Counts the start of a request. @returns a function to call with the status of the response */
  begin(webhook: string): (status: number) => void {
    const startedMs = this.#clock.monotonicMs();
    this.#inFlight.add(1, { webhook });
    return (status) => {
      this.#inFlight.add(-1, { webhook });
      this.#requests.add(1, { webhook, code: String(status) });
      this.#latency.observe((this.#clock.monotonicMs() - startedMs) / 1000, { webhook });
    };
  }

  handlerThrew(type: Webhook['type']): void {
    (type === 'conversion' ? this.#conversionPanics : this.#panics).add();
  }
}
