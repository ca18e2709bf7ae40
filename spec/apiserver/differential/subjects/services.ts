import { patch, post, remove } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';
import {
  create,
  drop,
  dry,
  external,
  local,
  merge,
  node,
  nodes,
  portScenarios,
  read,
  replace,
  services,
} from './service-ports.js';
import type { Reserved } from './service-ports.js';

const dual = { ipFamilies: ['IPv4', 'IPv6'] };

/** Cluster IPs in creates. */
function clusterIpCreates({ ip }: Reserved): Request[] {
  const odd = [
    ...['10.96.0.0', '10.96.255.255', '10.95.255.255', '10.97.0.0', '10.96.0.1'],
    ...['2001:db8::1', '::ffff:10.96.9.9', '1.2.3', 'none', '010.96.9.9', ' None'],
  ];
  return [
    ...odd.flatMap((clusterIP, index) => [
      create('odd', { clusterIP }, dry),
      create(`odd-${index}`, { clusterIP }),
    ]),
    create('one', { clusterIP: ip }, dry),
    create('one', { clusterIP: ip }),
    create('two', { clusterIP: ip }),
    create('two', { clusterIP: ip }, dry),
    create('two', { clusterIPs: [ip] }),
    create('two', { clusterIP: '', clusterIPs: [] }),
    create('odd', { clusterIP: '10.96.3.9', clusterIPs: ['10.96.3.10'] }),
    create('odd', { clusterIP: '10.96.3.9', clusterIPs: ['10.96.3.9', '10.96.3.10'] }),
    create('odd', { clusterIP: '10.96.3.9', clusterIPs: ['10.96.3.9', '10.96.3.9'] }),
    create('odd', { clusterIP: '10.96.3.9', clusterIPs: ['10.96.3.9', '2001:db8::1'] }),
    create('odd', { clusterIPs: ['10.96.3.9', '2001:db8::1', '2001:db8::2'] }),
    create('odd', { clusterIP: 'None', clusterIPs: ['None', '10.96.3.9'] }),
    create('odd', { clusterIP: '10.96.3.9', clusterIPs: ['10.96.3.9', 'None'] }),
    create('odd', { clusterIP: 'None', clusterIPs: ['10.96.3.9'] }),
    create('none', { clusterIPs: ['None'] }),
    create('none', { clusterIP: 'None', clusterIPs: ['None'] }),
    create('bare', { clusterIP: 'None', selector: null }),
    create('named', { ...external, clusterIP: ip }),
    create('named', { ...external, clusterIP: 'None' }),
    create('named', { ...external, clusterIP: 'None', ports: [] }),
    create('named-two', { ...external, clusterIP: '', ...dual }),
    create('named-two', { ...external, ipFamilyPolicy: 'SingleStack' }),
    create('headless', { type: 'LoadBalancer', clusterIP: 'None' }),
    create('headless', { type: 'NodePort', clusterIP: 'None' }),
    create('headless', { clusterIP: 'None', ports: [] }),
    create('portless', { ports: [] }),
    create('bad', { clusterIP: ip, ports: [{ port: 0 }] }),
    create('bad', { clusterIP: ip, ...nodes(node(40_000)) }),
  ];
}

/** Cluster IPs in updates, with their release. */
function clusterIpUpdates({ ip }: Reserved): Request[] {
  return [
    create('one', { clusterIP: ip }),
    merge('one', { clusterIP: '10.96.3.20' }),
    merge('one', { clusterIP: '10.96.3.20', clusterIPs: ['10.96.3.20'] }),
    merge('one', { clusterIP: '10.96.3.20', clusterIPs: ['10.96.3.20'] }, dry),
    merge('one', { clusterIP: 'None' }),
    merge('one', { clusterIP: 'None', clusterIPs: ['None'] }),
    merge('one', { clusterIP: null }),
    merge('one', { clusterIPs: null }),
    merge('one', { clusterIPs: ['10.96.3.20'] }),
    merge('one', { clusterIP: '', clusterIPs: null }),
    merge('one', { clusterIP: '', clusterIPs: [] }),
    merge('one', { clusterIPs: [ip, '10.96.3.20'] }),
    replace('one'),
    replace('one', { clusterIP: '10.96.3.20' }),
    drop('one', dry),
    create('two', { clusterIP: ip }),
    drop('one'),
    create('two', { clusterIP: ip }, dry),
    create('two', { clusterIP: ip }),
    merge('two', external, dry),
    merge('two', external),
    create('three', { clusterIP: ip }),
    merge('two', { type: 'ClusterIP', externalName: null, clusterIP: ip }),
    merge('two', { type: 'ClusterIP', externalName: null, clusterIP: ip }, dry),
    merge('two', { type: 'ClusterIP', externalName: null }, dry),
    merge('two', { type: 'ClusterIP', externalName: null }),
    drop('three'),
    merge('two', external),
    merge('two', { type: 'ClusterIP', clusterIP: ip }),
    merge('two', { ...external, clusterIP: null, clusterIPs: null }),
    merge('two', { type: 'ClusterIP', clusterIP: 'None' }),
    merge('two', { type: 'NodePort' }),
    merge('two', { clusterIP: null, clusterIPs: null }),
    merge('two', { clusterIP: ip }),
    merge('two', external),
    merge('two', { type: 'ClusterIP', clusterIP: '10.1.1.1' }),
    merge('two', { type: 'ClusterIP', clusterIP: '2001:db8::1' }),
    merge('two', { type: 'ClusterIP', clusterIP: '10.1.1.1' }, dry),
  ];
}

