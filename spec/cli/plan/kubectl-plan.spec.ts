import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { runKubectlPlan } from '../../../lib/cli/commands/kubectl-plan.js';
import type { ConnectedClient } from '../../../lib/client/index.js';
import { isConditionTrue } from '../../../lib/object/conditions.js';
import { CustomResourceDefinition, ServiceAccount } from '../../../lib/object/kinds.js';
import { eventually } from '../../../lib/testing/index.js';
import { systemClock } from '../../../lib/system/clock.js';
import { grant } from '../../manager/grant.js';
import { DeployedOperator, ServiceProxy } from '../../plan/deployed-operator.js';
import { Shop, grantAll, shopOperator, users } from '../../plan/deployed-shop.js';
import { openSockets, scratchDirectory } from '../cli.js';
import type { CliResult } from '../cli.js';

/** The claims of a token. */
interface Claims {
  readonly sub: string;
  readonly aud: readonly string[];
  readonly iat: number;
  readonly exp: number;
}

describe('kubectl operator-plan', () => {
  const file = scratchDirectory();
  const crd = { name: 'shops.shops.example' };
  const service = 'shops-system/shops-controller-manager-metrics:8443';
  const proxied = 'shops-system/https:shops-controller-manager-metrics:8443';
  let cluster: EmbeddedCluster;
  let admin: ConnectedClient;
  let deployed: DeployedOperator;
  let proxy: ServiceProxy;

  before(async () => {
    const options = { crds: [Shop], simulateWorkloads: true, rbac: true, tls: false, port: 0 };
    cluster = await EmbeddedCluster.start({ ...options, users });
    admin = cluster.client({ user: 'system:admin' });
    await grantAll(admin);
    deployed = await DeployedOperator.start(shopOperator(), cluster.client({ user: 'operator' }));
    proxy = await ServiceProxy.start(cluster, { [proxied]: deployed.url });
    for (const user of ['owner', 'viewer', 'nobody']) await proxy.writeKubeConfig(file(user), user);
    await admin.create<Shop>(
      Shop.object({ metadata: { namespace: 'default', name: 'a' }, spec: {} }),
    );
    await eventually(async () => {
      const { status } = await admin.get(Shop, { namespace: 'default', name: 'a' });
      expect(isConditionTrue(status?.conditions, 'Ready')).to.equal(true);
    });
  });

  after(async () => {
    await proxy.stop();
    await deployed.stop();
    await cluster.stop();
  });

  async function plan(spec: object, ...args: readonly string[]): Promise<CliResult> {
    const shop = { apiVersion: 'shops.example/v1', kind: 'Shop', metadata: { name: 'a' }, spec };
    await writeFile(file('shop.yaml'), JSON.stringify(shop));
    const token = args.includes('--service-account') ? [] : ['--send-token'];
    return run('-f', file('shop.yaml'), '--kubeconfig', file('owner'), ...token, ...args);
  }

  async function run(...all: readonly string[]): Promise<CliResult> {
    const out = { stdout: '', stderr: '' };
    const code = await runKubectlPlan(all, {
      ...{ program: [], env: {}, clock: systemClock, cwd: process.cwd() },
      stdout: { write: (text) => (out.stdout += text) },
      stderr: { write: (text) => (out.stderr += text) },
      readStdin: () => Promise.resolve(''),
      stopSignal: () => new AbortController().signal,
    });
    return { code, ...out };
  }

  const changed = { greeting: 'hey' };

  it('says what to do if the definition does not name an operator', async () => {
    const { code, stderr } = await plan(changed);
    expect(code).to.equal(2);
    expect(stderr).to.equal(
      'error: plan Shop a: the definition shops.shops.example names no operator that answers plans; deploy the operator with config/plan, which sets the annotation operator-builder.io/plan, or give --service\n',
    );
    const forbidden = await plan(changed, '--kubeconfig', file('viewer'));
    expect(forbidden.stderr).to.include('you may not read the definition').and.include('--service');
  });

  it('finds the operator by the annotation of the definition, and exits with 1 if the plan has changes', async () => {
    const annotations = { 'operator-builder.io/plan': service };
    const body = { metadata: { annotations } };
    await admin.patch(CustomResourceDefinition, crd, { type: 'merge', body });
    const { code, stdout, stderr } = await plan(changed);
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
    expect(stdout).to.include('~ data.greeting: "hello" → "hey"');
    expect(stdout).to.include('    its pods are replaced, for ConfigMap default/texts changed');
  });

  it('sends the token of the kubeconfig only with --send-token', async () => {
    const { code, stderr } = await run('-f', file('shop.yaml'), '--kubeconfig', file('owner'));
    expect(code).to.equal(2);
    expect(stderr).to.include('give --service-account').and.include('or --send-token');
  });

  it('exits with 0 if the plan has no changes', async () => {
    const { code, stdout, stderr } = await plan({}, '--service', service);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.include('0 to create, 0 to configure');
  });

  it('prints diffs, JSON and whole objects, as operator-builder plan does', async () => {
    const diff = await plan(changed, '--service', service, '-o', 'diff');
    expect(diff.stdout)
      .to.include('+++ v1.ConfigMap.default.texts')
      .and.include('+  greeting: hey');
    const json = await plan(changed, '--service', service, '-o', 'json');
    expect(JSON.parse(json.stdout)).to.have.nested.property('plans[0].settled', true);
    const yaml = await plan(changed, '--service', service, '-o', 'yaml');
    expect(yaml.stdout).to.include('# configure\n').and.include('greeting: hey');
  });

  it('prints the plan and exits with 2 when the operator fails during the plan', async () => {
    const { code, stdout, stderr } = await plan({ fails: true }, '--service', service);
    expect(code).to.equal(2);
    expect(stdout).to.include('~ spec.fails: false → true');
    expect(stderr).to.equal('error: Shop default/a: no stock, planning: true\n');
  });

  it('prints the reason of a refusal in one line', async () => {
    const viewer = await plan({}, '--service', service, '--kubeconfig', file('viewer'));
    expect(viewer).to.deep.equal({
      code: 2,
      stdout: '',
      stderr:
        'error: user viewer may not update Shop default/a: a plan needs the same permission\n',
    });
    const invalid = await plan({ greeting: 1 }, '--service', service);
    expect(invalid.stderr).to.match(
      /^error: patch Shop default\/a: 422 [^\n]*spec.greeting[^\n]*\n$/,
    );
    const wrong = await plan({}, '--service', 'shops');
    expect(wrong.stderr).to.equal('error: service shops: want namespace/name:port\n');
  });

  it('sends a token of a ServiceAccount that is valid for ten minutes, and only for operators', async () => {
    const metadata = { namespace: 'default', name: 'planner' };
    await admin.create({ apiVersion: 'v1', kind: ServiceAccount.kind, metadata });
    await grant(
      admin,
      [{ apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] }],
      'nobody',
    );
    const args = ['--service', service, '--service-account', 'planner'];
    const { stderr } = await plan({}, ...args, '--kubeconfig', file('nobody'));
    const account = 'system:serviceaccount:default:planner';
    expect(stderr).to.include(`Authorization denied for user ${account}`);
    const [scheme, payload = ''] = String(proxy.sent['x-operator-authorization']).split(
      / [^.]*\.|\./,
    );
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
    expect({ scheme, subject: claims.sub, audiences: claims.aud }).to.deep.equal({
      ...{ scheme: 'Bearer', subject: account, audiences: ['operator-builder.io'] },
    });
    expect(claims.exp - claims.iat).to.equal(600);
  });

  it('closes its connections to the cluster', async () => {
    const before = openSockets();
    await plan({}, '--service', service);
    await eventually(() => expect(openSockets()).to.be.at.most(before), { timeoutMs: 2_000 });
  });

  it('says what to do if the operator does not accept the token', async () => {
    // The operator of another cluster, whose API server refuses the tokens.
    const other = await EmbeddedCluster.start({ crds: [Shop] });
    const foreign = await DeployedOperator.start(shopOperator(), other.client());
    const leading = await ServiceProxy.start(cluster, { [proxied]: foreign.url });
    try {
      await leading.writeKubeConfig(file('foreign'), 'system:admin');
      const args = ['--service', service, '--kubeconfig', file('foreign')];
      const sent = await plan({}, ...args);
      expect(sent).to.deep.equal({
        code: 2,
        stdout: '',
        stderr:
          'error: plan Shop a: the operator got no token that it accepts; log in again, or give --service-account with an account of which you may request tokens\n',
      });
      const account = await plan({}, ...args, '--service-account', 'default/planner');
      expect(account).to.deep.equal({
        code: 2,
        stdout: '',
        stderr: 'error: Unauthorized: send a token that the API server accepts\n',
      });
    } finally {
      await leading.stop();
      await foreign.stop();
      await other.stop();
    }
  });
});
