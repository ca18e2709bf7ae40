import { expect } from 'chai';
import { Api, configMap, configMaps, merge } from '../api.js';
import { causeFields, causeMessages } from '../causes.js';

const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const events = '/apis/events.k8s.io/v1/namespaces/default/events';
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';

function owner(name: string, controller: boolean): object {
  return { apiVersion: 'v1', kind: 'Pod', name, uid: `uid-of-${name}`, controller };
}

describe('the metadata of an object', () => {
  it('accepts only one controller', async () => {
    const metadata = { ownerReferences: [owner('a', true), owner('b', true)] };
    const answer = await new Api().call('POST', configMaps, configMap('a', {}, metadata));
    expect(answer.code).to.equal(422);
    expect(causeFields(answer)).to.deep.equal(['metadata.ownerReferences']);
    expect(answer.body.message).to.contain('Only one reference can have Controller set to true');
  });

  it('requires complete owner references', async () => {
    const metadata = { ownerReferences: [{ apiVersion: 'v1', kind: '', name: '', uid: '' }] };
    const answer = await new Api().call('POST', configMaps, configMap('a', {}, metadata));
    const field = 'metadata.ownerReferences';
    expect(causeFields(answer)).to.deep.equal([`${field}.kind`, `${field}.name`, `${field}.uid`]);
  });

  const refused: [object, string][] = [
    [{ name: 'Upper' }, 'metadata.name'],
    [{ name: '' }, 'metadata.name'],
    [{ labels: { 'a b': 'c' } }, 'metadata.labels'],
    [{ labels: { a: 'x y' } }, 'metadata.labels'],
    [{ annotations: { 'a b': 'c' } }, 'metadata.annotations'],
    [{ finalizers: ['plain words'] }, 'metadata.finalizers'],
  ];
  for (const [metadata, field] of refused) {
    it(`is refused with ${JSON.stringify(metadata)}`, async () => {
      const answer = await new Api().call('POST', configMaps, configMap('a', {}, metadata));
      expect(answer.code).to.equal(422);
      expect(causeFields(answer)).to.include(field);
    });
  }

  it('has an immutable name, uid and creation time', async () => {
    const api = new Api();
    const { metadata } = await api.create(configMaps, configMap('a'));
    const patch = { metadata: { creationTimestamp: '2020-01-01T00:00:00Z', namespace: null } };
    const { body } = await api.call('PATCH', `${configMaps}/a`, patch, merge);
    expect(body.metadata).to.deep.include(metadata);
  });

  it('must have the name and the namespace in the path', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const name = await api.call('PUT', `${configMaps}/a`, configMap('b'));
    const metadata = { namespace: 'kube-system' };
    const namespace = await api.call('POST', configMaps, configMap('b', {}, metadata));
    expect([name.code, namespace.code]).to.deep.equal([400, 400]);
  });
});

describe('Leases', () => {
  it('keep the microseconds of their times', async () => {
    const api = new Api();
    const spec = { holderIdentity: 'me', renewTime: '2026-01-01T00:00:00.000012Z' };
    const created = await api.create(leases, { metadata: { name: 'a' }, spec });
    expect(created).to.deep.include({ spec });
    const wrong = { metadata: { name: 'a' }, spec: { renewTime: '2026-01-01T00:00:00Z' } };
    expect((await api.call('PUT', `${leases}/a`, wrong)).code).to.equal(400);
  });

  it('require a positive duration', async () => {
    const body = {
      metadata: { name: 'a' },
      spec: { leaseDurationSeconds: 0, leaseTransitions: -1 },
    };
    const answer = await new Api().call('POST', leases, body);
    expect(causeFields(answer)).to.deep.equal([
      'spec.leaseDurationSeconds',
      'spec.leaseTransitions',
    ]);
  });
});

