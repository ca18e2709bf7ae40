import { patch, post, put, remove, get } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

export const services = '/api/v1/namespaces/{{ns}}/services';
export const dry = '?dryRun=All';

/** A port and an address. They are unique in the cluster, so each scenario uses others. */
export interface Reserved {
  readonly port: number;
  readonly ip: string;
}

export function service(name: string, spec: object = {}): object {
  const whole = { selector: { app: 'a' }, ports: [{ port: 80 }], ...spec };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: whole };
}

export const create = (name: string, spec: object = {}, query = ''): Request =>
  post(services + query, service(name, spec));
export const replace = (name: string, spec: object = {}, query = ''): Request =>
  put(`${services}/${name}${query}`, service(name, spec));
export const merge = (name: string, spec: object, query = ''): Request =>
  patch('merge', `${services}/${name}${query}`, { spec });
export const applied = (name: string, spec: object, query = ''): Request =>
  patch(
    'apply',
    `${services}/${name}?fieldManager=a${query.replace('?', '&')}`,
    service(name, spec),
  );
export const read = (name: string): Request => get(`${services}/${name}`);
export const drop = (name: string, query = ''): Request => remove(`${services}/${name}${query}`);

export const node = (nodePort: number, more: object = {}): object => ({
  port: 80,
  nodePort,
  ...more,
});
export const nodes = (...ports: readonly object[]): object => ({ type: 'NodePort', ports });
export const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
export const external = { type: 'ExternalName', externalName: 'example.com' };

/** Node ports in creates. */
function nodePortCreates({ port }: Reserved): Request[] {
  const two = [node(port + 1, { name: 'a' }), node(port + 1, { name: 'b', port: 81 })];
  const mixed = [
    node(port + 2, { name: 'a' }),
    node(port + 2, { name: 'b', port: 80, protocol: 'UDP' }),
  ];
  return [
    ...[1, 29_999, 32_768, 65_535, 65_536, -1, 0].flatMap((nodePort) => [
      create('one', nodes(node(nodePort)), dry),
      create(`odd-${nodePort === -1 ? 'negative' : nodePort}`, nodes(node(nodePort))),
    ]),
    create('one', nodes(node(port)), dry),
    create('one', nodes(node(port))),
    create('two', nodes(node(port))),
    create('two', nodes(node(port)), dry),
    create('udp', nodes(node(port, { protocol: 'UDP' }))),
    create('sctp', nodes(node(port, { protocol: 'SCTP' }))),
    create('udp-two', nodes(node(port, { protocol: 'UDP' }))),
    create('same', nodes(...two)),
    create('same', nodes(...two), dry),
    create('mixed', nodes(...mixed)),
    create(
      'other-ports',
      nodes(
        node(port + 4, { name: 'a' }),
        node(port + 4, { name: 'b', port: 81, protocol: 'UDP' }),
      ),
    ),
    create('auto-mixed', nodes({ port: 53, name: 'a' }, { port: 53, name: 'b', protocol: 'UDP' })),
    create('cluster', { ports: [node(port + 3)] }),
    create('headless', { clusterIP: 'None', ports: [node(port + 3)] }),
    create('headless-node', { clusterIP: 'None', ...nodes(node(port + 3)) }),
    create('named', { ...external, ports: [node(port + 3)] }),
    create('balanced', { ...nodes(node(port + 3)), type: 'LoadBalancer' }),
    create('bad', nodes(node(port), { port: 0, name: 'b' })),
    create('bad', nodes({ port: 80, name: 'a', nodePort: port }, node(40_000, { name: 'b' }))),
    create(
      'bad',
      nodes({ port: 80, name: 'a', nodePort: port }, node(port, { name: 'b', port: 81 })),
    ),
  ];
}

