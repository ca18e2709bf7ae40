import type { ObjectKey } from '../../../object/kubernetes-object.js';
import { Namespace, ServiceAccount } from '../../../object/kinds.js';
import { isAlreadyExists } from '../../../object/api-error.js';
import type { ControllerHost } from '../controller-host.js';
import { manager } from '../manager-name.js';

/** Keeps the ServiceAccount `default` in each namespace. */
export function startServiceAccountController(host: ControllerHost): void {
  const writer = host.writer(manager);
  const reconcile = async ({ name: namespace }: ObjectKey): Promise<void> => {
    const live = host.get(Namespace, { name: namespace });
    if (live === undefined || live.metadata.deletionTimestamp !== undefined) return;
    if (host.get(ServiceAccount, { namespace, name: 'default' }) !== undefined) return;
    const metadata = { name: 'default', namespace };
    try {
      await writer.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  };
  const queue = host.objectQueue(Namespace, 'service-accounts', reconcile);
  host.watch(ServiceAccount, ({ type, object }) => {
    const { namespace: name = '' } = object.metadata;
    if (type === 'DELETED') queue.add({ name });
  });
}
