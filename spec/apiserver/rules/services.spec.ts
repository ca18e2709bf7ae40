import { expect } from 'chai';
import { Api, apply, merge } from '../api.js';
import { Collection } from '../../../lib/apiserver/storage/mvcc-log.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { causeFields, causeMessages } from '../causes.js';

const services = '/api/v1/namespaces/default/services';

interface ServiceSpec {
  clusterIP: string;
  clusterIPs: string[];
  type: string;
  ports: { port: number; nodePort: number }[];
}

function service(name: string, spec: object = {}): object {
  return { metadata: { name }, spec: { selector: { a: 'b' }, ports: [{ port: 80 }], ...spec } };
}

function specOf(object: UnstructuredObject): ServiceSpec {
  return object['spec'] as ServiceSpec;
}

describe('Services', () => {
  it('receive a unique address and the defaults of a cluster', async () => {
    const api = new Api();
    const { clusterIP, ...spec } = specOf(await api.create(services, service('a')));
    expect(clusterIP).to.match(/^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$/);
    expect(spec).to.deep.equal({
      clusterIPs: [clusterIP],
      internalTrafficPolicy: 'Cluster',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      selector: { a: 'b' },
      sessionAffinity: 'None',
      type: 'ClusterIP',
    });
    const other = specOf(await api.create(services, service('b')));
    expect(other.clusterIP).not.to.equal(clusterIP);
  });

  it('keep their address in an update without it, and refuse to change it', async () => {
    const api = new Api();
    const { clusterIP } = specOf(await api.create(services, service('a')));
    const { body } = await api.call('PUT', `${services}/a`, service('a'));
    expect(specOf(body).clusterIP).to.equal(clusterIP);
    const patch = { spec: { clusterIP: '10.96.7.7', clusterIPs: ['10.96.7.7'] } };
    const answer = await api.call('PATCH', `${services}/a`, patch, merge);
    expect(causeFields(answer)).to.deep.equal(['spec.clusterIPs[0]']);
  });

  it('refuse Endpoints with invalid ports', async () => {
    const api = new Api();
    const path = '/api/v1/namespaces/default/endpoints';
    const ports = [{ port: 80 }, { name: 'Odd', port: 0, protocol: 'ODD', appProtocol: 'a/b/c' }];
    const subsets = [{ addresses: [{ ip: '10.0.0.1' }], ports }];
    const answer = await api.call('POST', path, { metadata: { name: 'a' }, subsets });
    const fields = ['name', 'appProtocol', 'name', 'port', 'protocol'];
    const [first, ...others] = fields.map((field, index) => `ports[${index && 1}].${field}`);
    expect(causeFields(answer).toSorted()).to.deep.equal(
      [first, ...others].map((field) => `subsets[0].${field ?? ''}`).toSorted(),
    );
    const one = { metadata: { name: 'b' }, subsets: [{ ...subsets[0], ports: [{ port: 80 }] }] };
    expect((await api.call('POST', path, one)).body.kind).to.equal('Endpoints');
  });

  it('keep internalTrafficPolicy stored while their type is ExternalName, but do not show it', async () => {
    const api = new Api();
    await api.create(services, service('a', { internalTrafficPolicy: 'Local' }));
    const since = api.server.resourceVersion;
    const external = { spec: { type: 'ExternalName', externalName: 'example.com' } };
    const answer = await api.call('PATCH', `${services}/a`, external, merge);
    expect(specOf(answer.body)).to.not.have.property('internalTrafficPolicy');
    const { body } = await api.get(`${services}/a`);
    const fields = JSON.stringify(body.metadata.managedFields);
    expect(fields).to.contain('f:internalTrafficPolicy');
    const { items } = (await api.get(services)).body;
    expect(items[0]?.['spec']).to.not.have.property('internalTrafficPolicy');
    const watch = await api.watch(`${services}?watch=true&resourceVersion=${since}`);
    const event = await watch.next();
    expect(event?.object['spec']).to.deep.equal(body['spec']);
    const back = { spec: { type: 'ClusterIP', externalName: null } };
    const again = await api.call('PATCH', `${services}/a`, back, merge);
    expect(specOf(again.body)).to.include({ internalTrafficPolicy: 'Local' });
    await api.server.stop();
  });

  it('are allocated an address with the same number of lookups, however many Services exist', async () => {
    const api = new Api();
    const create = (name: string): Promise<unknown> =>
      api.create(services, service(name, { type: 'NodePort' }));
    const few = await looks(() => create('a'));
    for (let n = 0; n < 200; n++) await create(`other-${n}`);
    expect(await looks(() => create('b'))).to.equal(few);
  });

  it('reuse the address of a deleted Service', async () => {
    const api = new Api();
    const fixed = {
      clusterIP: '10.96.7.7',
      type: 'NodePort',
      ports: [{ port: 80, nodePort: 30_500 }],
    };
    await api.create(services, service('a', fixed));
    const refused = await api.call('POST', services, service('b', fixed));
    expect(JSON.stringify(causeMessages(refused))).to.contain('provided IP is already allocated');
    const elsewhere = await api.call('POST', services, service('b', { ...fixed, clusterIP: '' }));
    expect(JSON.stringify(causeMessages(elsewhere))).to.contain(
      'provided port is already allocated',
    );
    await api.call('DELETE', `${services}/a`);
    expect(specOf(await api.create(services, service('b', fixed))).clusterIP).to.equal('10.96.7.7');
    const other = { ...fixed, clusterIP: '10.96.7.8', ports: [{ port: 80, nodePort: 30_501 }] };
    await api.create(services, service('c', other));
    const moved = { ...fixed, clusterIP: '10.96.7.7', ports: [{ port: 80, nodePort: 30_502 }] };
    await api.call('PUT', `${services}/b`, service('b', moved));
    const freed = { ...other, clusterIP: '10.96.7.9', ports: [{ port: 80, nodePort: 30_500 }] };
    expect(specOf(await api.create(services, service('d', freed))).ports[0]?.nodePort).to.equal(
      30_500,
    );
  });

  it('remain headless after an update without clusterIP', async () => {
    const api = new Api();
    const created = await api.create(services, service('a', { clusterIP: 'None' }));
    expect(specOf(created).clusterIPs).to.deep.equal(['None']);
    const { body } = await api.call('PUT', `${services}/a`, service('a'));
    expect(specOf(body).clusterIP).to.equal('None');
  });

  it('receive node ports, keep them, and release them when deleted', async () => {
    const api = new Api();
    const ports = [{ port: 80, nodePort: 30080 }];
    const body = service('a', { type: 'NodePort', ports });
    await api.create(services, body);
    const clash = await api.call('POST', services, service('b', { type: 'NodePort', ports }));
    expect(causeMessages(clash)).to.deep.equal({
      'spec.ports[0].nodePort': 'Invalid value: 30080: provided port is already allocated',
    });
    const { body: kept } = await api.call(
      'PUT',
      `${services}/a`,
      service('a', { type: 'NodePort' }),
    );
    expect(specOf(kept).ports[0]?.nodePort).to.equal(30080);
    await api.call('DELETE', `${services}/a`);
    await api.create(services, service('b', { type: 'NodePort', ports }));
    const free = await api.create(services, service('c', { type: 'LoadBalancer' }));
    expect(specOf(free).ports[0]?.nodePort).to.be.within(30000, 32767);
  });

  it('lose their node ports when their type changes', async () => {
    const api = new Api();
    await api.create(services, service('a', { type: 'NodePort' }));
    const patch = { spec: { type: 'ClusterIP' } };
    const { body } = await api.call('PATCH', `${services}/a`, patch, merge);
    expect(specOf(body).ports[0]).not.to.have.property('nodePort');
  });

  it('are refused with an address that is allocated or out of range', async () => {
    const api = new Api();
    await api.create(services, service('a', { clusterIP: '10.96.7.7' }));
    const taken = await api.call('POST', services, service('b', { clusterIP: '10.96.7.7' }));
    const outside = await api.call('POST', services, service('b', { clusterIP: '10.1.0.1' }));
    for (const answer of [taken, outside]) {
      expect(causeFields(answer)).to.deep.equal(['spec.clusterIPs']);
    }
  });

  it('do not reserve an address in a dry run, or if they are refused', async () => {
    const api = new Api();
    const body = service('a', { clusterIP: '10.96.7.7' });
    expect((await api.call('POST', `${services}?dryRun=All`, body)).code).to.equal(201);
    const wrong = service('a', { clusterIP: '10.96.7.7', ports: [{ port: 0 }] });
    expect((await api.call('POST', services, wrong)).code).to.equal(422);
    await api.create(services, service('b', { clusterIP: '10.96.7.7' }));
  });

  const refused: [string, object, string][] = [
    ['no ports', { ports: [] }, 'spec.ports'],
    [
      'a duplicate port',
      {
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 80 },
        ],
      },
      'spec.ports[1]',
    ],
    ['ports without names', { ports: [{ port: 80 }, { port: 81 }] }, 'spec.ports[0].name'],
    ['an invalid port', { ports: [{ port: 70000 }] }, 'spec.ports[0].port'],
    ['an invalid type', { type: 'Odd' }, 'spec.type'],
    [
      'the type ExternalName without an external name',
      { type: 'ExternalName' },
      'spec.externalName',
    ],
    [
      'a node port with the type ClusterIP',
      { ports: [{ port: 1, nodePort: 30000 }] },
      'spec.ports[0].nodePort',
    ],
  ];
  for (const [what, spec, field] of refused) {
    it(`are refused with ${what}`, async () => {
      const answer = await new Api().call('POST', services, service('a', spec));
      expect(answer.code).to.equal(422);
      expect(causeFields(answer)).to.include(field);
    });
  }

  it('do not change when the same configuration is applied twice', async () => {
    const api = new Api();
    const body = { apiVersion: 'v1', kind: 'Service', ...service('a') };
    const path = `${services}/a?fieldManager=m`;
    const first = await api.call('PATCH', path, body, apply);
    const second = await api.call('PATCH', path, body, apply);
    expect([first.code, second.code]).to.deep.equal([201, 200]);
    expect(second.body.metadata.resourceVersion).to.equal(first.body.metadata.resourceVersion);
  });
});

/** Returns how often `call` looks up stored objects. */
async function looks(call: () => Promise<unknown>): Promise<number> {
  const get = Reflect.get(Collection.prototype, 'get') as (
    this: Collection,
    key: string,
  ) => UnstructuredObject;
  let count = 0;
  Collection.prototype.get = function counted(key) {
    count += 1;
    return get.call(this, key);
  };
  try {
    await call();
  } finally {
    Collection.prototype.get = get;
  }
  return count;
}