describe('Events', () => {
  const event = {
    metadata: { name: 'a.1', namespace: 'default' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'example.com/operator',
    reportingInstance: 'operator-0',
    action: 'Reconcile',
    reason: 'Done',
    type: 'Normal',
    note: 'all is well',
    regarding: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'default' },
  };

  it('have the same content in the core API and in events.k8s.io', async () => {
    const api = new Api();
    await api.create(events, event);
    const { body } = await api.get('/api/v1/namespaces/default/events/a.1');
    expect(body).to.deep.include({
      message: 'all is well',
      reportingComponent: 'example.com/operator',
      involvedObject: event.regarding,
    });
    const selected = await api.get(
      '/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Da,reason%3DDone',
    );
    expect(selected.body.items).to.have.length(1);
  });

  it('accept only updates that change their series', async () => {
    const api = new Api();
    await api.create(events, event);
    const series = { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' };
    expect((await api.call('PATCH', `${events}/a.1`, { series }, merge)).code).to.equal(200);
    const answer = await api.call('PATCH', `${events}/a.1`, { note: 'x', reason: 'y' }, merge);
    expect(answer.code).to.equal(422);
    expect(causeFields(answer)).to.include.members(['reason', 'message']);
  });

  it('require reporting controller and action', async () => {
    const { reportingController, action, ...rest } = event;
    const answer = await new Api().call('POST', events, rest);
    expect([reportingController, action]).to.have.length(2);
    expect(causeFields(answer)).to.include.members(['reportingController', 'action']);
  });

  it('require a time and a type in events.k8s.io, and refuse the deprecated fields there', async () => {
    const api = new Api();
    const { eventTime, ...rest } = event;
    const time = '2026-01-01T00:00:00Z';
    const old = { deprecatedFirstTimestamp: time, deprecatedLastTimestamp: time };
    const unset = 'Invalid value: "": needs to be unset';
    const refused = await api.call('POST', events, {
      ...{ ...event, ...old, type: 'Other', series: { count: 1 } },
      ...{ deprecatedCount: 1, deprecatedSource: { host: 'a' } },
    });
    expect(refused.code).to.equal(422);
    expect(causeMessages(refused)).to.deep.equal({
      ...{ firstTimestamp: unset, lastTimestamp: unset, count: unset, source: unset },
      type: 'Invalid value: "": has invalid value: Other',
      'series.count': 'Invalid value: "": should be at least 2',
      'series.lastObservedTime': 'Required value',
    });
    const early = await api.call('POST', events, rest);
    expect(eventTime).to.be.a('string');
    expect(causeMessages(early)).to.deep.equal({ eventTime: 'Required value' });
    const core = '/api/v1/namespaces/default/events';
    const legacy = { firstTimestamp: time, lastTimestamp: time, count: 1, source: { host: 'a' } };
    const { metadata, regarding: involvedObject } = event;
    await api.create(core, { ...legacy, metadata, involvedObject });
  });
});

describe('RoleBindings', () => {
  it('have an immutable role', async () => {
    const api = new Api();
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' };
    const body = {
      metadata: { name: 'a' },
      roleRef,
      subjects: [{ kind: 'ServiceAccount', name: 's', namespace: 'default' }],
    };
    await api.create(`${rbac}/rolebindings`, body);
    const changed = { ...body, roleRef: { ...roleRef, name: 'b' } };
    const answer = await api.call('PUT', `${rbac}/rolebindings/a`, changed);
    expect(causeMessages(answer)['roleRef']).to.match(/: cannot change roleRef$/);
  });
});

describe('Namespaces', () => {
  it('cannot have the phase Terminating in their status while they are not being deleted', async () => {
    const api = new Api();
    const status = { status: { phase: 'Terminating' } };
    const answer = await api.call('PATCH', '/api/v1/namespaces/default/status', status, merge);
    expect(causeMessages(answer)).to.deep.equal({
      'status.Phase': `Invalid value: "Terminating": may only be 'Active' if \`deletionTimestamp\` is empty`,
    });
  });

  it('exist at start, with their name as a label', async () => {
    const api = new Api();
    const { body } = await api.get('/api/v1/namespaces');
    const names = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
    expect(body.items.map(({ metadata }) => metadata.name)).to.deep.equal(names);
    const created = await api.create('/api/v1/namespaces', { metadata: { name: 'x' } });
    expect(created.metadata.labels).to.deep.equal({ 'kubernetes.io/metadata.name': 'x' });
    expect(created).to.deep.include({
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  });
});
