import type { Client } from '../client/index.js';
import type { CustomResourceDefinition, KubernetesObject, ResourceType } from '../object/index.js';
import { refuseUnknownOptions, silentLogger } from '../system/index.js';
import type { OptionNames, Logger } from '../system/index.js';
import type { ManagerOptions, ManagerWebhookOptions } from './manager-options.js';
import type { Manager } from './manager.js';
import { certificateFiles } from './webhooks/certificate-source.js';
import type { CertificateSource } from './webhooks/certificate-source.js';
import { generatedCertificates } from './webhooks/generated-certificates.js';
import type { TrustTargets } from './webhooks/trust.js';
import type { Webhook } from './webhooks/webhook.js';

/** Options of {@link operatorWebhooks}. */
export interface OperatorWebhooksOptions {
  /** Reads and writes the certificate's Secret and the CA bundles of the webhook configurations. */
  readonly client: Client;
  /** The operator's namespace, with the Service and the Secret. @defaultValue unknown */
  readonly namespace?: string | undefined;
  /**
   * A folder with `tls.crt` and `tls.key` from an external issuer, such as cert-manager.
   * @defaultValue the operator generates its own certificate
   */
  readonly certificateFolder?: string | undefined;
  /** 0 selects a free port. @defaultValue 9443 */
  readonly port?: number | undefined;
  /** Logs a warning if the webhooks are not served. @defaultValue no logs */
  readonly logger?: Logger | undefined;
}

/** Names of the objects through which the API server reaches an operator's webhooks. */
interface OperatorWebhookNames {
  readonly service: string;
  /** Name of the certificate's Secret. */
  readonly secret: string;
  /** Name of the MutatingWebhookConfiguration. */
  readonly mutating: string;
  /** Name of the ValidatingWebhookConfiguration. */
  readonly validating: string;
}

/**
 * Returns the names of the objects that `operator-builder create webhook` generates, with the prefix that
 * `config/default` adds: `shops-webhook-service` for the operator `shops`.
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
 * Returns the webhook options of `Manager` that match the generated manifests. Undefined, so that nothing is
 * served, if the operator has no webhooks. Undefined with a warning if neither a namespace nor a folder is
 * known, as on a developer's machine, which no API server reaches.
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
  logger.warn(
    'webhooks are not served: give the namespace of the operator, or a folder with a certificate',
  );
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
    // A conversion webhook has the name of its CustomResourceDefinition.
    customResourceDefinitions: webhooks
      .filter(({ type }) => type === 'conversion')
      .map(({ name }) => name),
  };
}

/** A custom resource of an operator, as returned by `defineResource`. */
export type OperatorResource = ResourceType<KubernetesObject> & {
  readonly crd: CustomResourceDefinition;
};

/**
 * The definition of an operator. `src/operator.ts` of a project exports it as `operator` for the commands `manifests`,
 * `plan` and `run` of `operator-builder`.
 *
 * @example
 * ```ts
 * export const operator: OperatorDefinition = {
 *   name: 'websites',
 *   resources: [Website],
 *   setup: (manager) => void manager.add(websiteController()),
 * };
 * ```
 */
export interface OperatorDefinition {
  /** Name of the operator: a DNS label, since it is part of object names. */
  readonly name: string;
  /** Custom resources of the operator. @defaultValue none */
  readonly resources?: readonly OperatorResource[] | undefined;
  /** Admission and conversion webhooks to serve. @defaultValue none */
  readonly webhooks?: readonly Webhook[] | undefined;
  /**
   * Limits what the operator's controllers cache, by kind. `src/main.ts` and the command `run` pass it to their
   * managers. @defaultValue all objects of the watched kinds
   */
  readonly cacheOptions?: ManagerOptions['cacheOptions'];
  /**
   * Adds the operator's controllers and runnables to a manager. Tools call it too, with managers that never
   * run: it must not wait, and must not access anything but the manager.
   */
  setup(manager: Manager): void | Promise<void>;
}
