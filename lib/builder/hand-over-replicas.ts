import { fieldPath } from '../object/field-path.js';
import { isJsonObject } from '../object/json.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { appliedFields } from '../object/managed-fields.js';
import type { RunContext } from './context.js';
import type { Pair } from './desired-object.js';

const keeper = 'operator-builder-replicas';

/**
 * Before we stop setting `replicas`, because an autoscaler does from now on, the live value is applied
 * under another manager's name: a field that only we own would fall back to its default, 1.
 */
export async function handOverReplicas(
  { client, settings }: RunContext,
  { desired, live }: Pair,
): Promise<void> {
  if (!desired.replicasExternal) return;
  const replicas = replicasOf(live);
  const ours = appliedFields(live, settings.controllerName);
  if (replicas === undefined || ours?.has(fieldPath('spec', 'replicas')) !== true) return;
  const { apiVersion, kind, metadata } = live;
  const { name, namespace, uid } = metadata;
  const kept: UnstructuredObject = {
    ...{ apiVersion, kind, spec: { replicas } },
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
    },
  };
  await client.apply(kept, { fieldManager: keeper, force: true, signal: settings.signal });
}

function replicasOf({ spec }: UnstructuredObject): unknown {
  return isJsonObject(spec) ? spec['replicas'] : undefined;
}
