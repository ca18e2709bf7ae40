import { expect } from 'chai';
import { Api, apply, merge } from '../api.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { causeFields, causeMessages } from '../causes.js';

const services = '/api/v1/namespaces/default/services';

function service(name: string, spec: object = {}): object {
  return { metadata: { name }, spec: { selector: { a: 'b' }, ports: [{ port: 80 }], ...spec } };
}

function portsOf(object: UnstructuredObject): readonly { readonly nodePort?: number }[] {
  return (object['spec'] as { ports: { nodePort?: number }[] }).ports;
}

describe('Services with addresses and ports', () => {
  it('are refused if their clusterIP is the first or the last of the range, outside the range, or IPv6', async () => {
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

  it('receive an address and node ports outside the ranges in a dry run', async () => {
    const api = new Api();
    const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    const { body } = await api.call('POST', `${services}?dryRun=All`, service('a', spec));
    expect(body['spec']).to.include({ clusterIP: '10.96.0.0', healthCheckNodePort: 32_770 });
    expect(portsOf(body)[0]?.nodePort).to.equal(32_769);
  });

  it('may set a nodePort outside the range in a dry run, but not a nodePort in use', async () => {
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
    expect(portsOf(patched.body)[0]?.nodePort).to.equal(40_000);
    const applied = { apiVersion: 'v1', kind: 'Service', ...service('c', spec(40_000)) };
    const query = '?dryRun=All&fieldManager=m';
    expect((await api.call('PATCH', `${services}/c${query}`, applied, apply)).code).to.equal(201);
    expect(
      (await api.call('PUT', `${services}/d?dryRun=All`, service('d', spec(1)))).code,
    ).to.equal(201);
  });

  it('may repeat a nodePort for another protocol, but not a nodePort of another Service', async () => {
    const api = new Api();
    const dns = [
      { port: 53, name: 'a' },
      { port: 53, name: 'b', protocol: 'UDP' },
    ];
    const created = await api.create(services, service('a', { type: 'NodePort', ports: dns }));
    const [first, second] = portsOf(created);
    expect(first?.nodePort).to.equal(second?.nodePort);
    const kept = await api.call(
      'PUT',
      `${services}/a`,
      service('a', { type: 'NodePort', ports: dns }),
    );
    expect(portsOf(kept.body)).to.deep.equal(portsOf(created));
    const udp = [{ port: 53, protocol: 'UDP', nodePort: first?.nodePort }];
    const other = await api.call('POST', services, service('b', { type: 'NodePort', ports: udp }));
    expect(causeFields(other)).to.deep.equal(['spec.ports[0].nodePort']);
  });

  it('keep their healthCheckNodePort in updates, and release it when they no longer need it', async () => {
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

  it('keep nodePorts that an update omits only if both the old and the new object allocate node ports', async () => {
    const api = new Api();
    const bare = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false };
    const chosen = { ...bare, ports: [{ port: 80, nodePort: 30_080 }] };
    const created = await api.create(services, service('a', chosen));
    expect(portsOf(created)[0]?.nodePort).to.equal(30_080);
    const { body } = await api.call('PUT', `${services}/a`, service('a', bare));
    expect(portsOf(body)[0]).to.not.have.property('nodePort');
    const node = { ...service('a', { type: 'NodePort' }) };
    const drawn = await api.call('PUT', `${services}/a`, node);
    expect(portsOf(drawn.body)[0]?.nodePort).to.be.within(30_086, 32_767);
    const bareAgain = await api.call('PUT', `${services}/a`, service('a', bare));
    expect(portsOf(bareAgain.body)[0]).to.not.have.property('nodePort');
  });

  it('set clusterIPs from clusterIP if an update changes only clusterIP', async () => {
    const api = new Api();
    const created = await api.create(services, service('a', { clusterIP: '10.96.50.1' }));
    const path = `${services}/a?dryRun=All`;
    const patched = (spec: object) => api.call('PATCH', path, { spec }, merge);
    expect(causeMessages(await patched({ clusterIP: '10.96.60.1' }))).to.deep.equal({
      'spec.clusterIPs[0]': 'Invalid value: ["10.96.60.1"]: may not change once set',
    });
    const external = { type: 'ExternalName', externalName: 'a.b', clusterIP: '' };
    const { code, body } = await patched(external);
    expect(code).to.equal(200);
    expect(body['spec']).to.not.have.any.keys('clusterIP', 'clusterIPs');
    const clusterIPs = ['10.96.60.1'];
    expect(causeMessages(await patched({ clusterIPs }))).to.deep.equal({
      'spec.clusterIPs': 'Invalid value: ["10.96.60.1"]: first value must match `clusterIP`',
    });
    for (const clusterIP of ['', '10.96.50.1']) {
      const spec = { ...(created['spec'] as object), ...external, clusterIP, clusterIPs };
      expect(causeMessages(await api.call('PUT', path, { ...created, spec }))).to.deep.equal({
        'spec.clusterIPs': 'Forbidden: may not be set for ExternalName services',
      });
    }
  });

  it('are refused with 500 if an update gives two ports the same nodePort', async () => {
    const api = new Api();
    await api.create(services, service('a', { type: 'NodePort' }));
    const ports = [
      { port: 80, name: 'a', nodePort: 30_080 },
      { port: 81, name: 'b', nodePort: 30_080 },
    ];
    const answer = await api.call('PATCH', `${services}/a`, { spec: { ports } }, merge);
    expect(answer.body).to.include({ code: 500, message: 'duplicate nodePort: {TCP 30080}' });
  });

  it('lose status.loadBalancer when their type changes', async () => {
    const api = new Api();
    await api.create(services, service('a', { type: 'LoadBalancer' }));
    const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } };
    await api.call('PATCH', `${services}/a/status`, { status }, merge);
    const patch = { spec: { type: 'NodePort' } };
    const { body } = await api.call('PATCH', `${services}/a`, patch, merge);
    expect(body['status']).to.deep.equal({ loadBalancer: {} });
  });

  it('lose loadBalancerClass when their type changes', async () => {
    const api = new Api();
    const loadBalancerClass = 'example.com/a';
    await api.create(services, service('a', { type: 'LoadBalancer', loadBalancerClass }));
    const patch = { spec: { type: 'ClusterIP' } };
    const { code, body } = await api.call('PATCH', `${services}/a`, patch, merge);
    expect(code).to.equal(200);
    expect(body['spec']).to.not.have.property('loadBalancerClass');
  });

  it('lose externalTrafficPolicy when the last external IP is removed', async () => {
    const api = new Api();
    const spec = { externalIPs: ['1.2.3.4'], externalTrafficPolicy: 'Local' };
    const created = await api.create(services, service('a', spec));
    expect(created['spec']).to.include({ externalTrafficPolicy: 'Local' });
    const patch = { spec: { externalIPs: null } };
    const { code, body } = await api.call('PATCH', `${services}/a`, patch, merge);
    expect(code).to.equal(200);
    expect(body['spec']).to.not.have.property('externalTrafficPolicy');
  });

  it('require a valid and immutable loadBalancerClass', async () => {
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
      'an IP family other than that of the clusterIP',
      { clusterIP: '10.96.7.7', ipFamilies: ['IPv6'] },
      { 'spec.clusterIPs[0]': 'expected an IPv6 value as indicated by `ipFamilies[0]`' },
    ],
    [
      'two IP families with the policy SingleStack',
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'SingleStack' },
      {
        'spec.ipFamilyPolicy':
          "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
      },
    ],
    [
      'an IP family that the cluster lacks',
      { ipFamilies: ['IPv6'] },
      { 'spec.ipFamilies[0]': 'not configured on this cluster' },
    ],
    [
      'two addresses of one IP family',
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

  it('have both IP families if they are headless without a selector, unless ipFamilyPolicy is SingleStack', async () => {
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

  it('keep both IP families in an update with ipFamilyPolicy PreferDualStack', async () => {
    const api = new Api();
    const bare = { clusterIP: 'None', selector: {}, ipFamilyPolicy: 'PreferDualStack' };
    await api.create(services, service('a', bare));
    const select = { spec: { selector: { a: 'b' } } };
    const { body } = await api.call('PATCH', `${services}/a`, select, merge);
    expect(body['spec']).to.deep.include({ ipFamilies: ['IPv4', 'IPv6'] });
    const turned = { spec: { ipFamilies: ['IPv6', 'IPv4'] } };
    const answer = await api.call('PATCH', `${services}/a`, turned, merge);
    expect(causeFields(answer)).to.deep.equal(['spec.ipFamilies[0]']);
  });

  it('reserve nodePorts only if their type has node ports', async () => {
    const api = new Api();
    const ports = [{ port: 80, nodePort: 30_080 }];
    const external = { type: 'ExternalName', externalName: 'example.com', ports };
    await api.create(services, service('a', external));
    await api.create(services, service('b', { type: 'NodePort', ports }));
    const moved = { spec: { type: 'ClusterIP', ports: [{ port: 80, nodePort: 30_081 }] } };
    const refused = await api.call('PATCH', `${services}/b`, moved, merge);
    expect(causeFields(refused)).to.deep.equal(['spec.ports[0].nodePort']);
    const patch = { spec: { type: 'ClusterIP', ports: [{ port: 81 }] } };
    await api.call('PATCH', `${services}/b`, patch, merge);
    await api.create(services, service('c', { type: 'NodePort', ports }));
  });

  it('are refused with a healthCheckNodePort that is invalid, or that their type does not use', async () => {
    const api = new Api();
    const why = async (spec: object): Promise<unknown> =>
      causeMessages(await api.call('POST', `${services}?dryRun=All`, service('a', spec)));
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    expect(await why({ ...local, healthCheckNodePort: 70_000 })).to.deep.equal({
      'spec.healthCheckNodePort': 'Invalid value: 70000: must be between 1 and 65535, inclusive',
    });
    expect(await why({ healthCheckNodePort: -1 })).to.deep.equal({
      'spec.healthCheckNodePort':
        "Invalid value: -1: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    });
  });

  it('may set a clusterIP that is in use only in a dry run', async () => {
    const api = new Api();
    const body = service('a', { clusterIP: '10.96.0.1' });
    expect((await api.call('POST', `${services}?dryRun=All`, body)).code).to.equal(201);
    expect((await api.call('POST', services, body)).code).to.equal(422);
  });
});
