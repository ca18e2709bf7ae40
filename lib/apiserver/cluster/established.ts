import type { Client } from '../../client/index.js';
import { findCondition, CustomResourceDefinition, keyOf } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';

/** Resolves when `crd` is served. @throws OperatorError `InvalidObject`: another definition has its names. */
export async function whenEstablished(
  client: Client,
  crd: CustomResourceDefinition,
): Promise<void> {
  const { name } = keyOf(crd);
  const fieldSelector = `metadata.name=${name}`;
  for await (const event of client.watch(CustomResourceDefinition, { fieldSelector })) {
    if (event.type === 'BOOKMARK') continue;
    const conditions = event.object.status?.conditions ?? [];
    if (findCondition(conditions, 'Established')?.status === 'True') return;
    const names = findCondition(conditions, 'NamesAccepted');
    if (names?.status === 'False') {
      throw new OperatorError(
        'InvalidObject',
        `CustomResourceDefinition ${name}: ${names.message ?? ''}`,
      );
    }
  }
}
