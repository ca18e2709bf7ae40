import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { Namespace } from '../../lib/object/kinds.js';
import { systemClock } from '../../lib/system/clock.js';
import { systemRandom } from '../../lib/system/random.js';
import type { BuilderTarget, Operator } from '../builder/suite/target.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';

/**
 * The real control plane. Every operator is its own user, so that the audit log distinguishes them.
 */
export async function clusterTarget(): Promise<BuilderTarget> {
  const plane = await sharedControlPlane();
  const admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
  const opened = [admin];
  return {
    ...{ name: 'a real API server', real: true, clock: systemClock, admin },
    operator: async () => {
      const user = await plane.user(`operator-${systemRandom.uuid()}`);
      const client = await clientFromKubeConfig({ path: user.kubeConfigPath });
      opened.push(client);
      return newOperator(plane, user.name, client);
    },
    namespace: async () => {
      const metadata = { generateName: 'spec-' };
      const made = await admin.create<Namespace>({ apiVersion: 'v1', kind: 'Namespace', metadata });
      return made.metadata.name ?? '';
    },
    // The garbage collector discovers new kinds only twice a minute.
    eventually: (check) => eventually(check, 90_000),
    close: async () => {
      await Promise.all(opened.map((client) => client.close()));
    },
  };
}

async function newOperator(
  plane: ControlPlane,
  user: string,
  client: Operator['client'],
): Promise<Operator> {
  let since = await plane.auditLog.mark();
  return {
    client,
    requests: async () => {
      const entries = await plane.auditLog.read({ since, user });
      since = await plane.auditLog.mark();
      // Discovery requests name no resource.
      return entries.filter(({ resource }) => resource !== '');
    },
  };
}
