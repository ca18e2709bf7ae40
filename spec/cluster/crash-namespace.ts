import type { Client } from '../../lib/client/index.js';
import { ConfigMap, Namespace, ServiceAccount } from '../../lib/object/kinds.js';
import type { CrashCluster } from '../../lib/testing/crash-points/crash-scenario.js';
import type { BuilderTarget } from '../builder/suite/target.js';

/**
 * Creates a namespace for one crash run and deletes it afterwards. `operator` is the client of the operator that is
 * killed.
 */
export async function crashNamespace(
  target: BuilderTarget,
  operator: Client,
): Promise<CrashCluster> {
  const { admin, clock } = target;
  const namespace = await target.namespace();
  // The cluster creates these objects some time later, and they may be among the compared objects.
  await target.eventually(() => admin.get(ConfigMap, { namespace, name: 'kube-root-ca.crt' }));
  await target.eventually(() => admin.get(ServiceAccount, { namespace, name: 'default' }));
  return {
    ...{ clock, namespace },
    client: ({ user } = {}) => (user === 'operator' ? operator : admin),
    stop: async () => {
      await admin.delete(Namespace, { name: namespace });
    },
  };
}