/** Node ports in updates, with their release. */
function nodePortUpdates({ port }: Reserved): Request[] {
  return [
    create('one', nodes(node(port))),
    create('two', nodes(node(port + 1))),
    merge('one', { ports: [node(port + 1)] }),
    merge('one', { ports: [node(port + 1)] }, dry),
    merge('one', { ports: [node(40_000)] }),
    merge('one', { ports: [node(40_000)] }, dry),
    merge('one', { ports: [node(port + 2)] }, dry),
    read('one'),
    merge('one', { ports: [node(port + 2)] }),
    create('three', nodes(node(port))),
    merge('three', { ports: [node(port, { name: 'a' }), { name: 'b', port: 81 }] }),
    merge('three', {
      ports: [
        { name: 'b', port: 81 },
        { name: 'a', port: 80 },
      ],
    }),
    replace('three', nodes({ port: 80 })),
    merge('three', {
      ports: [node(port, { name: 'a' }), node(port, { name: 'b', port: 81 })],
    }),
    merge('three', {
      ports: [node(port + 6, { name: 'a' }), node(port + 6, { name: 'b', port: 81 })],
    }),
    merge('three', {
      ports: [node(port, { name: 'a' }), node(port, { name: 'b', port: 81, protocol: 'UDP' })],
    }),
    merge('three', {
      ports: [node(port + 7, { name: 'a' }), node(port + 7, { name: 'b', protocol: 'UDP' })],
    }),
    merge('three', { ports: [{ port: 80, protocol: 'UDP' }] }),
    merge('three', { ports: [{ port: 90 }] }),
    drop('two', dry),
    create('four', nodes(node(port + 1))),
    drop('two'),
    create('four', nodes(node(port + 1)), dry),
    create('four', nodes(node(port + 1))),
    replace('new', nodes(node(port + 3)), dry),
    replace('new', nodes(node(port + 3))),
    replace('other', nodes(node(port + 3))),
    merge('new', { type: 'ClusterIP' }, dry),
    merge('new', { type: 'ClusterIP', ports: [node(port + 4)] }),
    merge('new', { type: 'ClusterIP' }),
    create('other', nodes(node(port + 3))),
    merge('new', { type: 'NodePort' }, dry),
    merge('new', { type: 'NodePort', ports: [node(port + 3)] }),
    merge('new', { type: 'NodePort' }),
    merge('new', external),
    merge('new', { ...external, clusterIP: '', clusterIPs: null }),
    read('new'),
    applied('applied', nodes(node(port + 5)), dry),
    applied('applied', nodes(node(port + 5))),
    applied('applied', nodes({ port: 80 })),
    applied('applied', nodes(node(50_000)), dry),
    applied('applied', nodes(node(50_000))),
    applied('applied', { clusterIP: 'None' }),
    remove(`${services}?fieldSelector=metadata.name=four`),
    create('five', nodes(node(port + 1))),
  ];
}

/** Ports of health checks. */
function healthChecks({ port }: Reserved): Request[] {
  const at = (healthCheckNodePort: number): object => ({ ...local, healthCheckNodePort });
  const shared = { ports: [node(port + 3)], ...at(port + 3) };
  return [
    create('auto', local, dry),
    create('auto', local),
    create('one', at(port), dry),
    create('one', at(port)),
    create('two', at(port)),
    create('two', at(port), dry),
    create('tcp', nodes(node(port))),
    create('udp', nodes(node(port, { protocol: 'UDP' }))),
    create('odd', at(1)),
    create('odd', at(1), dry),
    create('odd', at(40_000)),
    create('odd', at(-1)),
    create('odd', at(70_000)),
    ...[-1, 40_000, 70_000].map((odd) => create('odd', at(odd), dry)),
    create('zero', at(0)),
    create('shared', shared),
    create('shared', shared, dry),
    create('cluster', { type: 'LoadBalancer', healthCheckNodePort: port + 1 }),
    create('node', { type: 'NodePort', healthCheckNodePort: port + 1 }),
    create('plain', { healthCheckNodePort: port + 1 }),
    create('plain', { healthCheckNodePort: -1 }),
    create('both', { ...at(port + 1), externalTrafficPolicy: 'Cluster' }),
    create('both', { ...at(port + 7), ports: [node(port + 8)] }, dry),
    create(
      'several',
      {
        ...local,
        ports: [
          { port: 80, name: 'a' },
          { port: 81, name: 'b' },
        ],
      },
      dry,
    ),
    create(
      'several',
      { ...local, ports: [node(port + 8, { name: 'a' }), { port: 81, name: 'b' }] },
      dry,
    ),
    create(
      'several',
      { ...local, ports: [{ port: 80, name: 'a' }, node(40_000, { port: 81, name: 'b' })] },
      dry,
    ),
    create('bare', { ...local, allocateLoadBalancerNodePorts: false }),
    create('bare-two', { ...at(port + 2), allocateLoadBalancerNodePorts: false }),
    merge('one', { healthCheckNodePort: port + 1 }),
    merge('one', { healthCheckNodePort: null }),
    merge('one', { healthCheckNodePort: 0 }),
    replace('one', local),
    merge('one', { externalTrafficPolicy: 'Cluster' }, dry),
    merge('one', { externalTrafficPolicy: 'Cluster', healthCheckNodePort: port + 1 }),
    merge('one', { externalTrafficPolicy: 'Cluster' }),
    create('two', at(port)),
    merge('one', { externalTrafficPolicy: 'Local' }, dry),
    merge('one', { externalTrafficPolicy: 'Local', healthCheckNodePort: port }),
    merge('one', { externalTrafficPolicy: 'Local' }),
    merge('one', { type: 'NodePort' }),
    merge('two', { type: 'ClusterIP' }),
    create('three', at(port)),
    drop('three'),
    create('four', at(port)),
    merge('four', external),
    merge('four', { ...external, clusterIP: null, clusterIPs: null }),
    create('five', at(port)),
    create('swap', { type: 'LoadBalancer' }),
    merge('swap', at(port + 5)),
    merge('swap', at(port + 6)),
    merge('swap', { type: 'LoadBalancer', externalTrafficPolicy: 'Cluster' }),
  ];
}

