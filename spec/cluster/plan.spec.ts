import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { clientFromKubeConfig, ensureCrd, getIfExists } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { Manager } from '../../lib/manager/index.js';
import { ConfigMap, Deployment, Namespace } from '../../lib/object/kinds.js';
import { systemRandom } from '../../lib/system/random.js';
import { eventually } from '../../lib/testing/index.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import type { CliResult } from '../cli/cli.js';
import { shopProject } from '../cli/project/shop-project.js';
import { operator } from '../cli/project/shop/src/operator.js';
import { unknownFieldSuite } from '../cli/plan/suite/unknown-field-suite.js';
import { Shop } from '../cli/project/shop/src/shop.js';
import { writeVerbs } from './control-plane/audit-entry.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { sharedControlPlane } from './control-plane/shared.js';

interface Objects {
  readonly objects: readonly {
    readonly action: string;
    readonly ref: { readonly kind: string; readonly name: string };
    readonly changes: readonly { path: string; from?: unknown; to?: unknown }[];
  }[];
}

interface Plans {
  readonly plans: readonly (Objects & {
    readonly steps: readonly Objects[];
    readonly rollouts: readonly { ref: { name: string } }[];
  })[];
}

describe('operator-builder plan on a real API server', () => {
  const file = scratchDirectory();
  const namespace = `plan-${systemRandom.uuid().slice(0, 8)}`;
  const key = { namespace, name: 'a' };
  let plane: ControlPlane;
  let client: ConnectedClient;
  let kubeconfig: string;

  before(async () => {
    plane = await sharedControlPlane();
    kubeconfig = (await plane.user('planner', ['system:masters'])).kubeConfigPath;
    client = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await ensureCrd(client, Shop.crd);
  });

  after(async () => {
    await client.delete(Namespace, { name: namespace });
    await client.close();
  });

  const shop = (spec: object): Shop =>
    ({ apiVersion: Shop.apiVersion, kind: 'Shop', metadata: key, spec }) as unknown as Shop;

  /** Returns a plan; checks in the audit log that none of its writes is stored. */
  async function plan(spec: object, ...args: readonly string[]): Promise<CliResult> {
    await writeFile(file('shop.yaml'), JSON.stringify(shop(spec)));
    const since = await plane.auditLog.mark();
    const result = await cli([
      ...['plan', '-f', file('shop.yaml'), '--project', shopProject],
      ...['--kubeconfig', kubeconfig, ...args],
    ]);
    const writes = await plane.auditLog.read({ since, user: 'planner', verbs: writeVerbs });
    expect(writes.map(({ uri }) => uri).filter((uri) => !/[?&]dryRun=All/.test(uri))).to.deep.equal(
      [],
    );
    expect(writes, result.stderr).to.not.deep.equal([]);
    return result;
  }

  /** Runs the operator until the status shows the image, and `isDone` passes. */
  async function reconcile(spec: object, isDone = async (): Promise<void> => {}): Promise<void> {
    await client.apply(shop(spec), { fieldManager: 'user', force: true });
    const stop = new AbortController();
    const manager = new Manager({ client, rbacPreflight: 'off' });
    await operator.setup(manager);
    const running = manager.run(stop.signal);
    await eventually(async () => {
      const { status, spec: is } = await client.get(Shop, key);
      expect(status?.image).to.equal(is.image);
      await isDone();
    });
    stop.abort();
    await running;
  }

  unknownFieldSuite(plan);

  it('plans missing objects, and stores nothing', async () => {
    const { code, stdout, stderr } = await plan({ greeting: 'hello', image: 'shop:1' });
    expect({ code, stderr }, stdout).to.deep.equal({ code: 2, stderr: '' });
    expect(stdout).to.include('3 to create');
    for (const type of [Shop, Deployment, ConfigMap] as const) {
      const { items } = await client.list<Shop | Deployment | ConfigMap>(type, { namespace });
      expect(items.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')).to.deep.equal(
        [],
      );
    }
  });

  it('plans the fields and restarts of a change, which the operator then performs', async () => {
    await reconcile({ greeting: 'hello', image: 'shop:1' });
    const wanted = { image: 'shop:2', replicas: 2 };
    const { code, stdout, stderr } = await plan(wanted, '--output', 'json');
    expect({ code, stderr }, stdout).to.deep.equal({ code: 2, stderr: '' });
    const [planned] = (JSON.parse(stdout) as Plans).plans;
    const actions = planned?.steps.map(({ objects }) =>
      objects
        .filter(({ action }) => action !== 'unchanged')
        .map(({ action, ref }) => `${action} ${ref.kind}`),
    );
    // Objects that pods may still need are not pruned before the pods are replaced.
    expect(actions).to.deep.equal([
      ['configure Shop', 'configure Deployment'],
      ['prune ConfigMap'],
    ]);
    expect(planned?.objects[1]?.changes).to.deep.include.members([
      { path: 'spec.replicas', from: 1, to: 2 },
      {
        ...{ path: 'spec.template.spec.containers[name=web].image' },
        ...{ from: 'shop:1', to: 'shop:2' },
      },
    ]);
    expect(planned?.rollouts.map(({ ref }) => ref.name)).to.deep.equal(['web']);
    await reconcile(wanted, async () => {
      const texts = await getIfExists(client, ConfigMap, { namespace, name: 'texts' });
      expect(texts).to.equal(undefined);
    });
    const web = await client.get(Deployment, { namespace, name: 'web' });
    expect(web.spec?.replicas).to.equal(2);
    expect(web.spec?.template.spec?.containers[0]?.image).to.equal('shop:2');
  });

  it('rejects an unknown field of an existing resource, in one line', async () => {
    const { code, stderr } = await plan({
      image: 'shop:2',
      replica: 3,
      greeting: 'x'.repeat(1_500),
    });
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^error: (?:apply|patch) Shop \S+\/a: \d+ [^\n]{1,200}replica[^\n]{1,200}\n$/,
    );
  });

  it('exits with 0 when no object has to change', async () => {
    const { code, stdout, stderr } = await plan({ image: 'shop:2', replicas: 2 });
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
  });
});
