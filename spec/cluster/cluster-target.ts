import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { Namespace } from '../../lib/object/kinds.js';
import { systemClock } from '../../lib/system/clock.js';
import type { BuilderTarget, Operator } from '../builder/suite/target.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';

/** The real control plane; every operator is a user of its own, so that the audit log tells them apart. */
export async function clusterTarget(): Promise<BuilderTarget> {
  const plane = await sharedControlPlane();
  const admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
  const opened = [admin];
  let [operators, namespaces] = [0, 0];
  return {
    ...{ name: 'a real API server', real: true, clock: systemClock, admin },
    operator: async () => {
      const user = await plane.user(`builder-operator-${++operators}`);
      const client = await clientFromKubeConfig({ path: user.kubeConfigPath });
      opened.push(client);
      return newOperator(plane, user.name, client);
    },
    namespace: async () => {
      const name = `builder-${++namespaces}`;
      await admin.create<Namespace>({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      return name;
    },
    eventually,
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
      // Discovery names no resource.
      return entries.filter(({ resource }) => resource !== '');
    },
  };
}
