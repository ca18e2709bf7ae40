import { conversionClientConfig, webhookConfigurations } from '../../manager/index.js';
import type { OperatorDefinition, Webhook } from '../../manager/index.js';
import { WebhookHandlers, WebhookMetrics } from '../../manager/webhooks/webhook-handlers.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { CustomResourceDefinition } from '../../object/kinds.js';
import type { RequestHandler } from '../../embedded/index.js';
import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import { noMetrics } from '../../system/metrics.js';

const service = { namespace: 'default', name: 'operator-webhooks' };
const address = { service };

/**
 * Serves the webhooks of an operator to an API server in the same process, without a connection: needs
 * neither a port nor a certificate.
 */
export class InProcessWebhooks {
  readonly #reports: { readonly metrics: WebhookMetrics; readonly logger: Logger };
  #handlers: WebhookHandlers;

  constructor(clock: Clock, logger: Logger) {
    this.#reports = { metrics: new WebhookMetrics(noMetrics, clock), logger };
    this.#handlers = new WebhookHandlers([], this.#reports);
  }

  /** Value for the option `services` of an embedded cluster. */
  get services(): Readonly<Record<string, RequestHandler>> {
    return { [`${service.namespace}/${service.name}`]: (request) => this.#answer(request) };
  }

  /** Replaces the webhooks. */
  use(webhooks: readonly Webhook[]): void {
    this.#handlers = new WebhookHandlers(webhooks, this.#reports);
  }

  async #answer({ path, body, signal }: Parameters<RequestHandler>[0]) {
    const { pathname } = new URL(path, 'https://operator-webhooks');
    const answer = await this.#handlers.answer({
      path: pathname,
      body: Buffer.from(body ?? ''),
      signal: signal ?? new AbortController().signal,
    });
    const text = JSON.stringify(answer.body);
    return {
      status: answer.status,
      headers: { 'content-type': 'application/json' },
      body: inOne(text),
    };
  }
}

async function* inOne(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

/** Returns the webhook configurations that call {@link InProcessWebhooks}. */
export function inProcessConfigurations({
  name,
  webhooks = [],
}: OperatorDefinition): readonly KubernetesObject[] {
  return webhookConfigurations(webhooks, { name, address });
}

interface WithWebhook {
  crdWithWebhook(config: ReturnType<typeof conversionClientConfig>): CustomResourceDefinition;
}

/** Returns the custom resources of an operator, with its conversions. */
export function inProcessCrds({
  resources = [],
  webhooks = [],
}: OperatorDefinition): readonly CustomResourceDefinition[] {
  return resources.map((resource) => {
    const isConverted = webhooks.some(
      (webhook) =>
        webhook.type === 'conversion' &&
        webhook.resource.kind === resource.kind &&
        webhook.resource.group === resource.group,
    );
    if (!isConverted || !('crdWithWebhook' in resource)) return resource.crd;
    return (resource as unknown as WithWebhook).crdWithWebhook(conversionClientConfig({ address }));
  });
}
