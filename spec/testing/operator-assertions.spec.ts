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

  it('count requests of a cluster, of its request log, and of a list of its entries', async () => {
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

  it('count writes of Events only if the filter names Events', async () => {
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

  it('list the requests that they counted', async () => {
    await cluster().client({ user: 'shop' }).create(named('a'));
    const budget = (): unknown => expect(cluster()).to.have.writes(0, { resource: 'configmaps' });
    const found =
      /0 writes { resource: configmaps }, got 1:\n {2}create configmaps default.* by shop → 201/;
    expect(budget).to.throw(found);
  });

  it('list at most 20 of the requests that they counted, and count the rest', async () => {
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

  it('refuse arguments with which the assertion could never fail', () => {
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

  it('describe the expected and the actual state in their error messages', async () => {
    const client = cluster().client({ user: 'shop' });
    await client.create(named('a'));
    const conditions = [
      ...(object.status as { conditions: object[] }).conditions,
      { type: 'Idle' },
    ];
    const bare: UnstructuredObject = { apiVersion: 'v1', kind: 'Shop', metadata: { name: 'b' } };
    const other = { kind: 'Other', name: 'x', apiVersion: 'v1', uid: '7' };
    const owned = {
      ...bare,
      metadata: { name: 'b', ownerReferences: [other, { ...other, name: 'y', controller: true }] },
    };
    const many = { ...object, metadata: { ...object.metadata, finalizers: ['a/b', 'c/d'] } };
    const failures: readonly (readonly [() => unknown, string])[] = [
      [
        () => expect(cluster()).to.have.reads(1, { user: 'x', verb: 'get', name: undefined }),
        'expected 1 reads { user: x, verb: get }, got 0',
      ],
      [
        () => expect(cluster()).not.to.have.writes(1, { user: 'shop' }),
        'expected not to find 1 writes { user: shop }',
      ],
      [
        () => expect(cluster()).to.have.requests({ user: 'shop' }, 0),
        'expected 0 requests { user: shop }, got 1:\n  create configmaps default by shop → 201',
      ],
      [
        () =>
          expect({ ...object, status: { conditions } }).to.have.condition('Ready', 'True', 'Up'),
        'expected Shop default/a to have condition Ready True Up, got only Available, Idle',
      ],
      [
        () => expect(object).not.to.have.condition('Available', 'False'),
        'expected Shop default/a not to have condition Available False',
      ],
      [
        () => expect(object).to.have.condition('Available', 'False', 'Other'),
        'expected Shop default/a to have condition Available False Other, got Available False Waiting: for a pod',
      ],
      [
        () => expect(bare).to.have.condition('Ready'),
        'expected Shop b to have condition Ready, got only none',
      ],
      [
        () => expect(bare).to.be.controlledBy(object),
        'expected Shop b to be controlled by Shop default/a, got no controller, UID none where none is wanted',
      ],
      [
        () => expect(owned).to.be.controlledBy(object),
        'expected Shop b to be controlled by Shop default/a, got Other y, UID 7 where none is wanted',
      ],
      [
        () => expect(many).to.have.finalizer('e/f'),
        'expected Shop default/a to have finalizer e/f, got a/b, c/d',
      ],
      [
        () => expect(bare).to.have.finalizer('e/f'),
        'expected Shop b to have finalizer e/f, got none',
      ],
      [
        () => expect(many).not.to.have.finalizer('a/b'),
        'expected Shop default/a not to have finalizer a/b',
      ],
      [
        () => expect(bare).to.have.label('app'),
        'expected Shop b to have app among its labels, got none',
      ],
      [
        () => expect(object).not.to.have.label('app', 'web'),
        'expected Shop default/a not to have app=web among its labels',
      ],
      [
        () => expect(object).to.have.annotation('note', 'x'),
        'expected Shop default/a to have note=x among its annotations, got ',
      ],
      [
        () => expect(7).to.have.reads(0),
        '.reads() wants a request log, a cluster or a list of its entries',
      ],
      [
        () => expect(null).to.have.requests({}, 0),
        '.requests() wants a request log, a cluster or a list of its entries',
      ],
      [
        () => expect(null).to.have.label('a'),
        'this assertion is for Kubernetes objects; pass one to expect(…)',
      ],
      [
        () => expect([]).to.have.writes(-1),
        '.writes(): count: want a whole number, at least 0, got -1',
      ],
      [
        () => expect([]).to.have.writes(0, { verb: 'apply' as never }),
        '.writes(): verb: want get, list, watch, create, update, patch, delete, deletecollection (an apply is a patch), got "apply"',
      ],
      [
        () => expect([]).to.have.writes(0, { resource: 'pods/status' }),
        '.writes(): resource: want the plural, such as configmaps, without its subresource, got "pods/status"',
      ],
    ];
    for (const [assert, message] of failures) {
      expect(assert).to.throw().with.property('message', message);
    }
  });

  it('select requests by each field of a filter', () => {
    const entry = (more: object) => ({
      ...{ verb: 'get', resource: 'pods', subresource: undefined, namespace: 'n', name: 'a' },
      ...{ user: 'u', code: 200, ...more },
    });
    const others = [
      { verb: 'patch' },
      { resource: 'nodes' },
      { subresource: 'status' },
      { namespace: 'm' },
      { name: 'b' },
      { user: 'v' },
    ] as const;
    const log = [entry({}), ...others.map(entry)];
    expect(log).to.have.requests({}, 7);
    for (const other of others) {
      expect(log).to.have.requests(other, 1);
      const [field = ''] = Object.keys(other);
      const usual = { ...entry({}), subresource: '' }[field as 'verb'];
      expect(log).to.have.requests({ [field]: usual }, 6);
    }
    expect(log).to.have.reads(6).and.to.have.writes(1);
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

  it('refuse actual values of a type that they cannot check', () => {
    expect(() => expect(7).to.have.writes(0)).to.throw(TypeError);
    expect(() => expect('a').to.have.condition('Ready')).to.throw(TypeError);
  });
});
