import { expect } from 'chai';
import { forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { shardingAccess } from '../../../lib/manager/sharding/sharding.js';
import { Lease } from '../../../lib/object/kinds.js';
import { rememberingLogger } from '../manager-setup.js';
import type { LogLine } from '../manager-setup.js';
import { ReplicaGroup, times } from './sharding-setup.js';

describe('The Leases of shards', () => {
  let group: ReplicaGroup;

  beforeEach(async () => {
    group = await ReplicaGroup.start();
  });
  afterEach(() => group.stop());

  /** Returns a client that records each request of `client`. */
  function recording(client: Client, requests: unknown[]): Client {
    return {
      ...forwarding(client),
      list: (type, { signal, ...options } = {}) => {
        expect(signal?.aborted).to.equal(false);
        requests.push(['list', type.kind, options]);
        return client.list(type, { ...options, signal });
      },
      create: (object, options) => {
        requests.push(['create', object]);
        return client.create(object, options);
      },
      patch: (type, key, patch, options) => {
        requests.push(['patch', type.kind, key, patch]);
        return client.patch(type, key, patch, options);
      },
      delete: (type, key, options) => {
        requests.push(['delete', type.kind, key, options?.preconditions]);
        return client.delete(type, key, options);
      },
    };
  }

  it('are listed, created, renewed, released and deleted by exactly these requests', async () => {
    const requests: unknown[] = [];
    const first = group.replica({ identity: 'me' }, (client) => recording(client, requests));
    const lease = async (name: string): Promise<Lease> =>
      group.admin.get(Lease, { namespace: 'default', name });
    const taken = (): unknown[] => requests.splice(0);
    await group.clock.advance(0);
    const { member } = first.sharding.status();
    const label = { 'operator-builder.io/shards': 'operator' };
    const typeMeta = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
    const all = { namespace: 'default', labelSelector: 'operator-builder.io/shards=operator' };
    const one = { namespace: 'default', fieldSelector: 'metadata.name=operator-shards' };
    const [begin, next] = ['2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.400000Z'];
    expect(taken()).to.deep.equal([
      ['list', 'Lease', all],
      ['list', 'Lease', one],
      [
        'create',
        {
          ...typeMeta,
          metadata: { name: member, namespace: 'default', labels: label, annotations: {} },
          spec: {
            ...{ holderIdentity: 'me', acquireTime: begin, leaseDurationSeconds: 3 },
            renewTime: begin,
          },
        },
      ],
    ]);
    const own = (await lease(member)).metadata;
    await group.clock.advance(400);
    const record = (await lease('operator-shards')).metadata;
    const assignment = { epoch: 1, members: [member], slots: '1024*0', awaited: {} };
    const renewal = (resourceVersion: unknown, acknowledged: string | null, renewTime: string) => {
      const annotations = { 'operator-builder.io/shards-acknowledged': acknowledged };
      const spec = { leaseDurationSeconds: 3, renewTime };
      const body = { metadata: { uid: own.uid, resourceVersion, annotations }, spec };
      return ['patch', 'Lease', { namespace: 'default', name: member }, { type: 'merge', body }];
    };
    const sent = taken() as readonly [string, ...unknown[]][];
    expect(sent.slice(0, 4)).to.deep.equal([
      ['list', 'Lease', all],
      renewal(own.resourceVersion, null, next),
      ['list', 'Lease', one],
      [
        'create',
        {
          ...typeMeta,
          metadata: {
            ...{ name: 'operator-shards', namespace: 'default', labels: label },
            annotations: { 'operator-builder.io/shards-assignment': JSON.stringify(assignment) },
          },
          spec: { holderIdentity: 'me', renewTime: next },
        },
      ],
    ]);
    const renewed = sent[4]?.[3] as { body: { metadata: { resourceVersion: unknown } } };
    const { resourceVersion } = renewed.body.metadata;
    expect(sent.slice(4)).to.deep.equal([renewal(resourceVersion, `${record.uid}/1`, next)]);

    const second = group.replica({ identity: 'other' });
    await group.clock.advance(2_000);
    const theirs = second.sharding.status().member;
    taken();
    second.stop();
    await group.clock.advance(2_000);
    const deletions = (taken() as readonly [string, ...unknown[]][]).filter(
      ([verb]) => verb === 'delete',
    );
    expect(deletions).to.have.length(1);
    expect(deletions[0]?.slice(1, 3)).to.deep.equal([
      'Lease',
      { namespace: 'default', name: theirs },
    ]);
    expect(deletions[0]?.[3]).to.have.keys('uid', 'resourceVersion');

    first.stop();
    await group.clock.advance(1_000);
    const last = (taken() as readonly [string, ...unknown[]][]).at(-1);
    const { uid } = own;
    const body = {
      metadata: {
        uid,
        resourceVersion: (last?.[3] as typeof renewed).body.metadata.resourceVersion,
      },
      spec: { holderIdentity: '' },
    };
    expect(last?.slice(3)).to.deep.equal([{ type: 'merge', body }]);
    expect((await lease(member)).spec?.holderIdentity ?? '').to.equal('');
  });

  it('are created again under another name when a renewal finds that they were deleted', async () => {
    const lines: LogLine[] = [];
    let isDoomed = false;
    const deleting = (client: Client): Client => ({
      ...forwarding(client),
      patch: async (type, key, patch, options) => {
        if (isDoomed) await group.admin.delete(Lease, { namespace: 'default', name: key.name });
        isDoomed = false;
        return client.patch(type, key, patch, options);
      },
    });
    const replica = group.replica({ logger: rememberingLogger(lines) }, deleting);
    const { sharding } = replica;
    await group.clock.advance(1_000);
    const { member } = sharding.status();
    isDoomed = true;
    await group.clock.advance(times.retryPeriodMs);
    expect(replica.owned()).to.equal(0);
    await group.clock.advance(times.leaseDurationMs + 4 * times.retryPeriodMs);
    expect(replica.owned()).to.equal(1_000);
    const joinsAgainAs = sharding.status().member;
    expect(joinsAgainAs).to.not.equal(member);
    expect(lines.map(({ level, message, fields }) => [level, message, fields])).to.deep.equal([
      ['warn', 'sharding: the Lease of this replica was taken over or deleted', { joinsAgainAs }],
    ]);
  });

  it('require the verbs list, create, patch and delete in their namespace', () => {
    expect(shardingAccess('ns')).to.deep.equal([
      { type: Lease, verbs: ['list', 'create', 'patch', 'delete'], namespace: 'ns' },
    ]);
  });
});
