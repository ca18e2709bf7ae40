import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { Kubectl } from '../../cluster/kubectl.js';

describe('kubectl on an embedded cluster', () => {
  let cluster: EmbeddedCluster;
  let kubectl: Kubectl;

  before(async () => {
    cluster = await EmbeddedCluster.start({ port: 0, rbac: true });
    kubectl = await Kubectl.create((path) => cluster.writeKubeConfig(path));
    await kubectl.print(['create', 'namespace', 'shop']);
  });

  after(async () => {
    await kubectl.close();
    await cluster.stop();
  });

  for (const [object, args] of [
    ['configmap/menu', ['configmap', 'menu', '--from-literal=a=b']],
    ['secret/till', ['secret', 'generic', 'till', '--from-literal=key=1234']],
    ['serviceaccount/baker', ['serviceaccount', 'baker']],
    ['deployment.apps/web', ['deployment', 'web', '--image=nginx', '--replicas=2', '--port=80']],
    ['job.batch/once', ['job', 'once', '--image=busybox']],
    ['cronjob.batch/daily', ['cronjob', 'daily', '--image=busybox', '--schedule=0 3 * * *']],
    ['service/web', ['service', 'clusterip', 'web', '--tcp=80:8080']],
    ['ingress.networking.k8s.io/web', ['ingress', 'web', '--rule=shop.example/*=web:80']],
    ['role.rbac.authorization.k8s.io/read', ['role', 'read', '--verb=get', '--resource=pods']],
  ] as const) {
    it(`creates ${object}`, async () => {
      const said = await kubectl.print(['--namespace=shop', 'create', ...args]);
      expect(said).to.equal(`${object} created\n`);
    });
  }

  it('scales, restarts and prints a Deployment', async () => {
    const run = (...args: string[]): Promise<string> => kubectl.print(['-n=shop', ...args]);
    expect(await run('scale', 'deployment/web', '--replicas=3')).to.equal(
      'deployment.apps/web scaled\n',
    );
    expect(await run('rollout', 'restart', 'deployment/web')).to.equal(
      'deployment.apps/web restarted\n',
    );
    const table = await run('get', 'deployments');
    expect(table).to.match(/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +\d\/3 /);
  });

  it('creates a token, and evaluates the permissions of an account', async () => {
    const account = 'system:serviceaccount:shop:baker';
    const token = await kubectl.print(['--namespace=shop', 'create', 'token', 'baker']);
    expect(token.split('.')).to.have.length(3);
    const asking = ['--namespace=shop', 'auth', 'can-i', 'get', 'pods'];
    expect(await kubectl.print(asking)).to.equal('yes\n');
    const { stdout } = await kubectl.run([...asking, `--as=${account}`]);
    expect(stdout).to.equal('no\n');
  });
});
