import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { chmod, copyFile, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { networkInterfaces } from 'node:os';
import { pathToFileURL } from 'node:url';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { Deployment, Pod, Service } from '../../lib/object/kinds.js';
import { systemRandom } from '../../lib/system/random.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import { linkPackages } from '../cli/project/project-copy.js';
import { createApi } from '../cli/scaffold/project.js';
import { writeVerbs } from './control-plane/audit-entry.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { findFreePort } from './control-plane/free-ports.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';
import type { Output } from './kubectl.js';
import { ProjectOperator } from './project-operator.js';

describe('kubectl operator-plan with a generated project on a real API server', () => {
  const file = scratchDirectory();
  const name = `planned-${systemRandom.uuid().slice(0, 6)}`;
  const namespace = `${name}-system`;
  const key = { namespace: 'default', name: 'shop-sample' };
  const overlay = (): string => file(name, 'config/default');
  let plane: ControlPlane;
  let admin: ConnectedClient;
  let kubectl: Kubectl;
  let operator: ProjectOperator | undefined;
  let kubeconfig: string;

  before(async () => {
    plane = await sharedControlPlane();
    admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    kubectl = await Kubectl.create((path) => copyFile(plane.kubeConfigPath, path));
    kubeconfig = (await plane.user(`${name}-shopper`, ['shoppers'])).kubeConfigPath;
    await installPlugin();
    await makeProject();
    await kubectl.print(['apply', '-k', overlay()]);
    const port = await findFreePort();
    // Without election, the operator writes no Lease while it plans.
    const options = ['--metrics-auth', '--plan', `--metrics-port=${port}`, '--no-leader-elect'];
    operator = await ProjectOperator.start({ folder: file(name), name, plane, admin, options });
    await leadServiceTo(port);
    await kubectl.print(['apply', '-f', file(name, 'config/samples/shop_v1alpha1_shop.yaml')]);
    const web = { namespace: 'default', name: 'shop-shop-sample' };
    await eventually(() => {
      operator?.check();
      return admin.get(Deployment, web);
    }, 60_000);
    // The operator writes its Event a second after the Deployment. It must not do so during a plan.
    const { user } = operator;
    await eventually(async () => {
      const writes = await plane.auditLog.read({ user, verbs: ['create'] });
      expect(writes.map(({ resource }) => resource)).to.include('events');
    }, 60_000);
  });

  after(async () => {
    await kubectl.run(['delete', 'shop', key.name, '--ignore-not-found']);
    await operator?.stop();
    for (const binding of [`${name}-planners`, `${name}-editors`]) {
      await kubectl.run(['delete', 'clusterrolebinding', binding, '--ignore-not-found']);
    }
    const viewers = ['delete', 'rolebinding', `${name}-viewers`, '-n', 'default'];
    await kubectl.run([...viewers, '--ignore-not-found']);
    await kubectl.run(['delete', '-k', overlay(), '--wait=false']);
    await kubectl.close();
    await admin.close();
  });

  /** Installs the plugin under the name that kubectl looks for. */
  async function installPlugin(): Promise<void> {
    const program = new URL('../../lib/cli/kubectl-operator-plan.ts', import.meta.url).pathname;
    const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
    const command = `"${process.execPath}" --import "${loader}" "${program}" "$@"`;
    await writeFile(file('kubectl-operator_plan'), `#!/bin/sh\nexec ${command}\n`);
    await chmod(file('kubectl-operator_plan'), 0o755);
  }

  async function makeProject(): Promise<void> {
    await cli(['init', '--domain', `${name}.example`, '--name', name, '-C', file(name)]);
    expect(await createApi(file(name), 'Shop')).to.include({ code: 0 });
    linkPackages(file(name));
    const path = file(name, 'config/default/kustomization.yaml');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('# - ../plan', '- ../plan'));
  }

  /** Makes the Service lead to this machine, which is not in the Pod network. Loopback addresses are not allowed. */
  async function leadServiceTo(port: number): Promise<void> {
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const own = addresses.find(({ internal, family }) => !internal && family === 'IPv4');
    if (own === undefined) throw new Error('this machine has only a loopback address');
    const service = { namespace, name: `${name}-controller-manager-metrics` };
    const body = { spec: { selector: null } };
    await admin.patch(Service, service, { type: 'merge', body });
    const pod = { namespace, name: 'elsewhere' };
    await createPod(pod, own.address);
    const ports = [{ name: 'metrics', port, protocol: 'TCP' }];
    const targetRef = { kind: 'Pod', ...pod };
    const subsets = [{ addresses: [{ ip: own.address, targetRef }], ports }];
    const endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata: service, subsets };
    // The cluster's controller may have created the Endpoints before the selector was removed.
    const args = ['apply', '--server-side', '--force-conflicts', '-f', '-'];
    await kubectl.print(args, JSON.stringify(endpoints));
  }

  /** Creates a Pod that no node runs. The API server's proxy connects only to the addresses of Pods. */
  async function createPod(place: { namespace: string; name: string }, ip: string): Promise<void> {
    const securityContext = {
      ...{ allowPrivilegeEscalation: false, runAsNonRoot: true },
      ...{ capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } },
    };
    const containers = [{ name: 'operator', image: 'operator:1', securityContext }];
    const spec = { schedulerName: 'none', containers };
    await admin.create<Pod>({ apiVersion: 'v1', kind: 'Pod', metadata: place, spec });
    const body = { status: { podIP: ip, podIPs: [{ ip }] } };
    await admin.patch(Pod, place, { type: 'merge', body }, { subresource: 'status' });
  }

  /** Runs the plugin through kubectl as the user; checks in the audit log that nothing is stored. */
  async function plan(spec: object, ...args: readonly string[]): Promise<Output> {
    const apiVersion = `shop.${name}.example/v1alpha1`;
    const shop = { apiVersion, kind: 'Shop', metadata: key, spec };
    await writeFile(file('shop.yaml'), JSON.stringify(shop));
    const since = await plane.auditLog.mark();
    const output = await run(['operator-plan', '-f', file('shop.yaml'), '--send-token', ...args]);
    const users = [operator?.user ?? '', `${name}-shopper`];
    for (const user of users) {
      const writes = await plane.auditLog.read({ since, user, verbs: writeVerbs });
      const stored = writes.filter(({ uri, group, subresource }) => {
        const isReview = group === 'authentication.k8s.io' || group === 'authorization.k8s.io';
        return !/[?&]dryRun=All/.test(uri) && !isReview && subresource !== 'proxy';
      });
      expect(
        stored.map(({ verb, uri }) => `${verb} ${uri}`),
        user,
      ).to.deep.equal([]);
    }
    return output;
  }

  function run(args: readonly string[]): Promise<Output> {
    const PATH = `${file('')}:${process.env['PATH'] ?? ''}`;
    const env = { ...process.env, PATH, KUBECONFIG: kubeconfig };
    return new Promise((resolve) => {
      execFile('kubectl', [...args], { env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  }

  const image = 'registry.k8s.io/pause:3.10';

  it('is refused by the API server to a user without the ClusterRole for planners', async () => {
    const { code, stderr } = await plan({ image, replicas: 3 });
    expect(code, stderr).to.equal(2);
    expect(stderr).to.include('you may not read the definition');
  });

  it('is refused by the operator to a user without permission to change the resource', async () => {
    const planners = [`--clusterrole=${name}-planner`, '--group=shoppers'];
    await kubectl.print(['create', 'clusterrolebinding', `${name}-planners`, ...planners]);
    await eventually(async () => {
      const { code, stderr } = await plan({ image, replicas: 3 });
      expect(code, stderr).to.equal(2);
      expect(stderr).to.include('may not update Shop default/shop-sample');
    }, 30_000);
  });

  it('shows changed fields and restarts, and stores nothing', async () => {
    const editors = [`--clusterrole=${name}-shop-shop-editor-role`, '--group=shoppers'];
    await kubectl.print(['create', 'clusterrolebinding', `${name}-editors`, ...editors]);
    await kubectl.print([
      ...['create', 'rolebinding', `${name}-viewers`, '-n', 'default'],
      ...['--clusterrole=view', '--group=shoppers'],
    ]);
    const output = await eventually(async () => {
      const planned = await plan({ image: 'registry.k8s.io/pause:3.9', replicas: 3 });
      expect(planned.code, planned.stderr).to.equal(1);
      expect(planned.stdout).to.include('spec.replicas: 2 → 3');
      return planned;
    }, 30_000);
    expect(output.stderr).to.equal('');
    expect(output.stdout).to.include('its pods are replaced, for spec.template.spec.containers');
    const web = await admin.get(Deployment, { namespace: 'default', name: 'shop-shop-sample' });
    expect(web.spec?.replicas).to.equal(2);
  });

  it('exits with 0 for the applied resource', async () => {
    const { code, stdout, stderr } = await plan({ image, replicas: 2 });
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
  });

  it('includes a resource that does not exist', async () => {
    const other = file('shop.yaml');
    const { code, stdout } = await plan({ image, replicas: 1 }, '-o', 'json');
    expect(code).to.equal(1);
    expect(JSON.parse(stdout)).to.have.nested.property('plans[0].owner.name', key.name);
    const text = (await readFile(other, 'utf8')).replace(key.name, 'new-shop');
    await writeFile(other, text);
    const created = await run(['operator-plan', '-f', other, '--send-token']);
    expect(created.stdout).to.include('+ Deployment default/shop-new-shop create');
  });

  it('needs no permissions beyond those of the generated roles', async () => {
    expect(await operator?.stop(), operator?.output).to.equal(0);
    const requests = await plane.auditLog.read({ user: operator?.user ?? '' });
    const refused = requests.filter(({ code }) => code === 403);
    expect(refused.map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([]);
  });
});