/** Families of addresses, and their policies. */
function families(): Request[] {
  const values = ['SingleStack', 'PreferDualStack', 'RequireDualStack', 'Odd', ''];
  const lists = [
    ...[['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4'], ['IPv4', 'IPv4'], ['Odd']],
    ...[[], ['IPv4', 'IPv6', 'IPv4'], ['']],
  ];
  const kinds = [{}, { clusterIP: 'None' }, { clusterIP: 'None', selector: null }];
  return [
    ...kinds.flatMap((kind) => [
      ...values.map((ipFamilyPolicy) => create('one', { ...kind, ipFamilyPolicy }, dry)),
      ...lists.map((ipFamilies) => create('one', { ...kind, ipFamilies }, dry)),
      ...values.map((ipFamilyPolicy) => create('one', { ...kind, ...dual, ipFamilyPolicy }, dry)),
    ]),
    create('one', { ipFamilies: ['IPv6'], clusterIP: '10.96.3.30' }, dry),
    create('one', { ipFamilies: ['IPv4'], clusterIP: '2001:db8::1' }, dry),
    create('one', { ipFamilyPolicy: 'PreferDualStack', clusterIPs: ['10.96.3.30', '::1'] }, dry),
    create('one'),
    ...values.map((ipFamilyPolicy) => merge('one', { ipFamilyPolicy })),
    ...lists.map((ipFamilies) => merge('one', { ipFamilies })),
    merge('one', { ipFamilies: null, ipFamilyPolicy: null }),
    read('one'),
    create('bare', { clusterIP: 'None', selector: null }),
    ...values.map((ipFamilyPolicy) => merge('bare', { ipFamilyPolicy }, dry)),
    ...lists.map((ipFamilies) => merge('bare', { ipFamilies }, dry)),
    merge('bare', { selector: { app: 'a' } }),
    merge('bare', { ipFamilyPolicy: 'SingleStack' }),
    merge('bare', { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] }),
    create('wish', { clusterIP: 'None', selector: null, ipFamilyPolicy: 'PreferDualStack' }),
    merge('wish', { selector: { app: 'a' } }),
    merge('wish', { ipFamilies: ['IPv6', 'IPv4'] }),
    merge('wish', { ipFamilies: ['IPv4'] }),
    merge('wish', { ipFamilyPolicy: 'SingleStack' }),
    merge('bare', external),
    merge('bare', { ...external, ...dual }),
  ];
}

/** Changes of the type. */
function types({ port }: Reserved): Request[] {
  const all = {
    cluster: { type: 'ClusterIP' },
    node: { type: 'NodePort' },
    balancer: { type: 'LoadBalancer' },
    local,
    named: external,
    bare: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false },
  };
  return Object.entries(all).flatMap(([from, spec], at) => [
    ...Object.entries(all).flatMap(([to, other]) => [
      create(`${from}-${to}`, spec),
      merge(`${from}-${to}`, other, dry),
      merge(`${from}-${to}`, other),
      replace(`${from}-${to}`, spec),
    ]),
    create(from, { ...spec, ports: [node(port + at)] }),
    merge(from, { type: null }),
    merge(from, { type: 'Odd' }),
    replace(from, {}),
    read(from),
  ]);
}

