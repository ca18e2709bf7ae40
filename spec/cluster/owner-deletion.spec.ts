import { expect } from 'chai';
import { copyFile, writeFile } from 'node:fs/promises';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { isForbidden } from '../../lib/object/api-error.js';
import { ClusterRole } from '../../lib/object/kinds.js';
import type { Deployment } from '../../lib/object/kinds.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import { createApi } from '../cli/scaffold/project.js';
import { kubeConfigOf } from '../samples/deployed/deployed-target.js';
import { eventually } from './control-plane/eventually.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { startControlPlane } from './control-plane/start.js';
import { Kubectl } from './kubectl.js';

const enforcing = '--enable-admission-plugins=OwnerReferencesPermissionEnforcement';
const account = { name: 'shops-controller-manager', namespace: 'shops-system' };

describe('an API server that checks the permission to block the deletion of an owner', () => {
  const file = scratchDirectory();
  let plane: ControlPlane;
  let admin: ConnectedClient;
  let operator: ConnectedClient;
  let kubectl: Kubectl;

  before(async () => {
    plane = await startControlPlane({ apiServerArgs: [enforcing] });
    admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    kubectl = await Kubectl.create((path) => copyFile(plane.kubeConfigPath, path));
    await cli(['init', '--domain', 'example.com', '--name', 'shops', '-C', file('shops')]);
    await createApi(file('shops'), 'Shop', 'v1');
    await kubectl.print(['apply', '-k', file('shops/config/default')]);
    const { url, caData } = plane;
    const text = await kubeConfigOf({ url, caData, admin }, account);
    await writeFile(file('kubeconfig'), text, { mode: 0o600 });
    operator = await clientFromKubeConfig({ path: file('kubeconfig') });
  });

  after(async () => {
    await kubectl.close();
    await operator.close();
    await admin.close();
    await plane.stop();
  });

  /** Creates, in a dry run, a Deployment whose controller is an object of the operator. */
  function tryToOwn(): Promise<Deployment> {
    const matchLabels = { app: 'a' };
    const owner = { apiVersion: 'shop.example.com/v1', kind: 'Shop', name: 'a', uid: 'b' };
    const template = {
      metadata: { labels: matchLabels },
      spec: { containers: [{ name: 'app', image: 'a' }] },
    };
    const deployment: Deployment = {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      metadata: {
        ...{ name: 'a', namespace: 'default' },
        ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      },
      spec: { selector: { matchLabels }, template },
    };
    return operator.create(deployment, { dryRun: true });
  }

  it('lets an operator create dependents with its generated role, but only because of the rule for finalizers', async () => {
    // The real server discovers new kinds only every half minute.
    await eventually(tryToOwn, 90_000);
    const role = await admin.get(ClusterRole, { name: 'shops-manager-role' });
    const isOther = ({ resources = [] }: { readonly resources?: readonly string[] }): boolean =>
      !resources.includes('shops/finalizers');
    await admin.update({ ...role, rules: role.rules?.filter(isOther) ?? [] });
    await eventually(async () => {
      const error: unknown = await tryToOwn().catch((refused: unknown) => refused);
      expect(isForbidden(error), String(error)).to.equal(true);
      expect(String(error)).to.include("a resource you can't set finalizers on");
    });
  });
});
