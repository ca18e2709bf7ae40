import { expect } from 'chai';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import { markHealthy } from '../../../lib/lifecycle/index.js';
import { lastAppliedAnnotation } from '../../../lib/feed/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { withCache } from '../../builder/suite/scene.js';
import { configMap, system } from './system.js';
import type { OpenStage } from './stage.js';

/** Declares that an unchanged system causes no writes, neither ones without effect nor ones that cannot succeed. */
export function settlingSuite(open: OpenStage): void {
  it('the reconciler does not repeat a write that the server reverts', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const { client } = stage.operator;
    let writes = 0;
    const update = async <T extends KubernetesObject>(object: T): Promise<T> => {
      writes++;
      return stage.get<T>(object.kind, object.metadata.name ?? '');
    };
    const reconciler = stage.newReconciler({ client: { ...forwarding(client), update } });
    stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
    await stage.pass('1.0.0', reconciler);
    await stage.pass('1.0.0', reconciler);
    expect(writes).to.equal(1);
    stage.resources = () => system(stage.namespace, { image: 'nginx:3' });
    await stage.pass('1.0.0', reconciler);
    expect(writes).to.equal(2);
  });

  it('the reconciler does not repeat a write that the server ignores, although its cache has no managedFields', async () => {
    const stage = await open();
    const { namespace } = stage;
    const cached = await withCache(stage.operator.client, [ConfigMap], false);
    try {
      const own = { client: cached.client, isMutable: () => false };
      const reconciler = stage.newReconciler(own);
      stage.resources = () => [{ ...configMap(namespace), unknownField: { size: 'large' } }];
      await stage.target.eventually(async () => {
        const { phase } = await stage.pass('1.0.0', reconciler);
        expect(phase).to.equal('Deployed');
      });
      await stage.operator.requests();
      const { events } = await stage.pass('1.0.0', reconciler);
      expect(events).to.deep.equal([]);
      expect(await stage.writes()).to.deep.equal([]);
    } finally {
      await cached.stop();
    }
  });

  it('the reconciler does not repeat a write that the server ignores, although its cache has no last-applied annotation', async () => {
    const stage = await open();
    const object = configMap(stage.namespace);
    const annotations = { [lastAppliedAnnotation]: '{}' };
    await stage.admin.create({ ...object, metadata: { ...object.metadata, annotations } });
    const cached = await withCache(stage.operator.client, [ConfigMap], false);
    try {
      const own = { client: cached.client, isMutable: () => false, orphans: 'adopt' } as const;
      const reconciler = stage.newReconciler(own);
      stage.resources = () => [{ ...object, unknownField: { size: 'large' } }];
      await stage.target.eventually(async () => {
        const { phase } = await stage.pass('1.0.0', reconciler);
        expect(phase).to.equal('Deployed');
      });
      await stage.operator.requests();
      await stage.pass('1.0.0', reconciler);
      expect(await stage.writes()).to.deep.equal([]);
    } finally {
      await cached.stop();
    }
  });

  it('the reconciler writes a time and a URL among the data as text, once', async () => {
    const stage = await open({ isMutable: () => false });
    const data = { at: new Date(0), url: new URL('https://example.com/') };
    stage.resources = () => [{ ...configMap(stage.namespace), data }];
    await stage.deploy('1.0.0');
    expect((await stage.get('ConfigMap', 'settings'))['data']).to.deep.equal({
      at: '1970-01-01T00:00:00.000Z',
      url: 'https://example.com/',
    });
  });

  it('the reconciler changes nothing in the second reconcile, whatever fields the server defaults', async () => {
    const stage = await open();
    const fieldRef = { fieldPath: 'metadata.name' };
    const env = [
      { name: 'POD', valueFrom: { fieldRef } },
      { name: 'NONE', value: '' },
    ];
    const volumeMounts = [{ name: 'tmp', mountPath: '/tmp', readOnly: false }];
    const pod = { volumes: [{ name: 'tmp', emptyDir: {} }], hostNetwork: false, affinity: {} };
    const { namespace } = stage;
    const container = { env, volumeMounts, securityContext: {}, lifecycle: {}, resources: {} };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', rules: [] };
    stage.resources = () => [
      ...system(namespace, { pod, container, strategy: {} }),
      { ...role, metadata: { name: 'none', namespace } },
    ];
    await stage.pass('1.0.0');
    await stage.rolledOut();
    await stage.operator.requests();
    expect((await stage.pass('1.0.0')).events).to.deep.equal(['DeployCompleted']);
    expect(await stage.writes()).to.deep.equal(['patch sampleconfigs']);
  });

  it('the reconciler writes no status while pruning keeps failing, and keeps the time of each condition', async () => {
    const stage = await open();
    const { namespace } = stage;
    stage.resources = () => [configMap(namespace, 'old'), configMap(namespace)];
    await stage.deploy('1.0.0');
    stage.resources = () => [configMap(namespace)];
    stage.dispatcher.addCallback(null, ({ state }) => {
      if (state === 'PRE_DELETE') throw new Error('it is in use');
    });
    const failing = 'T/F/T DeployCompleted ReconcileFailed';
    expect((await stage.pass('1.0.0')).conditions).to.equal(failing);
    const before = await stage.status();
    await stage.operator.requests();
    await stage.wait(1_100);
    expect((await stage.pass('1.0.0')).conditions).to.equal(failing);
    expect(await stage.writes()).to.deep.equal([]);
    expect(await stage.status()).to.deep.equal(before);
  });

  it('the reconciler keeps the reason that a hook has set in the status of a healthy system', async () => {
    const stage = await open();
    const why = { reason: 'ShopOpen', message: '3 of 3 tills are open' };
    const reconciler = stage.newReconciler({
      perishablesSynchronizer: async ({ status = {} }) => {
        const isShown = status.conditions?.some(({ reason }) => reason === why.reason);
        if (status.phase !== 'Deployed' || isShown === true) return;
        await stage.setStatus(markHealthy(status, why, stage.target.clock).status);
      },
    });
    await stage.pass('1.0.0', reconciler);
    await stage.rolledOut();
    const reasons: string[] = [];
    for (let passes = 0; passes < 4; passes++) {
      reasons.push((await stage.pass('1.0.0', reconciler)).conditions);
    }
    expect(reasons.slice(1)).to.deep.equal(Array(3).fill('T/F/F ShopOpen'));
    const before = await stage.status();
    await stage.operator.requests();
    await stage.pass('1.0.0', reconciler);
    expect(await stage.writes()).to.deep.equal([]);
    expect(await stage.status()).to.deep.equal(before);
  });

  it('the reconciler encodes stringData of an immutable Secret, and writes it once', async () => {
    const stage = await open({ isMutable: () => false });
    const metadata = { name: 'token', namespace: stage.namespace };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 'x' } };
    stage.resources = () => [secret];
    await stage.pass('1.0.0');
    expect((await stage.pass('1.0.0')).events).to.deep.equal(['DeployCompleted']);
    await stage.touch('Secret', 'token', { data: { token: 'eQ==' } });
    expect((await stage.pass('1.0.0')).events).to.deep.equal([
      'UpdateResourceSuccess Secret token',
    ]);
    expect((await stage.get('Secret', 'token'))['data']).to.deep.equal({ token: 'eA==' });
  });

  it('the reconciler reverts a Service whose port number was changed by hand', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const ports = [{ port: 81 }];
    await stage.touch('Service', 'web', { spec: { ports } });
    const seen = await stage.pass('1.0.0');
    expect(seen.events).to.deep.equal(['UpdateResourceSuccess Service web']);
    const { spec } = await stage.get('Service', 'web');
    const left = (spec as { readonly ports: readonly { readonly port: number }[] }).ports;
    expect(left.map(({ port }) => port)).to.deep.equal([80]);
  });
}
