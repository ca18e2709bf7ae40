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

describe('services', () => {
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

  it('have Endpoints whose ports are checked', async () => {
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

  it('keep a hidden internalTrafficPolicy while they are ExternalNames', async () => {
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

  it('allocate an address with a number of lookups independent of other Services', async () => {
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

  it('remain headless', async () => {
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

  it('lose their node ports with a change of type', async () => {
    const api = new Api();
    await api.create(services, service('a', { type: 'NodePort' }));
    const patch = { spec: { type: 'ClusterIP' } };
    const { body } = await api.call('PATCH', `${services}/a`, patch, merge);
    expect(specOf(body).ports[0]).not.to.have.property('nodePort');
  });

  it('refuse an address that is allocated or out of range', async () => {
    const api = new Api();
    await api.create(services, service('a', { clusterIP: '10.96.7.7' }));
    const taken = await api.call('POST', services, service('b', { clusterIP: '10.96.7.7' }));
    const outside = await api.call('POST', services, service('b', { clusterIP: '10.1.0.1' }));
    for (const answer of [taken, outside]) {
      expect(causeFields(answer)).to.deep.equal(['spec.clusterIPs']);
    }
  });

  it('allocate no address in a dry run or for a refused object', async () => {
    const api = new Api();
    const body = service('a', { clusterIP: '10.96.7.7' });
    expect((await api.call('POST', `${services}?dryRun=All`, body)).code).to.equal(201);
    const wrong = service('a', { clusterIP: '10.96.7.7', ports: [{ port: 0 }] });
    expect((await api.call('POST', services, wrong)).code).to.equal(422);
    await api.create(services, service('b', { clusterIP: '10.96.7.7' }));
  });

  it('refuse the first and the last address of the range, and addresses of IPv6', async () => {
    const api = new Api();
    const why = async (clusterIP: string, query = ''): Promise<unknown> =>
      causeMessages(await api.call('POST', services + query, service('a', { clusterIP })));
    for (const ip of ['10.96.0.0', '10.96.255.255', '10.1.0.1']) {
      const start = `Invalid value: ["${ip}"]: failed to allocate IP ${ip}: `;
      expect(await why(ip)).to.deep.equal({
        'spec.clusterIPs': `${start}the provided network does not match the current range`,
      });
      expect(await why(ip, '?dryRun=All')).to.deep.equal({
        'spec.clusterIPs': `${start}the provided IP (${ip}) is not in the valid range. The range of valid IPs is 10.96.0.0/16`,
      });
    }
    expect(await why('2001:db8::1')).to.deep.equal({
      'spec.clusterIPs[0]':
        'Invalid value: ["2001:db8::1"]: IPv6 is not configured on this cluster',
    });
  });

  it('show stand-ins for allocated values in dry runs', async () => {
    const api = new Api();
    const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    const { body } = await api.call('POST', `${services}?dryRun=All`, service('a', spec));
    expect(body['spec']).to.include({ clusterIP: '10.96.0.0', healthCheckNodePort: 32_770 });
    expect(specOf(body).ports[0]?.nodePort).to.equal(32_769);
  });

  it('accept any free node port in a dry run, even out of the range', async () => {
    const api = new Api();
    const spec = (nodePort: number): object => ({
      type: 'NodePort',
      ports: [{ port: 80, nodePort }],
    });
    const dry = `${services}?dryRun=All`;
    expect((await api.call('POST', dry, service('a', spec(40_000)))).code).to.equal(201);
    expect((await api.call('POST', services, service('a', spec(40_000)))).code).to.equal(422);
    await api.create(services, service('a', spec(30_080)));
    expect((await api.call('POST', dry, service('b', spec(30_080)))).code).to.equal(422);
    const path = `${services}/a?dryRun=All`;
    const patched = await api.call('PATCH', path, { spec: spec(40_000) }, merge);
    expect(specOf(patched.body).ports[0]?.nodePort).to.equal(40_000);
    const applied = { apiVersion: 'v1', kind: 'Service', ...service('c', spec(40_000)) };
    const query = '?dryRun=All&fieldManager=m';
    expect((await api.call('PATCH', `${services}/c${query}`, applied, apply)).code).to.equal(201);
    expect(
      (await api.call('PUT', `${services}/d?dryRun=All`, service('d', spec(1)))).code,
    ).to.equal(201);
  });

  it('share a node port among the protocols of a port only', async () => {
    const api = new Api();
    const dns = [
      { port: 53, name: 'a' },
      { port: 53, name: 'b', protocol: 'UDP' },
    ];
    const created = await api.create(services, service('a', { type: 'NodePort', ports: dns }));
    const [first, second] = specOf(created).ports;
    expect(first?.nodePort).to.equal(second?.nodePort);
    const kept = await api.call(
      'PUT',
      `${services}/a`,
      service('a', { type: 'NodePort', ports: dns }),
    );
    expect(specOf(kept.body).ports).to.deep.equal(specOf(created).ports);
    const udp = [{ port: 53, protocol: 'UDP', nodePort: first?.nodePort }];
    const other = await api.call('POST', services, service('b', { type: 'NodePort', ports: udp }));
    expect(causeFields(other)).to.deep.equal(['spec.ports[0].nodePort']);
  });

  it('allocate, keep and free the port of health checks', async () => {
    const api = new Api();
    const spec = (healthCheckNodePort?: number): object => ({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      ...(healthCheckNodePort !== undefined && { healthCheckNodePort }),
    });
    const drawn = (await api.create(services, service('drawn', spec())))['spec'];
    expect((drawn as { healthCheckNodePort: number }).healthCheckNodePort).to.be.within(
      30_086,
      32_767,
    );
    await api.create(services, service('a', spec(30_080)));
    const taken = await api.call('POST', services, service('b', spec(30_080)));
    expect(taken.body).to.include({
      reason: 'InternalError',
      message:
        'Internal error occurred: failed to allocate requested HealthCheck NodePort 30080: provided port is already allocated',
    });
    const { body } = await api.call('PUT', `${services}/a`, service('a', spec()));
    expect(body['spec']).to.include({ healthCheckNodePort: 30_080 });
    const changed = await api.call('PUT', `${services}/a`, service('a', spec(30_081)));
    expect(causeMessages(changed)).to.deep.equal({
      'spec.healthCheckNodePort': 'Forbidden: field is immutable',
    });
    const patch = { spec: { externalTrafficPolicy: 'Cluster' } };
    const freed = await api.call('PATCH', `${services}/a`, patch, merge);
    expect(freed.body['spec']).to.not.have.property('healthCheckNodePort');
    await api.create(services, service('b', spec(30_080)));
  });

  it('keep a node port in an update only if both types allocate node ports', async () => {
    const api = new Api();
    const bare = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false };
    const chosen = { ...bare, ports: [{ port: 80, nodePort: 30_080 }] };
    const created = await api.create(services, service('a', chosen));
    expect(specOf(created).ports[0]?.nodePort).to.equal(30_080);
    const { body } = await api.call('PUT', `${services}/a`, service('a', bare));
    expect(specOf(body).ports[0]).to.not.have.property('nodePort');
    const node = { ...service('a', { type: 'NodePort' }) };
    const drawn = await api.call('PUT', `${services}/a`, node);
    expect(specOf(drawn.body).ports[0]?.nodePort).to.be.within(30_086, 32_767);
  });

  it('refuse one node port for two ports of an update', async () => {
    const api = new Api();
    await api.create(services, service('a', { type: 'NodePort' }));
    const ports = [
      { port: 80, name: 'a', nodePort: 30_080 },
      { port: 81, name: 'b', nodePort: 30_080 },
    ];
    const answer = await api.call('PATCH', `${services}/a`, { spec: { ports } }, merge);
    expect(answer.body).to.include({ code: 500, message: 'duplicate nodePort: {TCP 30080}' });
  });

  it('lose the status of a load balancer with a change of type', async () => {
    const api = new Api();
    await api.create(services, service('a', { type: 'LoadBalancer' }));
    const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } };
    await api.call('PATCH', `${services}/a/status`, { status }, merge);
    const patch = { spec: { type: 'NodePort' } };
    const { body } = await api.call('PATCH', `${services}/a`, patch, merge);
    expect(body['status']).to.deep.equal({ loadBalancer: {} });
  });

  it('keep the class of their load balancer', async () => {
    const api = new Api();
    const balancer = (loadBalancerClass: string): object =>
      service('a', { type: 'LoadBalancer', loadBalancerClass });
    const odd = await api.call('POST', services, balancer('a b'));
    expect(causeFields(odd)).to.deep.equal(['spec.loadBalancerClass']);
    await api.create(services, balancer('example.com/a'));
    const changed = await api.call('PUT', `${services}/a`, balancer('example.com/b'));
    expect(causeMessages(changed)).to.deep.equal({
      'spec.loadBalancerClass': 'Invalid value: "example.com/b": may not change once set',
    });
  });

  const families: [string, object, object][] = [
    [
      'a family of another address',
      { clusterIP: '10.96.7.7', ipFamilies: ['IPv6'] },
      { 'spec.clusterIPs[0]': 'expected an IPv6 value as indicated by `ipFamilies[0]`' },
    ],
    [
      'two families for one stack',
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'SingleStack' },
      {
        'spec.ipFamilyPolicy':
          "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
      },
    ],
    [
      'a family that the cluster lacks',
      { ipFamilies: ['IPv6'] },
      { 'spec.ipFamilies[0]': 'not configured on this cluster' },
    ],
    [
      'two addresses of a family',
      { clusterIP: '10.96.7.7', clusterIPs: ['10.96.7.7', '10.96.7.8'] },
      { 'spec.clusterIPs': 'may specify no more than one IP for each IP family' },
    ],
  ];
  for (const [what, spec, messages] of families) {
    it(`are refused with ${what}`, async () => {
      const answer = await new Api().call('POST', services, service('a', spec));
      const found = Object.entries(causeMessages(answer)).map(([field, message]) => [
        field,
        message.replace(/^Invalid value: (?:"[^"]*"|\[.*?\]): /, ''),
      ]);
      expect(Object.fromEntries(found)).to.deep.equal(messages);
    });
  }

  it('have two families without a selector and an address, unless they want one', async () => {
    const api = new Api();
    const bare = (name: string, spec: object = {}): object =>
      service(name, { clusterIP: 'None', selector: {}, ...spec });
    const both = { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' };
    const created = await api.create(services, bare('a', { ipFamilies: ['IPv6'] }));
    expect(created['spec']).to.deep.include(both);
    const reduced = await api.call('PUT', `${services}/a`, bare('a', { ipFamilies: ['IPv6'] }));
    expect(causeFields(reduced)).to.deep.equal(['spec.ipFamilyPolicy']);
    const single = { ...both, ipFamilyPolicy: 'SingleStack' };
    const { body } = await api.call('PUT', `${services}/a`, bare('a', single));
    expect(body['spec']).to.deep.include({ ...single, ipFamilies: ['IPv6'] });
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

  it('do not change when applied twice', async () => {
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
