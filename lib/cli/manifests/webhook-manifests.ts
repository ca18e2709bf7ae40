import { join } from 'node:path';
import { conversionClientConfig, webhookConfigurations } from '../../manager/index.js';
import type {
  ConversionWebhook,
  OperatorDefinition,
  Webhook,
  WebhookConfiguration,
} from '../../manager/index.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { operatorWebhookNames } from '../../manager/operator-webhooks.js';
import { textIfExists } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import { generatedFile } from './crd-files.js';
import type { WantedManifests } from './crd-files.js';
import { ownNamespace } from './declared-rules.js';
import { isGenerated } from './generated-file.js';

/** The file that makes the API server ask validating and mutating webhooks. */
export const webhooksPath = 'config/webhook/manifests.yaml';

/** What the files of webhooks say that they are generated from. */
export const webhooksFrom = 'the webhooks of src/operator.ts';

/**
 * The objects that make the API server ask the validating and mutating webhooks of an operator, with
 * the names that they have before kustomize puts the operator's before them.
 */
export function webhookManifests({
  webhooks = [],
}: Pick<OperatorDefinition, 'webhooks'>): readonly WebhookConfiguration[] {
  const address = { service: { namespace: ownNamespace, name: 'webhook-service' } };
  return (['mutating', 'validating'] as const).flatMap((type) => {
    const own = webhooks.filter((webhook) => webhook.type === type);
    return webhookConfigurations(own, { name: `${type}-webhook-configuration`, address });
  });
}

/**
 * What the CustomResourceDefinition of a conversion webhook has in a cluster where the operator is: a
 * patch, for without the operator nobody could use the resource. The Service has its whole name there:
 * kustomize knows of none in a CustomResourceDefinition.
 */
export function conversionPatch(
  { name }: Pick<ConversionWebhook, 'name'>,
  operator: Pick<OperatorDefinition, 'name'>,
): KubernetesObject & { readonly spec: object } {
  const { service } = operatorWebhookNames(operator);
  const address = { service: { namespace: ownNamespace, name: service } };
  const webhook = {
    clientConfig: conversionClientConfig({ address }),
    conversionReviewVersions: ['v1'],
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: { conversion: { strategy: 'Webhook', webhook } },
  };
}

/** The file of {@link conversionPatch}. */
export function conversionPath({
  resource,
}: {
  readonly resource: Pick<ConversionWebhook['resource'], 'group' | 'plural'>;
}): string {
  return `config/default/conversion_in_${resource.group}_${resource.plural}.yaml`;
}

/**
 * The files of the webhooks of an operator.
 * @param folder - the project's
 */
export async function webhookFiles(
  folder: string,
  operator: Pick<OperatorDefinition, 'name' | 'webhooks'>,
): Promise<WantedManifests> {
  const { webhooks = [] } = operator;
  const conversions = webhooks.filter(isConversion).map((webhook) =>
    generatedFile(folder, {
      ...{ path: conversionPath(webhook), from: webhooksFrom },
      objects: [conversionPatch(webhook, operator)],
    }),
  );
  const admission = await admissionFile(folder, webhookManifests(operator));
  const wanted = [...admission, ...(await Promise.all(conversions))];
  return { wanted, notes: [] };
}

async function admissionFile(
  folder: string,
  objects: readonly object[],
): Promise<readonly WantedFile[]> {
  if (objects.length === 0) {
    // It stays, without objects: kustomize has it in a list.
    const before = (await textIfExists(join(folder, webhooksPath))) ?? '';
    if (!isGenerated(before)) return [];
  }
  return [await generatedFile(folder, { path: webhooksPath, from: webhooksFrom, objects })];
}

function isConversion(webhook: Webhook): webhook is ConversionWebhook {
  return webhook.type === 'conversion';
}
