import { expect } from 'chai';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { clientFromKubeConfig, getIfExists } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { isConditionTrue } from '../../lib/object/conditions.js';
import { ClusterRole, Deployment, Role } from '../../lib/object/kinds.js';
import { systemRandom } from '../../lib/system/random.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import { linkPackages } from '../cli/project/project-copy.js';
import { createApi } from '../cli/scaffold/project.js';
import { unusedOf } from '../samples/deployed/unused-rights.js';
import type { Rule } from '../samples/deployed/unused-rights.js';
import { eventually } from './control-plane/eventually.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';
import { ProjectOperator } from './project-operator.js';

/** Permissions that a project may leave unused: current servers stream cached kinds, so there are no lists. */
const sometimes = [
  /^(get|list) shops\.shop\./,
  /^(get|list) (deployments\.apps|services)$/,
  // Required by an admission plugin that some clusters lack.
  /^update shops\/finalizers\./,
  // An event is patched only if it is repeated, which depends on timing.
  /^patch events\.events\.k8s\.io$/,
];

interface Status {
  readonly phase?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: 'True' | 'False' }[];
}

interface Case {
  readonly style: string;
  /** Whether the operator is limited to one namespace. */
  readonly held?: boolean;
  readonly isReady: (status: Status) => boolean;
  /** Permissions for events that do not occur below. */
  readonly later: readonly RegExp[];
}

const hasConditionReady = ({ conditions }: Status): boolean => isConditionTrue(conditions, 'Ready');

const builder: Case = {
  style: 'builder',
  isReady: hasConditionReady,
  // The builder lists pods only if it prunes objects that are no longer desired, or if a StatefulSet hangs. It removes
  // the finalizer that an earlier release may have added.
  later: [/^delete deployments\.apps$/, /^list pods$/, /^patch shops\./],
};

const cases: readonly Case[] = [
  builder,
  { ...builder, held: true },
  { ...builder, style: 'reconciles' },
  {
    style: 'resources',
    isReady: hasConditionReady,
    later: [],
  },
  {
    style: 'lifecycle',
    isReady: ({ phase }) => phase === 'Deployed',
    // The operator's Service never changes.
    later: [/^update services$/],
  },
];