/** Several ports at once, and writes of several kinds. */
function mixtures({ port, ip }: Reserved): Request[] {
  const dns = [
    { port: 53, name: 'a' },
    { port: 53, name: 'b', protocol: 'UDP' },
  ];
  const given = [node(port, { ...dns[0] }), dns[1]];
  const later = [dns[0], node(port + 1, { ...dns[1] })];
  const unlike = [node(port + 2, { ...dns[0] }), node(port + 3, { ...dns[1] })];
  const swapped = [node(port + 3, { ...dns[0] }), node(port + 2, { ...dns[1] })];
  const apart = [{ ...dns[0] }, { ...dns[1], port: 54 }];
  const json = (name: string, operations: readonly object[], query = ''): Request =>
    patch('json', `${services}/${name}${query}`, operations);
  return [
    ...[given, later, unlike, dns, apart].flatMap((ports, index) => [
      create(`several-${index}`, { type: 'NodePort', ports }, dry),
      create(`several-${index}`, { type: 'NodePort', ports }),
      replace(`several-${index}`, { type: 'NodePort', ports: dns }, dry),
      replace(`several-${index}`, { type: 'NodePort', ports: dns }),
      replace(`several-${index}`, { type: 'NodePort', ports: apart }),
      merge(`several-${index}`, { type: 'LoadBalancer', ports: unlike }, dry),
    ]),
    merge('several-2', { ports: swapped }),
    merge('several-2', { ports: unlike }),
    merge('several-2', { ports: [node(port + 3)] }),
    create('freed', nodes(node(port + 2))),
    create('busy', nodes(node(port + 3))),
    merge('several-2', { type: 'ClusterIP', ports: [node(port + 3)] }),
    merge('several-2', { type: 'ClusterIP', ports: [{ port: 80 }] }),
    create('busy', nodes(node(port + 3))),
    json('busy', [{ op: 'remove', path: '/spec/clusterIP' }]),
    json('busy', [{ op: 'remove', path: '/spec/clusterIPs' }]),
    json('busy', [{ op: 'remove', path: '/spec/ports/0/nodePort' }]),
    json('busy', [{ op: 'replace', path: '/spec/ports/0/nodePort', value: port + 4 }]),
    json('busy', [{ op: 'replace', path: '/spec/type', value: 'ClusterIP' }], dry),
    json('busy', [{ op: 'replace', path: '/spec/type', value: 'ExternalName' }]),
    patch('strategic', `${services}/busy`, {
      spec: { ports: [{ port: 81, name: 'x', nodePort: port + 5 }] },
    }),
    patch('strategic', `${services}/busy`, {
      spec: {
        ports: [
          { port: 80, name: 'y' },
          { port: 81, name: 'x', nodePort: port + 5 },
        ],
      },
    }),
    create('both', { clusterIP: ip, clusterIPs: [ip], ...local }),
    create('held', {
      ...local,
      clusterIP: ip,
      ports: [node(port + 4)],
      healthCheckNodePort: port + 6,
    }),
    remove(services),
    create('free', {
      ...local,
      clusterIP: ip,
      ports: [node(port + 4)],
      healthCheckNodePort: port + 6,
    }),
    post(services, {
      metadata: { name: 'final', finalizers: ['example.com/f'] },
      spec: { ...nodes(node(port + 7)), selector: {} },
    }),
    drop('final'),
    create('waiting', nodes(node(port + 7))),
    json('final', [{ op: 'remove', path: '/metadata/finalizers' }]),
    create('waiting', nodes(node(port + 7))),
    post(services, { metadata: { generateName: 'g-' }, spec: nodes(node(port + 8)) }),
    post(services, { metadata: { generateName: 'g-' }, spec: nodes(node(port + 8)) }),
    create('externals', { externalIPs: ['1.2.3.4'], externalTrafficPolicy: 'Local' }),
    merge('externals', { externalIPs: null }),
    merge('externals', { type: 'NodePort' }),
    merge('externals', { type: 'ClusterIP', externalIPs: null }),
    create('none', { clusterIP: 'None', ports: [], selector: null }),
    merge('none', { type: 'NodePort' }),
    merge('none', { type: 'LoadBalancer' }),
    merge('none', { ...external }),
    merge('none', { type: 'ClusterIP' }),
    merge('none', { type: 'ClusterIP', ports: [{ port: 80 }] }),
    merge('none', { clusterIP: 'None' }),
    create('prefer', { ipFamilyPolicy: 'PreferDualStack' }),
    merge('prefer', { clusterIPs: ['10.96.0.9'] }),
    merge('prefer', { clusterIP: '10.96.0.9' }),
    merge('prefer', { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] }, dry),
    merge('prefer', { ...dual }),
    merge('prefer', { ipFamilies: ['IPv6'] }),
    merge('prefer', { type: 'NodePort' }),
    replace('prefer', {}),
    merge('prefer', { ipFamilyPolicy: 'SingleStack' }),
    merge('prefer', { ipFamilyPolicy: null }),
    create('one', { sessionAffinity: 'ClientIP', clusterIP: 'None', type: 'ClusterIP' }),
    create('named', { ...external, ports: [node(port + 9)] }),
    create('named-too', nodes(node(port + 9))),
    merge('named', { type: 'NodePort' }, dry),
    merge('named-too', external),
    merge('named-too', { ...external, clusterIP: null, clusterIPs: null, ports: null }),
    create('last', nodes(node(port + 9))),
  ];
}

const scenarios: readonly Scenario[] = [
  ...portScenarios,
  { title: 'addresses of new Services', requests: clusterIpCreates({ port: 0, ip: '10.96.0.41' }) },
  {
    title: 'addresses of changed Services',
    requests: clusterIpUpdates({ port: 0, ip: '10.96.0.42' }),
  },
  { title: 'families of Services', requests: families() },
  { title: 'types of Services', requests: types({ port: 30_050, ip: '' }) },
  { title: 'mixtures of ports', requests: mixtures({ port: 30_070, ip: '10.96.0.43' }) },
];

/** Addresses, node ports and types of Services. Each scenario frees its ports at the end, for the next run. */
export const serviceScenarios: readonly Scenario[] = scenarios.map(({ title, requests }) => ({
  title,
  requests: [...requests, remove(services)],
}));
