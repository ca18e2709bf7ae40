import type { Client } from '../../client/client.js';
import { CustomResourceDefinition } from '../../object/kinds.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { systemClock } from '../../system/clock.js';
import { silentLogger } from '../../system/logger.js';
import type { Logger } from '../../system/logger.js';
import { systemRandom } from '../../system/random.js';
import { createAuthority, issueCertificate } from '../../system/x509.js';
import type { CertificateSource } from './certificate-source.js';
import { conversionClientConfig, webhookConfigurations } from './webhook-configurations.js';
import type { Webhook } from './webhook.js';
import { WebhookServer } from './webhook-server.js';
import { refuseUnknownOptions } from '../../system/known-options.js';

/** Options of {@link serveLocalWebhooks}. */
export interface LocalWebhooksOptions {
  /** Name of the configurations. @defaultValue 'local-webhooks' */
  readonly name?: string | undefined;
  /** @defaultValue discards all lines */
  readonly logger?: Logger | undefined;
}

/** Webhooks that are served on this machine. */
export interface LocalWebhooks {
  /** Base URL, such as `https://127.0.0.1:41234`. */
  readonly url: string;
  /** Stops serving. The written configurations remain: they are meant to end with the cluster. */
  stop(): Promise<void>;
}

const dayMs = 24 * 60 * 60_000;

/**
 * Serves webhooks on a free port of 127.0.0.1 for an API server on this machine, such as an embedded one in a
 * test. It writes the webhook configurations, and the conversion into the existing CustomResourceDefinitions.
 * @throws the error of a request
 */
export async function serveLocalWebhooks(
  client: Client,
  webhooks: readonly Webhook[],
  options: LocalWebhooksOptions = {},
): Promise<LocalWebhooks> {
  const { name = 'local-webhooks', logger = silentLogger } = options;
  refuseUnknownOptions<LocalWebhooksOptions>('serveLocalWebhooks', options, { name, logger });
  const { authority, certificates } = await localCertificates();
  const server = new WebhookServer({ webhooks, certificates, port: 0, host: '127.0.0.1' });
  const stopping = new AbortController();
  const running = await started(server, stopping.signal, logger);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running.ended;
  };
  try {
    const address = { url: server.url ?? '' };
    const trusted = { address, authorities: authority };
    for (const configuration of webhookConfigurations(webhooks, { name, ...trusted })) {
      const object = configuration as unknown as UnstructuredObject;
      await client.apply(object, { fieldManager: name, force: true });
    }
    const clientConfig = conversionClientConfig(trusted);
    const webhook = { clientConfig, conversionReviewVersions: ['v1'] };
    const body = { spec: { conversion: { strategy: 'Webhook', webhook } } };
    for (const conversion of webhooks.filter(({ type }) => type === 'conversion')) {
      const key = { name: conversion.name };
      await client.patch(CustomResourceDefinition, key, { type: 'merge', body });
    }
    return { url: address.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function localCertificates(): Promise<{
  readonly authority: string;
  readonly certificates: CertificateSource;
}> {
  const nowMs = systemClock.now();
  const validity = { fromMs: nowMs - dayMs, untilMs: nowMs + 365 * dayMs };
  const options = { validity, random: systemRandom };
  const authority = await createAuthority('local webhooks', options);
  const issued = await issueCertificate(authority, ['localhost', '127.0.0.1'], options);
  return {
    authority: authority.certificate,
    certificates: { start: () => Promise.resolve(issued) },
  };
}

/** @throws the error that ended the server before it was ready */
async function started(
  server: WebhookServer,
  signal: AbortSignal,
  logger: Logger,
): Promise<{ readonly ended: Promise<void> }> {
  let ended = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    ended = server.run({ signal, logger, ready: resolve });
    ended.catch(reject);
  });
  return { ended };
}
