import { expect } from 'chai';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { LeaderElector } from '../../lib/manager/leader-election.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import { Lease } from '../../lib/object/kinds.js';
import type { ConfigMap, Namespace } from '../../lib/object/kinds.js';
import { systemRandom } from '../../lib/system/random.js';
import { roundsSuite } from '../manager/processes/rounds-suite.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';

const run = systemRandom.uuid();

async function newNamespace(admin: ConnectedClient): Promise<string> {
  const metadata = { generateName: 'election-' };
  const made = await admin.create<Namespace>({ apiVersion: 'v1', kind: 'Namespace', metadata });
  return made.metadata.name ?? '';
}

async function clusterTarget() {
  const plane = await sharedControlPlane();
  const admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
  const namespace = await newNamespace(admin);
  const since = await plane.auditLog.mark();
  return {
    ...{ port: Number(new URL(plane.url).port), scheme: 'https' as const, namespace },
    ca: Buffer.from(plane.caData, 'base64').toString(),
    token: async (user: string) => (await plane.user(user)).token,
    prepare: async (name: string) => {
      const metadata = { namespace, name };
      await admin.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    },
    log: () => plane.auditLog.read({ since, namespace }),
    close: () => admin.close(),
  };
}

describe('leader election of real processes on a real API server', function () {
  this.timeout(120_000);
  roundsSuite(clusterTarget);
});

describe('leader election on a real API server', () => {
  // Long enough for a busy machine.
  const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 200 };
  let plane: ControlPlane;
  let admin: ConnectedClient;
  let namespace: string;

  before(async () => {
    plane = await sharedControlPlane();
    admin = await clientFromKubeConfig({ path: plane.kubeConfigPath });
    namespace = await newNamespace(admin);
  });

  after(() => admin.close());

  /** Leads until it is stopped. */
  async function leader(name: string) {
    const elector = new LeaderElector({ client: admin, namespace, name, identity: name, ...times });
    const ending = new AbortController();
    let ended: Promise<void> | undefined;
    await new Promise<void>((resolve) => {
      ended = elector.run({ onStartedLeading: () => resolve() }, ending.signal);
    });
    const stop = async (): Promise<void> => {
      ending.abort();
      await ended;
    };
    return { elector, stop, read: () => admin.get(Lease, { namespace, name }) };
  }

  it('writes times with microseconds, which the server keeps, and renews the Lease', async () => {
    const { elector, stop, read } = await leader('times');
    const { spec } = await read();
    expect(spec).to.include({ holderIdentity: 'times', leaseDurationSeconds: 15 });
    for (const time of [spec?.acquireTime, spec?.renewTime]) {
      expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    }
    await eventually(async () => {
      expect((await read()).spec?.renewTime).to.not.equal(spec?.renewTime);
    });
    expect([elector.isLeader, elector.problem]).to.deep.equal([true, undefined]);
    await stop();
  });

  it('releases the Lease with an empty holder and a duration of a second', async () => {
    const { stop, read } = await leader('back');
    await stop();
    const { spec } = await read();
    expect(spec?.holderIdentity ?? '').to.equal('');
    expect(spec?.leaseDurationSeconds).to.equal(1);
  });

  it('creates its Lease again when another client deletes it, and continues to lead', async () => {
    const { elector, stop, read } = await leader('deleted');
    const before = await read();
    await admin.delete(Lease, { namespace, name: 'deleted' });
    await eventually(async () => {
      const { metadata, spec } = await read();
      expect(metadata.uid).to.not.equal(before.metadata.uid);
      expect(spec?.holderIdentity).to.equal('deleted');
    });
    // Renewals of the new Lease succeed too.
    const again = await read();
    await eventually(async () => {
      expect((await read()).metadata.resourceVersion).to.not.equal(again.metadata.resourceVersion);
    });
    expect(elector.isLeader).to.be.true;
    await stop();
  });

  it('names the missing RBAC rule when access to the Lease is forbidden', async () => {
    const user = await plane.user(`nobody-${run}`, []);
    const client = await clientFromKubeConfig({ path: user.kubeConfigPath });
    const elector = new LeaderElector({ client, namespace, name: 'forbidden', ...times });
    const ending = new AbortController();
    const ended = elector.run({}, ending.signal);
    await eventually(
      async () => expect(isOperatorError(elector.problem, 'LeaseForbidden')).to.be.true,
    );
    expect(elector.problem)
      .to.have.property('message')
      .that.matches(/get Lease .*forbidden: .*; if RBAC denies it, add the rule .*leases/);
    ending.abort();
    await ended;
    await client.close();
  });
});
