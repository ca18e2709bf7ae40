import type { V1ResourceQuota } from '@kubernetes/client-node';
import { keyOf } from '../../object/index.js';
import type { KubernetesObject, ObjectKey, ResourceType, Wire } from '../../object/index.js';
import { quotaUsage } from '../rules/quota.js';
import { manager } from './controller-host.js';
import type { ControllerHost } from './controller-host.js';

interface ResourceQuota extends KubernetesObject {
  spec?: NonNullable<Wire<V1ResourceQuota>['spec']>;
  status?: NonNullable<Wire<V1ResourceQuota>['status']>;
}

const resourceQuota: ResourceType<ResourceQuota> = {
  ...{ group: '', version: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas' },
  namespaced: true,
};

/**
 * Keeps the status of each ResourceQuota up to date; admission does not read that status, but counts objects
 * itself.
 */
export function startQuotaController(host: ControllerHost): void {
  const writer = host.writer(manager);
  const reconcile = async (key: ObjectKey): Promise<void> => {
    const quota = host.get(resourceQuota, key);
    if (quota === undefined) return;
    const { hard = {} } = quota.spec ?? {};
    const types = new Map(host.loopback.resourceTypes().map((type) => [collectionOf(type), type]));
    const used = quotaUsage(quota, (collection) => {
      const type = types.get(collection);
      return type === undefined ? [] : host.loopback.list(type, key.namespace);
    });
    await writer.updateStatus(quota, { ...quota.status, hard, used });
  };
  const queue = host.objectQueue(resourceQuota, 'resource-quotas', reconcile);
  host.watchAll(({ object }) => {
    const { namespace } = object.metadata;
    if (namespace === undefined) return;
    for (const quota of host.list(resourceQuota, namespace)) queue.add(keyOf(quota));
  });
}

function collectionOf({ group, plural }: ResourceType): string {
  return group === '' ? plural : `${group}/${plural}`;
}
