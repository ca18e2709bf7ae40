import { expect } from 'chai';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { clientFromKubeConfig, getIfExists } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { isConditionTrue } from '../../lib/object/conditions.js';
import { ClusterRole, Deployment, Role } from '../../lib/object/kinds.js';
import { systemRandom } from '../../lib/system/random.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import { createApi, linkPackages } from '../cli/scaffold/project.js';
import { unusedOf } from '../samples/deployed/unused-rights.js';
import { eventually } from './control-plane/eventually.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';
import { ProjectOperator } from './project-operator.js';

/** Of every project: what is cached is watched, by servers of today without being listed. */
const always = [
  /^(get|list) shops\.shop\./,
  /^(get|list) (deployments\.apps|services)$/,
  // Asked for by an admission plugin that not every cluster has.
  /^update shops\/finalizers\./,
];

interface Style {
  readonly style: string;
  readonly isReady: (status: Status) => boolean;
  /** Rights for what does not happen below. */
  readonly later: readonly RegExp[];
}

interface Status {
  readonly phase?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: 'True' | 'False' }[];
}

const hasConditionReady = ({ conditions }: Status): boolean => isConditionTrue(conditions, 'Ready');

const styles: readonly Style[] = [
  {
    style: 'builder',
    isReady: hasConditionReady,
    // It prunes what is no longer desired, and looks then, and when a StatefulSet hangs, at pods.
    later: [/^delete deployments\.apps$/, /^list pods$/],
  },
  {
    style: 'resources',
    isReady: hasConditionReady,
    // An event that comes again is patched.
    later: [/^patch events\.events\.k8s\.io$/],
  },
  {
    style: 'lifecycle',
    isReady: ({ phase }) => phase === 'Deployed',
    // Its Service stays as it is.
    later: [/^patch events\.events\.k8s\.io$/, /^update services$/],
  },
];

describe('The roles that operator-builder manifests makes, on a real API server', () => {
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

  for (const { style, isReady, later } of styles) {
    it(`are what an operator in the style ${style} needs, and no more`, async () => {
      const name = `${style}-${systemRandom.uuid().slice(0, 6)}`;
      const domain = `${name}.example`;
      const folder = file(name);
      const config = `${folder}/config`;
      await cli(['init', '--domain', domain, '--name', name, '-C', folder]);
      expect((await createApi(folder, 'Shop', 'v1', '--style', style)).stderr).to.equal('');
      await linkPackages(folder);
      await inNamespace(`${config}/samples/shop_v1_shop.yaml`, name);
      // They are written anew, by what the controller declares.
      await rm(`${config}/rbac/role.yaml`);
      const { code, stdout } = await cli(['manifests', '--project', folder]);
      expect({ code, stdout }).to.deep.equal({
        code: 0,
        stdout: 'created config/rbac/role.yaml\n',
      });
      let operator: ProjectOperator | undefined;
      try {
        await kubectl.print(['create', 'namespace', name]);
        await kubectl.print(['apply', '-k', `${config}/default`]);
        const crd = `crd/shops.shop.${domain}`;
        await kubectl.print(['wait', '--for=condition=Established', crd]);
        operator = await ProjectOperator.start({ folder, name, plane, admin });
        await live({ operator, config, domain, namespace: name, isReady });
        expect(await operator.stop(), operator.output).to.equal(0);

        expect(operator.output).not.to.include('permissions are missing');
        await compare(name, operator, [...always, ...later]);
      } finally {
        await operator?.stop();
        await kubectl.run([
          'delete',
          '-k',
          `${config}/samples`,
          '--ignore-not-found',
          '--wait=false',
        ]);
        await kubectl.run(['delete', '-k', `${config}/default`, '--wait=false']);
      }
    });
  }

  interface Life extends Pick<Style, 'isReady'> {
    readonly operator: ProjectOperator;
    readonly config: string;
    readonly domain: string;
    readonly namespace: string;
  }

  async function inNamespace(sample: string, namespace: string): Promise<void> {
    const text = await readFile(sample, 'utf8');
    await writeFile(sample, text.replace('namespace: default', `namespace: ${namespace}`));
  }

  /** A sample is made, changed and deleted. */
  async function live({ operator, config, domain, namespace, isReady }: Life): Promise<void> {
    const type = { apiVersion: `shop.${domain}/v1`, kind: 'Shop' };
    const key = { name: 'shop-sample', namespace };
    const reconciled = (image: string) =>
      eventually(async () => {
        operator.check();
        const { status = {} } = (await admin.get(type, key)) as {
          status?: Record<string, unknown>;
        };
        expect(isReady(status), JSON.stringify(status) + operator.output).to.equal(true);
        const { spec } = await admin.get(Deployment, key);
        expect(spec?.template.spec?.containers[0]?.image).to.equal(image);
      }, 60_000);
    await kubectl.print(['apply', '-k', `${config}/samples`]);
    await reconciled('registry.k8s.io/pause:3.10');
    const image = 'registry.k8s.io/pause:3.9';
    await admin.patch(type, key, { type: 'merge', body: { spec: { image } } });
    await reconciled(image);
    await admin.delete(type, key);
    await eventually(async () => {
      operator.check();
      // What it made is the garbage collector's, or went before.
      expect(await getIfExists(admin, type, key)).to.equal(undefined);
    }, 60_000);
  }

  /** Each right was used, or is one of those for later; none was missing. */
  async function compare(
    name: string,
    { user }: ProjectOperator,
    spare: readonly RegExp[],
  ): Promise<void> {
    const requests = await plane.auditLog.read({ user });
    const refused = requests.filter(({ code }) => code === 401 || code === 403);
    expect(refused.map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([]);
    const { rules = [] } = await admin.get(ClusterRole, { name: `${name}-manager-role` });
    const election = { name: `${name}-leader-election-role`, namespace: `${name}-system` };
    const { rules: own = [] } = await admin.get(Role, election);
    const unused = unusedOf([...rules, ...own], requests);
    const without = unused.filter((right) => !spare.some((each) => each.test(right)));
    expect(without, 'never used').to.deep.equal([]);
    // Nothing is excused that is of use, or that the roles don't give.
    const idle = spare.filter((each) => !unused.some((right) => each.test(right)));
    expect(idle.map(String).filter((each) => !/get\|list/.test(each))).to.deep.equal([]);
  }
});
