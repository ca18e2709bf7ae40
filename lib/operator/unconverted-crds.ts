import { getIfExists } from '../client/index.js';
import type { Client } from '../client/index.js';
import { isConvertedResource } from '../crd/internal.js';
import type { OperatorDefinition, OperatorResource } from '../manager/index.js';
import { isForbidden, CustomResourceDefinition, keyOf } from '../object/index.js';

/** The message about a CRD that {@link unconvertedCrds} returns. */
export const unconverted =
  'served without its conversion: the API server drops the fields that a version lacks; deploy config/default';

/**
 * Returns the resources whose versions functions convert although the operator serves no conversion webhook of them.
 * The functions have no effect unless a webhook, perhaps of another operator, calls them.
 */
export function unservedConversions({
  resources = [],
  webhooks = [],
}: OperatorDefinition): readonly OperatorResource[] {
  const served = webhooks.flatMap(({ type, name }) => (type === 'conversion' ? [name] : []));
  return resources
    .filter(isConvertedResource)
    .filter(({ plural, group }) => !served.includes(`${plural}.${group}`));
}

/**
 * Returns the names of the CRDs in a cluster that call no webhook although functions convert their versions. A CRD that
 * the operator is not allowed to read is left out.
 */
export async function unconvertedCrds(
  client: Client,
  { resources = [] }: OperatorDefinition,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const lacking = resources.filter(isConvertedResource).map(async ({ crd }) => {
    const { name } = keyOf(crd);
    try {
      const live = await getIfExists(client, CustomResourceDefinition, { name }, { signal });
      return live === undefined || live.spec.conversion?.strategy === 'Webhook' ? [] : [name];
    } catch (error) {
      if (isForbidden(error)) return [];
      throw error;
    }
  });
  return (await Promise.all(lacking)).flat();
}
