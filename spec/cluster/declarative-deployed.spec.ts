import { expect } from 'chai';
import { copyFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { Lease, Namespace, Service } from '../../lib/object/kinds.js';
import type { KubernetesObject, UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { systemRandom } from '../../lib/system/random.js';
import { buildKustomization } from '../../lib/cli/package/overlay.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import { unusedOf } from '../samples/deployed/unused-rights.js';
import type { Rule } from '../samples/deployed/unused-rights.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { DeployedPod } from './deployed-pod.js';
import { Kubectl } from './kubectl.js';

/** Fields of a ResourceQuota that these specs read. */
interface Quota extends KubernetesObject {
  readonly spec: { readonly hard?: Readonly<Record<string, string>> };
}

describe('declarative operators deployed with the output of the command declarative manifests, on a real API server', () => {
  const file = scratchDirectory();
  const name = `teams-${systemRandom.uuid().slice(0, 6)}`;
  const group = `${name}.example`;
  const namespace = `${name}-system`;
  const home = `${name}-home`;
  const team = { apiVersion: `${group}/v1`, kind: 'Team' };
  const resourceQuota = { apiVersion: 'v1', kind: 'ResourceQuota' };
  const overlay = (): string => file('deploy/config/default');
  let plane: ControlPlane;
  let admin: ConnectedClient;
  let kubectl: Kubectl;
  let pod: DeployedPod | undefined;

  /**
   * Quotas for the namespaces of a team, a label for Services, the status of the team, and a view of the
   * quotas.
   */
  const operators = `
controllers:
  - name: quotas
    sources:
      - { apiGroup: ${group}, version: v1, kind: Team }
      - { apiGroup: '', kind: Namespace, labelSelector: { matchLabels: { of: ${name} } } }
    pipeline:
      - '@join': { '@eq': [$.Namespace.metadata.labels.team, $.Team.metadata.name] }
      - '@project':
          metadata: { name: team, namespace: $.Namespace.metadata.name }
          spec: { hard: { pods: { '@string': $.Team.spec.pods } } }
    target: { apiGroup: '', kind: ResourceQuota }
  - name: states
    sources: [{ apiGroup: ${group}, version: v1, kind: Team }]
    pipeline: { '@project': { metadata: { name: $.metadata.name }, status: { quota: $.spec.pods } } }
    target: { apiGroup: ${group}, kind: Team, type: Patcher }
  - name: limits
    sources: [{ apiGroup: ${group}, version: v1, kind: Team }]
    pipeline: { '@project': { metadata: { name: $.metadata.name, namespace: ${home} }, pods: $.spec.pods } }
    target: { kind: Limit }
  - name: labels
    sources: [{ apiGroup: '', kind: Service, labelSelector: { matchLabels: { of: ${name} } } }]
    pipeline:
      '@project':
        metadata: { name: $.metadata.name, namespace: $.metadata.namespace, annotations: { seen: 'yes' } }
    target: { apiGroup: '', kind: Service, type: Patcher }
`;
  /** Permissions that the operators of this spec may leave unused, with the reasons why they are granted. */
  const reasons: Readonly<Record<string, string>> = {
    'get namespaces': 'every watched kind has get, list and watch',
    'list namespaces': 'servers without streaming lists are listed',
    [`patch teams.${group}`]: 'a document may have more than a status',
    'create events.events.k8s.io': 'Events about objects that cannot be read',
    'patch events.events.k8s.io': 'repeated Events',
    'update secrets': 'renewed certificates',
  };
  const definition = {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `teams.${group}` },
    spec: {
      ...{ group, scope: 'Cluster', names: { kind: 'Team', plural: 'teams' } },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', properties: { pods: { type: 'integer' } } },
                status: { type: 'object', properties: { quota: { type: 'integer' } } },
              },
            },
          },
        },
      ],
    },
  };

  before(async () => {
    plane = await sharedControlPlane();
    admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    kubectl = await Kubectl.create((path) => copyFile(plane.kubeConfigPath, path));
    await writeFile(file('quotas.yaml'), operators);
    await writeFile(file('crd.yaml'), JSON.stringify(definition));
    await kubectl.print(['apply', '-f', file('crd.yaml')]);
    await kubectl.print(['wait', '--for=condition=Established', `crd/teams.${group}`]);
    await deploy();
    const key = { name: `${name}-controller-manager`, namespace };
    const places = { folder: file('pod'), project: file('deploy') };
    pod = await DeployedPod.start({ key, ...places, plane, admin });
  });

  after(async () => {
    await pod?.stop();
    await kubectl.run(['delete', 'clusterrolebinding', `${name}-scrapers`, '--ignore-not-found']);
    await kubectl.run(['delete', '-k', overlay(), '--wait=false']);
    await kubectl.run(['delete', 'namespace', home, '--wait=false', '--ignore-not-found']);
    await kubectl.run(['delete', 'crd', `teams.${group}`, '--wait=false']);
    await kubectl.close();
    await admin.close();
  });

  /** Runs the command, then the commands that it prints, except those of the image. */
  async function deploy(): Promise<void> {
    const args = ['--name', name, '--api-server', '--crds', file('crd.yaml'), '-d', file('deploy')];
    const made = await cli(['declarative', 'manifests', file('quotas.yaml'), ...args]);
    expect(made, made.stderr).to.include({ code: 0 });
    const [, steps = ''] = made.stdout.split('Next:\n');
    for (const step of steps.trim().split('\n')) {
      const [program, ...words] = step.trim().split(' ');
      if (program === 'kubectl') await kubectl.print(words);
      if (program === 'operator-builder') expect(await cli(words)).to.include({ code: 0 });
    }
  }

  function answerOf(port: string, path: string, token?: string): Promise<[number, string]> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const target = { host: '127.0.0.1', port: pod?.portOf(port) ?? 0, path };
    return new Promise((resolve, reject) => {
      const asked = request({ ...target, headers, rejectUnauthorized: false }, (response) => {
        text(response).then((body) => {
          resolve([response.statusCode ?? 0, body]);
        }, reject);
      });
      asked.on('error', reject);
      asked.end();
    });
  }

  it('run with the arguments, files and account of the Deployment, and become ready', async () => {
    await eventually(async () => {
      pod?.check();
      const answer = await fetch(`http://127.0.0.1:${pod?.portOf('health') ?? 0}/readyz`);
      expect(answer.status).to.equal(200);
      const { spec } = await admin.get(Lease, { name, namespace });
      expect(spec?.holderIdentity).to.be.a('string').that.does.not.equal('');
    }, 60_000);
  });

  it('write their target objects, undo changes by others, and delete the objects', async () => {
    const labels = { of: name, team: 'web' };
    await admin.create({ ...team, metadata: { name: 'web' }, spec: { pods: 7 } });
    await admin.create({
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: home, labels } },
    });
    const quota = { name: 'team', namespace: home };
    const hardOf = async (): Promise<unknown> =>
      (await admin.get<Quota>(resourceQuota, quota)).spec.hard;
    await eventually(async () => {
      pod?.check();
      expect(await hardOf()).to.deep.equal({ pods: '7' });
    });
    const body = { spec: { hard: { services: '1' } } };
    await admin.patch(resourceQuota, quota, { type: 'merge', body });
    await eventually(async () => expect(await hardOf()).to.deep.equal({ pods: '7' }));
    await eventually(async () => {
      const { status } = await admin.get<UnstructuredObject>(team, { name: 'web' });
      expect(status).to.deep.equal({ quota: 7 });
    });
    const service = { name: 'shop', namespace: home };
    await admin.create({
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { ...service, labels } },
      spec: { ports: [{ port: 80 }] },
    });
    await eventually(async () => {
      const { metadata } = await admin.get(Service, service);
      expect(metadata.annotations).to.deep.equal({ seen: 'yes' });
    });
    await admin.patch(
      Namespace,
      { name: home },
      { type: 'merge', body: { metadata: { labels: { team: null } } } },
    );
    await eventually(async () => {
      const { items } = await admin.list(resourceQuota, { namespace: home });
      expect(items).to.have.length(0);
    });
  });

  it('serve their views to clients whose token is signed with the key of the deployment', async () => {
    const server = `https://localhost:${pod?.portOf('views') ?? 0}`;
    const keys = ['--keys', file('deploy/view-keys'), '--server', server, '--out', file('views')];
    const made = await cli([
      'declarative',
      'config',
      '--user',
      'jane',
      '--namespaces',
      '*',
      ...keys,
    ]);
    expect(made, made.stderr).to.include({ code: 0 });
    const jane = await clientFromKubeConfig({ path: file('views') });
    const limit = { apiVersion: 'quotas.view.dcontroller.io/v1alpha1', kind: 'Limit' };
    const { pods } = await jane.get<UnstructuredObject>(limit, { name: 'web', namespace: home });
    expect(pods).to.equal(7);
    await jane.close();
    expect((await answerOf('views', '/apis'))[0]).to.equal(401);
  });

  it('serve their metrics to accounts with the role <name>-metrics-reader only', async () => {
    expect((await answerOf('metrics', '/metrics'))[0]).to.equal(401);
    await kubectl.print(['-n', namespace, 'create', 'serviceaccount', 'scraper']);
    const token = (await kubectl.print(['-n', namespace, 'create', 'token', 'scraper'])).trim();
    const who = [`--clusterrole=${name}-metrics-reader`, `--serviceaccount=${namespace}:scraper`];
    await kubectl.print(['create', 'clusterrolebinding', `${name}-scrapers`, ...who]);
    await eventually(async () => {
      const [status, body] = await answerOf('metrics', '/metrics', token);
      expect(status).to.equal(200);
      expect(body).to.include('controller_runtime_reconcile_total');
    });
  });

  it('can be installed from one file that build-installer writes', async () => {
    const made = await cli(['build-installer', '--project', file('deploy')]);
    expect(made, made.stderr).to.include({ code: 0 });
    const options = ['--server-side', '--force-conflicts', '--dry-run=server'];
    const install = file('deploy/dist/install.yaml');
    const applied = await kubectl.print(['apply', ...options, '-f', install]);
    expect(applied).to.include(`deployment.apps/${name}-controller-manager serverside-applied`);
  });

  it('use every permission of their roles, and need no others', async () => {
    expect(await pod?.stop(), pod?.output).to.equal(0);
    expect(pod?.output).not.to.include('permissions are missing');
    const requests = await plane.auditLog.read({ user: pod?.user ?? '' });
    const refused = requests.filter(({ code }) => code === 403);
    expect(refused.map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([]);
    const objects = await buildKustomization(overlay());
    const roles = objects.filter(({ kind }) => /^(?:Cluster)?Role$/.test(kind));
    const rules = roles.flatMap((role) => (role as { rules?: Rule[] }).rules ?? []);
    const unused = unusedOf(rules, requests);
    expect(unused.filter((right) => reasons[right] === undefined)).to.deep.equal([]);
  });
});
