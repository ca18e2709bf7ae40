import { EventRecorder } from '../../lib/events/event-recorder.js';
import { use, expect } from 'chai';
import { setControllerReference } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { operatorAssertions, testCluster } from '../../lib/testing/index.js';

use(operatorAssertions);

const object: UnstructuredObject = {
  ...{ apiVersion: 'v1', kind: 'Shop' },
  metadata: {
    ...{ namespace: 'default', name: 'a', labels: { app: 'web' } },
    ...{ annotations: { note: '' }, finalizers: ['example.com/hold'] },
  },
  status: {
    conditions: [{ type: 'Available', status: 'False', reason: 'Waiting', message: 'for a pod' }],
  },
};

describe('operatorAssertions', () => {
  const cluster = testCluster({ simulateWorkloads: false });
  const named = (name: string): ConfigMap => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } },
  });

  it('count requests in a cluster, in its log and in entries', async () => {
    const client = cluster().client({ user: 'shop' });
    await client.create(named('a'));
    const mark = cluster().requests.mark();
    await client.list(ConfigMap, { namespace: 'default' });
    expect(cluster()).to.have.writes(1);
    expect(cluster()).to.have.requests({ verb: 'create', resource: 'configmaps' }, 1);
    expect(cluster().requests.since(mark)).to.have.writes(0);
    expect(cluster().requests.since(mark)).to.have.reads(1, { user: 'shop' });
    expect(cluster().requests.entries).to.have.requests({ user: 'another client' }, 0);
    expect(cluster()).not.to.have.writes(0);
  });

  it('count the writes of Events only if the filter names them', async () => {
    const client = cluster().client({ user: 'shop' });
    const shop = await client.create(named('a'));
    const recorder = new EventRecorder({ client, controllerName: 'shop', clock: cluster().clock });
    const mark = cluster().requests.mark();
    const event = { type: 'Normal', reason: 'Opened', action: 'Open', note: 'opened' } as const;
    recorder.record({ ...event, regarding: shop });
    await recorder.flush();
    expect(cluster().requests.since(mark)).to.have.writes(0);
    expect(cluster().requests.since(mark)).to.have.writes(1, { resource: 'events' });
    await recorder.stop();
  });

  it('list the requests that they found', async () => {
    await cluster().client({ user: 'shop' }).create(named('a'));
    const budget = (): unknown => expect(cluster()).to.have.writes(0, { resource: 'configmaps' });
    const found =
      /0 writes { resource: configmaps }, got 1:\n {2}create configmaps default.* by shop → 201/;
    expect(budget).to.throw(found);
  });

  it('list at most 20 of the requests that they found, and count the rest', async () => {
    const client = cluster().client({ user: 'shop' });
    for (let index = 1; index <= 20; index++) await client.create(named(`m${index}`));
    const listed = (): readonly string[] => {
      try {
        expect(cluster()).to.have.writes(0, { resource: 'configmaps' });
        return [];
      } catch (error) {
        return (error as Error).message.split('\n').slice(1);
      }
    };
    expect(listed()).to.have.length(20);
    expect(listed().at(-1)).to.equal('  create configmaps default by shop → 201');
    for (const name of ['m21', 'm22']) await client.create(named(name));
    expect(listed()).to.have.length(21);
    expect(listed().at(-1)).to.equal('  … and 2 more');
  });

  it('refuse a budget that no request can break', () => {
    const refused: readonly (readonly [() => unknown, string])[] = [
      [() => expect(cluster()).to.have.writes(0, { resource: 'ConfigMap' }), 'the plural'],
      [() => expect(cluster()).not.to.have.writes(undefined as never), 'a whole number'],
      [() => expect(cluster()).not.to.have.reads(NaN), 'a whole number'],
      [() => expect(cluster()).to.have.requests({ verb: 'apply' as never }, 0), 'is a patch'],
      [
        () => expect(cluster()).to.have.requests({ kind: 'a' } as never, 0),
        'unknown option "kind"',
      ],
    ];
    for (const [budget, problem] of refused) expect(budget).to.throw(problem);
    expect(cluster()).to.have.requests({ resource: '/openapi/v3/apis/OTHER' }, 0);
  });

  it('check conditions by type, status and reason', () => {
    expect(object).to.have.condition('Available');
    expect(object).to.have.condition('Available', 'False', 'Waiting');
    expect(object).not.to.have.condition('Available', 'True');
    expect(object).not.to.have.condition('Ready');
    expect(() => expect(object).to.have.condition('Available', 'True')).to.throw(
      'expected Shop default/a to have condition Available True, got Available False Waiting: for a pod',
    );
    expect(() => expect(object).to.have.condition('Ready')).to.throw('got only Available');
  });

  it('check finalizers, labels and annotations', () => {
    expect(object).to.have.finalizer('example.com/hold').and.not.to.have.finalizer('other');
    expect(object).to.have.label('app', 'web').and.to.have.label('app');
    expect(object).not.to.have.label('app', 'db');
    expect(object).to.have.annotation('note', '').and.not.to.have.annotation('toString');
    expect(() => expect(object).to.have.label('app', 'db')).to.throw(
      'app=db among its labels, got web',
    );
  });

  it('check the controller by its UID', async () => {
    const client = cluster().client();
    const owner = await client.create(named('owner'));
    const owned = await setControllerReference(client, named('a'), owner);
    expect(owned).to.be.controlledBy(owner);
    const later = { ...owner, metadata: { ...owner.metadata, uid: '2' } };
    expect(owned).not.to.be.controlledBy(later);
    expect(() => expect(owned).to.be.controlledBy(later)).to.throw(
      /UID [0-9a-f-]+ where 2 is wanted/,
    );
  });

  it('reject values of other types', () => {
    expect(() => expect(7).to.have.writes(0)).to.throw(TypeError);
    expect(() => expect('a').to.have.condition('Ready')).to.throw(TypeError);
  });
});
