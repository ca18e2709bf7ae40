import type { RequestHandler } from '../apiserver/internal.js';
import {
  conversionClientConfig,
  webhookConfigurations,
  WebhookHandlers,
  WebhookMetrics,
} from '../manager/index.js';
import type { OperatorDefinition, Webhook } from '../manager/index.js';
import type { CustomResourceDefinition, KubernetesObject } from '../object/index.js';
import type { Clock, Logger } from '../system/index.js';
import { noMetrics } from '../system/index.js';

interface InProcessSettings {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of the Service, unique in the cluster. @defaultValue 'operator-webhooks' */
  readonly name?: string | undefined;
}

/**
 * Serves the webhooks of an operator to an API server in the same process, without a connection: needs
 * neither a port nor a certificate.
 */
export class InProcessWebhooks {
  readonly #service: { readonly namespace: string; readonly name: string };
  readonly #reports: { readonly metrics: WebhookMetrics; readonly logger: Logger };
  #handlers: WebhookHandlers;

  constructor({ clock, logger, name = 'operator-webhooks' }: InProcessSettings) {
    this.#service = { namespace: 'default', name };
    this.#reports = { metrics: new WebhookMetrics(noMetrics, clock), logger };
    this.#handlers = new WebhookHandlers([], this.#reports);
  }

  /** Value for the option `services` of an embedded cluster. */
  get services(): Readonly<Record<string, RequestHandler>> {
    const { namespace, name } = this.#service;
    return { [`${namespace}/${name}`]: (request) => this.#answer(request) };
  }

  /** Replaces the webhooks. */
  use(webhooks: readonly Webhook[]): void {
    this.#handlers = new WebhookHandlers(webhooks, this.#reports);
  }

  /** Returns webhook configurations with which the API server calls the operator's webhooks in this process. */
  configurationsOf({ name, webhooks = [] }: OperatorDefinition): readonly KubernetesObject[] {
    return webhookConfigurations(webhooks, { name, address: { service: this.#service } });
  }

  /** Returns the definitions of an operator, whose conversion webhooks are called in this process. */
  definitionsOf({
    resources = [],
    webhooks = [],
  }: OperatorDefinition): readonly CustomResourceDefinition[] {
    const config = conversionClientConfig({ address: { service: this.#service } });
    return resources.map((resource) => {
      const isConverted = webhooks.some(
        (webhook) =>
          webhook.type === 'conversion' &&
          webhook.resource.kind === resource.kind &&
          webhook.resource.group === resource.group,
      );
      if (!isConverted || !('crdWithWebhook' in resource)) return resource.crd;
      return (resource as unknown as WithWebhook).crdWithWebhook(config);
    });
  }

  async #answer({ path, body, signal }: Parameters<RequestHandler>[0]) {
    const { pathname } = new URL(path, 'https://operator-webhooks');
    const answer = await this.#handlers.answer({
      path: pathname,
      body: Buffer.from(body ?? '').toString(),
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

interface WithWebhook {
  crdWithWebhook(config: ReturnType<typeof conversionClientConfig>): CustomResourceDefinition;
}

async function* inOne(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}
