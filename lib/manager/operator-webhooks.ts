import type { Client } from '../client/client.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import type { ManagerWebhookOptions } from './manager-options.js';
import type { OperatorDefinition } from './operator-definition.js';
import { certificateFiles } from './webhooks/certificate-files.js';
import type { CertificateSource } from './webhooks/certificate-source.js';
import { generatedCertificates } from './webhooks/generated-certificates.js';
import type { TrustTargets } from './webhooks/trust.js';
import type { Webhook } from './webhooks/webhook.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';

/** Options of {@link operatorWebhooks}. */
export interface OperatorWebhooksOptions {
  /** Reads and writes the Secret of the certificate, and tells the API server to trust it. */
  readonly client: Client;
  /** The operator's own, where the Service and the Secret are. @defaultValue unknown */
  readonly namespace?: string | undefined;
  /**
   * A folder with `tls.crt` and `tls.key` of somebody else, such as cert-manager.
   * @defaultValue the operator makes its certificate itself
   */
  readonly certificateFolder?: string | undefined;
  /** 0 for any that is free. @defaultValue 9443 */
  readonly port?: number | undefined;
  /** Told when nothing is served. @defaultValue drops everything */
  readonly logger?: Logger | undefined;
}

/** What the objects are called that the webhooks of an operator are reached by. */
export interface OperatorWebhookNames {
  readonly service: string;
  /** Of the certificate. */
  readonly secret: string;
  /** Of the MutatingWebhookConfiguration. */
  readonly mutating: string;
  /** Of the ValidatingWebhookConfiguration. */
  readonly validating: string;
}

/**
 * What the objects are called that `operator-builder create webhook` makes, once `config/default` has
 * put the operator's name before them: `shops-webhook-service`, for the operator `shops`.
 */
export function operatorWebhookNames({
  name,
}: Pick<OperatorDefinition, 'name'>): OperatorWebhookNames {
  return {
    service: `${name}-webhook-service`,
    secret: `${name}-webhook-certificates`,
    mutating: `${name}-mutating-webhook-configuration`,
    validating: `${name}-validating-webhook-configuration`,
  };
}

/**
 * Serves the webhooks of an operator as the manifests of its project say it: an option of `Manager`.
 * Undefined, so that nothing is served: it has none; or neither a namespace nor a folder is known, as
 * on a developer's machine, which no API server reaches (that is logged).
 */
export function operatorWebhooks(
  operator: Pick<OperatorDefinition, 'name' | 'webhooks'>,
  options: OperatorWebhooksOptions,
): ManagerWebhookOptions | undefined {
  refuseUnknownOptions('operatorWebhooks', options, optionNames);
  const { webhooks = [] } = operator;
  if (webhooks.length === 0) return undefined;
  const { port, logger = silentLogger } = options;
  const certificates = certificatesOf(operator, options);
  if (certificates !== undefined) return { webhooks, certificates, port };
  logger.warn('webhooks are not served: no namespace, and no folder with a certificate is known');
  return undefined;
}

const optionNames: OptionNames<OperatorWebhooksOptions> = {
  ...{ client: true, namespace: true, certificateFolder: true, port: true, logger: true },
};

function certificatesOf(
  operator: Pick<OperatorDefinition, 'name' | 'webhooks'>,
  { client, namespace = '', certificateFolder }: OperatorWebhooksOptions,
): CertificateSource | undefined {
  if (certificateFolder !== undefined) return certificateFiles({ folder: certificateFolder });
  if (namespace === '') return undefined;
  const { service, secret } = operatorWebhookNames(operator);
  return generatedCertificates({
    client,
    secret: { namespace, name: secret },
    dnsNames: [`${service}.${namespace}.svc`],
    trustedBy: trustTargetsOf(operator),
  });
}

function trustTargetsOf(operator: Pick<OperatorDefinition, 'name' | 'webhooks'>): TrustTargets {
  const { webhooks = [] } = operator;
  const { mutating, validating } = operatorWebhookNames(operator);
  const has = (type: Webhook['type']): boolean => webhooks.some((each) => each.type === type);
  return {
    mutating: has('mutating') ? [mutating] : [],
    validating: has('validating') ? [validating] : [],
    // A conversion is called like its CustomResourceDefinition.
    customResourceDefinitions: webhooks
      .filter(({ type }) => type === 'conversion')
      .map(({ name }) => name),
  };
}
