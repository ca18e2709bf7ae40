import { expect } from 'chai';
import { controllerFor, done, requeueAfter } from '../../lib/controller/index.js';
import type { ReconcileContext } from '../../lib/controller/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

describe('A single reconcile by reconcileOnce', () => {
  const key = { namespace: 'default', name: 'a' };
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start();
  });

  after(() => cluster.stop());

  it('passes the key to the reconciler and returns its result', async () => {
    let seen: ReconcileContext | undefined;
    const controller = controllerFor(ConfigMap).complete(async (context) => {
      seen = context;
      await context.client.create(configMap('made'));
      return requeueAfter(5);
    });
    const client = cluster.client();
    const result = await controller.reconcileOnce({ key, client, planning: true });
    expect(result).to.deep.equal(requeueAfter(5));
    expect(seen).to.include({ planning: true, cluster: '' });
    expect(seen?.key).to.deep.equal(key);
    expect(
      (await client.get(ConfigMap, { namespace: 'default', name: 'made' })).data,
    ).to.deep.equal({
      x: 'y',
    });
  });

  it('sets planning to false in its context by default', async () => {
    let planning: boolean | undefined;
    const controller = controllerFor(ConfigMap).complete((context) => {
      ({ planning } = context);
      return Promise.resolve(done());
    });
    await controller.reconcileOnce({ key, client: cluster.client() });
    expect(planning).to.equal(false);
  });

  it("rejects with the reconciler's error", async () => {
    const broken = new Error('broken');
    const controller = controllerFor(ConfigMap).complete(() => Promise.reject(broken));
    expect(await caught(controller.reconcileOnce({ key, client: cluster.client() }))).to.equal(
      broken,
    );
  });

  it('fails after its time-out, and refuses further writes', async () => {
    const clock = new VirtualClock();
    let late: Promise<unknown> | undefined;
    const controller = controllerFor(ConfigMap)
      .withOptions({ reconcileTimeoutMs: 1_000 })
      .complete(async ({ signal, client }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        late = caught(client.create(configMap('late')));
        return done();
      });
    const reconciling = caught(controller.reconcileOnce({ key, client: cluster.client(), clock }));
    await clock.advance(1_000);
    expect(await reconciling).to.include({ code: 'Timeout' });
    expect(await late).to.include({ code: 'Timeout' });
  });

  it('does not call the reconciler if its signal is aborted already', async () => {
    let runs = 0;
    const controller = controllerFor(ConfigMap).complete(async () => {
      runs++;
      return done();
    });
    const once = controller.reconcileOnce({
      ...{ key, client: cluster.client(), signal: AbortSignal.abort() },
    });
    expect(await caught(once)).to.include({ code: 'Aborted' });
    expect(runs).to.equal(0);
  });

  it('rejects when its signal aborts, even if the reconciler does not end', async () => {
    const stop = new AbortController();
    const controller = controllerFor(ConfigMap).complete(() => {
      stop.abort();
      return new Promise(() => undefined);
    });
    const { signal } = stop;
    const once = controller.reconcileOnce({ key, client: cluster.client(), signal });
    expect(await caught(once)).to.include({ code: 'Aborted' });
  });
});

function caught(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function configMap(name: string): ConfigMap {
  return {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    ...{ metadata: { namespace: 'default', name }, data: { x: 'y' } },
  };
}