describe('roles from operator-builder manifests on a real API server', () => {
  const file = scratchDirectory();
  let plane: ControlPlane;
  let admin: ConnectedClient;
  let kubectl: Kubectl;

  before(async () => {
    plane = await sharedControlPlane();
    admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    kubectl = await Kubectl.create((path) => copyFile(plane.kubeConfigPath, path));
  });

  after(async () => {
    await kubectl.close();
    await admin.close();
  });

  for (const { style, held = false, isReady, later } of cases) {
    const where = held ? ', held to a namespace,' : '';
    it(`are exactly what an operator in style ${style}${where} needs`, async () => {
      const name = `${style}-${systemRandom.uuid().slice(0, 6)}`;
      const overlays = held ? ['default', 'namespaces'] : ['default'];
      await newProject(name, { style, held });
      const applied = overlays.map((overlay) => file(name, 'config', overlay));
      let operator: ProjectOperator | undefined;
      try {
        await kubectl.print(['create', 'namespace', name]);
        for (const overlay of applied) await kubectl.print(['apply', '-k', overlay]);
        const crd = `crd/shops.shop.${name}.example`;
        await kubectl.print(['wait', '--for=condition=Established', crd]);
        operator = await ProjectOperator.start({ folder: file(name), name, plane, admin });
        await live(name, { operator, isReady });
        expect(await operator.stop(), operator.output).to.equal(0);
        expect(operator.output).not.to.include('permissions are missing');
        await compare(name, operator, later);
      } finally {
        await operator?.stop();
        await kubectl.run(['delete', 'namespace', name, '--wait=false']);
        for (const overlay of applied) await kubectl.run(['delete', '-k', overlay, '--wait=false']);
      }
    });
  }

  /** Creates a project, and lets `manifests` write its role from the controller's declarations. */
  async function newProject(
    name: string,
    { style, held }: Required<Pick<Case, 'style' | 'held'>>,
  ): Promise<void> {
    await cli(['init', '--domain', `${name}.example`, '--name', name, '-C', file(name)]);
    expect((await createApi(file(name), 'Shop', 'v1', '--style', style)).stderr).to.equal('');
    linkPackages(file(name));
    const sample = file(name, 'config/samples/shop_v1_shop.yaml');
    await edit(sample, (text) => text.replace('namespace: default', `namespace: ${name}`));
    const options = `  cacheOptions: { namespaces: ['${name}'] },\n`;
    const operator = file(name, 'src/operator.ts');
    if (held) await edit(operator, (text) => text.replace('  resources: [', `${options}$&`));
    await rm(file(name, 'config/rbac/role.yaml'));
    const { code, stdout } = await cli(['manifests', '--project', file(name)]);
    expect(code, stdout).to.equal(0);
    expect(stdout).to.include('created config/rbac/role.yaml\n');
  }

  async function edit(path: string, change: (text: string) => string): Promise<void> {
    await writeFile(path, change(await readFile(path, 'utf8')));
  }

  /** Creates, changes and deletes a sample. */
  async function live(
    name: string,
    { operator, isReady }: Pick<Case, 'isReady'> & { readonly operator: ProjectOperator },
  ): Promise<void> {
    const type = { apiVersion: `shop.${name}.example/v1`, kind: 'Shop' };
    const key = { name: 'shop-sample', namespace: name };
    const reconciled = (image: string) =>
      eventually(async () => {
        operator.check();
        const { status = {} } = (await admin.get(type, key)) as { readonly status?: Status };
        expect(isReady(status), JSON.stringify(status) + operator.output).to.equal(true);
        const { spec } = await admin.get(Deployment, { ...key, name: `shop-${key.name}` });
        expect(spec?.template.spec?.containers[0]?.image).to.equal(image);
      }, 60_000);
    // Discovery lists the kind a moment later.
    await eventually(() => kubectl.print(['apply', '-k', file(name, 'config/samples')]));
    await reconciled('registry.k8s.io/pause:3.10');
    const image = 'registry.k8s.io/pause:3.9';
    await admin.patch(type, key, { type: 'merge', body: { spec: { image } } });
    await reconciled(image);
    await admin.delete(type, key);
    await eventually(async () => {
      operator.check();
      // The objects of the sample are garbage-collected, or were deleted before.
      expect(await getIfExists(admin, type, key)).to.equal(undefined);
    }, 60_000);
  }

  /** Expects that each permission was used or is excused, and that none was missing. */
  async function compare(
    name: string,
    { user }: ProjectOperator,
    later: readonly RegExp[],
  ): Promise<void> {
    const requests = await plane.auditLog.read({ user });
    const refused = requests.filter(({ code }) => code === 401 || code === 403);
    expect(refused.map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([]);
    const unused = unusedOf(await rulesOf(name), requests);
    const spare = [...sometimes, ...later];
    const without = unused.filter((right) => !spare.some((each) => each.test(right)));
    expect(without, 'never used').to.deep.equal([]);
    // Each excused permission is in the roles and unused.
    const idle = later.filter((each) => !unused.some((right) => each.test(right)));
    expect(idle.map(String)).to.deep.equal([]);
  }

  /** Returns all permissions of the operator, in any namespace. */
  async function rulesOf(name: string): Promise<readonly Rule[]> {
    const role = `${name}-manager-role`;
    const election = { name: `${name}-leader-election-role`, namespace: `${name}-system` };
    const found = [
      await admin.get(ClusterRole, { name: role }),
      await admin.get(Role, election),
      await getIfExists(admin, Role, { name: role, namespace: name }),
    ];
    return found.flatMap((one) => one?.rules ?? []);
  }
});
