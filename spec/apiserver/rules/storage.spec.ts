import { expect } from 'chai';
import { Api, merge } from '../api.js';
import type { Answer } from '../api.js';
import { causeFields } from '../causes.js';

const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const classes = '/apis/storage.k8s.io/v1/storageclasses';

function claim(name: string, spec: object = {}): object {
  const resources = { requests: { storage: '1Gi' } };
  return { metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources, ...spec } };
}

async function bound(api: Api, storageClassName: string): Promise<void> {
  await api.create(claims, claim('a', { storageClassName }));
  const status = { phase: 'Bound', capacity: { storage: '1Gi' } };
  await api.call('PATCH', `${claims}/a/status`, { status }, merge);
}

async function withClasses(): Promise<Api> {
  const api = new Api();
  const provisioner = 'example.com/disk';
  await api.create(classes, { metadata: { name: 'fixed' }, provisioner });
  const elastic = { metadata: { name: 'elastic' }, provisioner, allowVolumeExpansion: true };
  await api.create(classes, elastic);
  return api;
}

function grow(api: Api, storage: string): Promise<Answer> {
  const spec = { resources: { requests: { storage } } };
  return api.call('PATCH', `${claims}/a`, { spec }, merge);
}

describe('PersistentVolumeClaims', () => {
  it('receive defaults and the protection finalizer', async () => {
    const created = await new Api().create(claims, claim('a'));
    expect(created).to.deep.include({ status: { phase: 'Pending' } });
    expect(created).to.have.nested.property('spec.volumeMode', 'Filesystem');
    expect(created.metadata.finalizers).to.deep.equal(['kubernetes.io/pvc-protection']);
  });

  it('receive the default class', async () => {
    const api = new Api();
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const metadata = { name: 'standard', annotations };
    await api.create(classes, { metadata, provisioner: 'example.com/disk' });
    const created = await api.create(claims, claim('a'));
    expect(created).to.have.nested.property('spec.storageClassName', 'standard');
  });

  it('expand if they are bound and their class allows it', async () => {
    const api = await withClasses();
    await bound(api, 'elastic');
    expect((await grow(api, '2Gi')).code).to.equal(200);
  });

  it('answer 403 to expansion when their class does not allow it', async () => {
    const api = await withClasses();
    await bound(api, 'fixed');
    const { code, body } = await grow(api, '2Gi');
    expect([code, body['reason']]).to.deep.equal([403, 'Forbidden']);
    expect(body.message).to.contain('only dynamically provisioned pvc can be resized');
  });

  it('answer 422 to expansion before they are bound', async () => {
    const api = await withClasses();
    await api.create(claims, claim('a', { storageClassName: 'elastic' }));
    const answer = await grow(api, '2Gi');
    expect([answer.code, ...causeFields(answer)]).to.deep.equal([422, 'spec']);
  });

  it('never shrink below their capacity', async () => {
    const api = await withClasses();
    await bound(api, 'elastic');
    const answer = await grow(api, '500Mi');
    expect(answer.code).to.equal(422);
    expect(causeFields(answer)).to.deep.equal(['spec.resources.requests.storage']);
  });

  it('refuse other changes of their spec', async () => {
    const api = await withClasses();
    await bound(api, 'elastic');
    const patch = { spec: { accessModes: ['ReadOnlyMany'] } };
    const answer = await api.call('PATCH', `${claims}/a`, patch, merge);
    expect(causeFields(answer)).to.deep.equal(['spec']);
  });
});

describe('CSIDrivers', () => {
  it('lose fields of features that are disabled', async () => {
    const api = new Api();
    const drivers = '/apis/storage.k8s.io/v1/csidrivers';
    const spec = { preventPodSchedulingIfMissing: true, attachRequired: false };
    const created = await api.create(drivers, { metadata: { name: 'a' }, spec });
    expect(created['spec']).to.include({ attachRequired: false });
    expect(created['spec']).not.to.have.property('preventPodSchedulingIfMissing');
    const { body } = await api.call('PATCH', `${drivers}/a`, { spec }, merge);
    expect(body['spec']).not.to.have.property('preventPodSchedulingIfMissing');
  });
});
