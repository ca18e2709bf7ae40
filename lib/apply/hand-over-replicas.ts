import { fieldPath } from '../object/field-path.js';
import { isJsonObject } from '../object/json.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { appliedFields } from '../object/managed-fields.js';
import { withVersion } from './apply-options.js';
import type { ApplyContext } from './context.js';
import type { Pair } from './desired-object.js';

const keeper = 'operator-builder-replicas';

/**
 * Before we stop setting `replicas`, because an autoscaler does from now on, the live value is applied
 * under another manager's name: a field that only we own would fall back to its default, 1.
 * @returns the object as it is afterwards
 */
export async function handOverReplicas(
  { client, settings }: ApplyContext,
  { desired, live }: Pair,
): Promise<UnstructuredObject> {
  if (!desired.replicasExternal) return live;
  const replicas = replicasOf(live);
  const ours = appliedFields(live, settings.controllerName);
  if (replicas === undefined || ours?.has(fieldPath('spec', 'replicas')) !== true) return live;
  const { apiVersion, kind, metadata } = live;
  const { name, namespace } = metadata;
  const kept: UnstructuredObject = {
    ...{ apiVersion, kind, spec: { replicas } },
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
    },
  };
  const options = { fieldManager: keeper, force: true, signal: settings.signal };
  return (await client.apply(withVersion(kept, live), options)).object;
}

function replicasOf({ spec }: UnstructuredObject): unknown {
  return isJsonObject(spec) ? spec['replicas'] : undefined;
}
