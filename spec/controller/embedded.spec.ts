import { expect } from 'chai';
import { controllerFor } from '../../lib/controller/controller.js';
import type { Controller } from '../../lib/controller/controller.js';
import type { ControllerEvent } from '../../lib/controller/index.js';
import { done } from '../../lib/controller/result.js';
import { EmbeddedCluster } from '../../lib/apiserver/cluster/embedded-cluster.js';
import { Manager } from '../../lib/manager/manager.js';
import { ConfigMap, Pod, Secret } from '../../lib/object/kinds.js';
import { withControllerReference } from '../../lib/object/owner-reference.js';
import { isNotFound } from '../../lib/object/api-error.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

/** Creates a Secret for each ConfigMap that has a `secret` value. */
function secretKeeper(): Controller {
  return controllerFor(ConfigMap)
    .owns(Secret)
    .withOptions({ name: 'secret-keeper', maxConcurrentReconciles: 4 })
    .complete(async ({ key, client }) => {
      const owner = await client.get(ConfigMap, key).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      const value = owner?.data?.['secret'];
      if (owner === undefined || value === undefined) return done();
      const secret: Secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: key.name, namespace: key.namespace ?? '' },
        data: { value: Buffer.from(value).toString('base64') },
      };
      const live = await client.list(Secret, { controllerUid: owner.metadata.uid ?? '' });
      if (live.items[0]?.data?.['value'] === secret.data?.['value']) return done();
      const scopes = { ownerNamespaced: true, objectNamespaced: true };
      const owned = withControllerReference(secret, owner, scopes);
      await client.apply(owned, { fieldManager: 'secret-keeper', force: true });
      return done();
    });
}

async function run(controllers: readonly Controller[]) {
  const clock = new VirtualClock();
  const cluster = await EmbeddedCluster.start({ clock });
  const stop = new AbortController();
  const client = cluster.client({ user: 'operator' });
  const manager = new Manager({ client, clock, rbacPreflight: 'off' });
  for (const controller of controllers) manager.add(controller);
  const running = manager.run(stop.signal);
  await manager.whenLeading();
  const end = async (): Promise<void> => {
    stop.abort();
    await Promise.all([running, clock.advance(0)]);
    await cluster.stop();
    expect(clock.pendingTimers).to.equal(0);
  };
  return { clock, cluster, end, person: cluster.client({ user: 'person' }) };
}

describe('Controllers on the embedded cluster', () => {
  it('converge, undo changes by others, and send no requests when nothing changes', async () => {
    const { clock, cluster, end, person } = await run([secretKeeper()]);
    const value = async (name: string): Promise<string> => {
      const { data = {} } = await person.get(Secret, { namespace: 'default', name });
      return Buffer.from(data['value'] ?? '', 'base64').toString();
    };
    for (let n = 0; n < 20; n++) await person.create(configMap(`m${n}`, { secret: `s${n}` }));
    await clock.advance(100);
    expect(await value('m7')).to.equal('s7');
    const ofOperator = (): number =>
      cluster.requests.entries.filter(({ user }) => user === 'operator').length;
    const writes = cluster.requests.entries.filter(
      ({ user, verb }) => user === 'operator' && verb === 'patch',
    );
    expect(writes.length).to.equal(20);

    await person.delete(Secret, { namespace: 'default', name: 'm3' });
    await clock.advance(100);
    expect(await value('m3')).to.equal('s3');

    await person.apply(configMap('m4', { secret: 'new' }), { fieldManager: 'p', force: true });
    await clock.advance(100);
    expect(await value('m4')).to.equal('new');

    const before = ofOperator();
    await clock.advance(60_000);
    expect(ofOperator()).to.equal(before);
    await end();
  });

  it('evict a Pod and create many access reviews, whose answers are not stored objects', async () => {
    const namespace = 'default';
    const [answers, events]: [unknown[], ControllerEvent[]] = [[], []];
    const evictor = controllerFor(ConfigMap)
      .withOptions({ name: 'evictor', onEvent: (event) => events.push(event) })
      .complete(async ({ key, client }) => {
        const review = {
          ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
          ...{ metadata: {}, spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
        };
        for (let n = 0; n < 20; n++) answers.push((await client.create(review)).kind);
        const metadata = { namespace, name: key.name };
        const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata };
        answers.push((await client.create(eviction, { subresource: 'eviction' })).kind);
        return done();
      });
    const { clock, end, person } = await run([evictor]);
    await person.create<Pod>({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    });
    await person.create(configMap('web'));
    await clock.advance(100);
    const reviews = Array.from({ length: 20 }, () => 'SelfSubjectAccessReview');
    expect(answers).to.deep.equal([...reviews, 'Status']);
    expect(events.map(({ type }) => type)).to.deep.equal(['reconciled']);
    expect(events[0]).to.include({ outcome: 'success' });
    expect((await person.list(Pod)).items).to.deep.equal([]);
    await end();
  });
});