/** Load balancers without node ports, and what only load balancers have. */
function balancers({ port }: Reserved): Request[] {
  const without = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false };
  return [
    create('bare', without, dry),
    create('bare', without),
    create('chosen', { ...without, ports: [node(port)] }),
    create('taken', { ...without, ports: [node(port)] }),
    create('odd', { ...without, ports: [node(40_000)] }),
    create('odd', { ...without, ports: [node(40_000)] }, dry),
    create('odd', { ...without, type: 'NodePort' }),
    create('odd', { allocateLoadBalancerNodePorts: true }),
    merge('bare', { allocateLoadBalancerNodePorts: true }, dry),
    merge('bare', { allocateLoadBalancerNodePorts: true }),
    merge('bare', { allocateLoadBalancerNodePorts: false }),
    merge('bare', { allocateLoadBalancerNodePorts: null }),
    merge('bare', { type: 'NodePort' }),
    merge('chosen', { ports: [{ port: 80 }] }),
    merge('chosen', { ports: [{ port: 80, nodePort: 0 }] }),
    merge('chosen', { ports: [node(port + 1)] }),
    replace('chosen', { type: 'LoadBalancer' }),
    replace('chosen', without),
    merge('chosen', { type: 'ClusterIP' }),
    create('busy', { type: 'LoadBalancer' }),
    patch('merge', `${services}/busy/status`, {
      status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
    }),
    merge('busy', { type: 'NodePort' }, dry),
    merge('busy', { type: 'NodePort' }),
    create('again', { ...without, ports: [node(port + 1)] }),
    create('class', { type: 'LoadBalancer', loadBalancerClass: 'example.com/a' }),
    merge('class', { loadBalancerClass: 'example.com/b' }),
    merge('class', { loadBalancerClass: null }),
    merge('class', { type: 'ClusterIP' }),
    merge('class', { type: 'LoadBalancer', loadBalancerClass: 'example.com/b' }),
    create('unclassed', { loadBalancerClass: 'example.com/a' }),
    create('unclassed', { type: 'LoadBalancer', loadBalancerClass: 'a b' }),
    create('unclassed', { type: 'LoadBalancer', loadBalancerClass: '' }),
    create('unclassed', { type: 'LoadBalancer' }),
    merge('unclassed', { loadBalancerClass: 'example.com/a' }),
    create('ranges', { loadBalancerSourceRanges: ['10.0.0.0/8'] }),
    create('policy', { externalTrafficPolicy: 'Local' }),
    create('policy', { type: 'NodePort', externalTrafficPolicy: 'Odd' }),
    create('policy', { type: 'NodePort', externalTrafficPolicy: 'Local' }),
    merge('policy', { type: 'ClusterIP' }),
    merge('policy', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
    merge('policy', { type: 'ClusterIP', externalTrafficPolicy: 'Local' }),
  ];
}

/** Node ports of Services. */
export const portScenarios: readonly Scenario[] = [
  { title: 'node ports of new Services', requests: nodePortCreates({ port: 30_010, ip: '' }) },
  { title: 'node ports of changed Services', requests: nodePortUpdates({ port: 30_020, ip: '' }) },
  { title: 'ports of health checks', requests: healthChecks({ port: 30_030, ip: '' }) },
  { title: 'load balancers', requests: balancers({ port: 30_060, ip: '' }) },
];
