import type { Client } from '../client/client.js';
import { CustomResourceDefinition } from '../object/kinds.js';
import { keyOf } from '../object/object-key.js';
import { OperatorError } from '../system/operator-error.js';

/**
 * Resolves when `crd` is served.
 * @throws OperatorError `InvalidObject`: its names are taken.
 */
export async function whenEstablished(
  client: Client,
  crd: CustomResourceDefinition,
): Promise<void> {
  const { name } = keyOf(crd);
  const fieldSelector = `metadata.name=${name}`;
  for await (const event of client.watch(CustomResourceDefinition, { fieldSelector })) {
    if (event.type === 'BOOKMARK') continue;
    if (isTrue(event.object, 'Established')) return;
    const names = conditionOf(event.object, 'NamesAccepted');
    if (names?.status === 'False') {
      throw new OperatorError(
        'InvalidObject',
        `CustomResourceDefinition ${name}: ${names.message ?? ''}`,
      );
    }
  }
}

type Condition = NonNullable<NonNullable<CustomResourceDefinition['status']>['conditions']>[number];

function conditionOf(crd: CustomResourceDefinition, type: string): Condition | undefined {
  return crd.status?.conditions?.find((condition) => condition.type === type);
}

function isTrue(crd: CustomResourceDefinition, type: string): boolean {
  return conditionOf(crd, type)?.status === 'True';
}
