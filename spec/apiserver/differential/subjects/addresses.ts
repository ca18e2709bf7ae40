import { patch, post } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

type Body = Readonly<Record<string, unknown>>;

const core = '/api/v1/namespaces/{{ns}}';
const services = `${core}/services`;
const pods = `${core}/pods`;
const endpoints = `${core}/endpoints`;
const slices = '/apis/discovery.k8s.io/v1/namespaces/{{ns}}/endpointslices';
const networking = '/apis/networking.k8s.io/v1/namespaces/{{ns}}';
const policies = `${networking}/networkpolicies`;
const dry = '?dryRun=All';

/** Spellings of addresses, most of them unusual. */
const addresses = [
  ...[
    '10.1.2.3',
    '010.1.2.3',
    '10.1.2.03',
    '10.01.2.3',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '0.0.0.0',
  ],
  ...['2001:db8::1', '::', '::1', 'fe80::1%eth0', 'fe80::1%'],
  ...['::ffff:1.2.3.4', '::FFFF:1.2.3.4', '0:0:0:0:0:ffff:1.2.3.4', '::ffff:102:304'],
  ...['0000:0000:0000:0000:0000:ffff:0102:0304', '0:0:0:0:0:FFFF:102:304', '::ffff:01.2.3.4'],
  ...['2001:db8::00001', '1::2::3', ':1::2'],
  ...['127.0.0.1', '169.254.1.1', '224.0.0.1', 'ff02::1', '224.1.1.1', 'fe90::1', 'ff01::1'],
  ...[' 1.2.3.4', '1.2.3.4 ', '1.2.3.4/32', '', '0x1.2.3.4', '1.2.3.4%a', '1.2.3.400'],
];

const ranges = [
  ...[
    '10.0.0.0/8',
    '10.0.0.0/08',
    '010.0.0.0/8',
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0',
  ],
  ...['10.0.0.0/', '/8', '10.0.0.0/8/8', '10.0.0.0/+8', '0.0.0.0/0', '0.0.0.0/00', '10.0.0.0/032'],
  ...['2001:db8::/32', '2001:db8::1/32', '2001:db8::/129', '::/0'],
  ...['::ffff:1.2.3.0/120', '0:0:0:0:0:ffff:102:300/120', '::ffff:0:0/96', '::ffff:1.2.3.4/24'],
  ...['fe80::%a/10', '', 'x', '10.0.0.0/8 ', '::ffff:01.2.3.0/120', '1.2.3/24', '2001:db8::/0128'],
];

const named = (name: string, rest: Body): Body => ({ metadata: { name }, ...rest });
const podOf = (spec: Body): Body =>
  named('one', { spec: { containers: [{ name: 'c', image: 'x' }], ...spec } });
const policyOf = (cidr: string, ...except: readonly string[]): Body =>
  named('one', {
    spec: {
      podSelector: {},
      ingress: [{ from: [{ ipBlock: { cidr, ...(except.length > 0 && { except }) } }] }],
    },
  });
const sliceOf = (addressType: string, ...list: readonly string[]): Body =>
  named('one', { addressType, endpoints: [{ addresses: list }] });
const serviceOf = (spec: Body): Body => named('one', { spec: { ports: [{ port: 80 }], ...spec } });

const each = (values: readonly string[], request: (value: string) => Request): Request[] =>
  values.map(request);

/** Addresses and ranges in unusual spellings. */
export const addressScenarios: readonly Scenario[] = [
  {
    title: 'addresses in pods',
    requests: [
      ...each(addresses, (ip) =>
        post(`${pods}${dry}`, podOf({ hostAliases: [{ ip, hostnames: ['a'] }] })),
      ),
      ...each(addresses, (ip) =>
        post(`${pods}${dry}`, podOf({ dnsConfig: { nameservers: [ip] } })),
      ),
      post(pods, podOf({})),
      ...each(addresses, (ip) =>
        patch('merge', `${pods}/one/status${dry}`, { status: { podIPs: [{ ip }] } }),
      ),
      ...each(addresses, (ip) =>
        patch('merge', `${pods}/one/status${dry}`, { status: { hostIP: ip, hostIPs: [{ ip }] } }),
      ),
    ],
  },
  {
    title: 'addresses in Services',
    requests: [
      ...each(addresses, (ip) => post(`${services}${dry}`, serviceOf({ externalIPs: [ip] }))),
      ...each(ranges, (range) =>
        post(
          `${services}${dry}`,
          serviceOf({ type: 'LoadBalancer', loadBalancerSourceRanges: [range] }),
        ),
      ),
    ],
  },
  {
    title: 'addresses of endpoints',
    requests: [
      ...each(addresses, (ip) =>
        post(
          `${endpoints}${dry}`,
          named('one', { subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] }),
        ),
      ),
      ...each(addresses, (ip) =>
        post(`${slices}${dry}`, sliceOf(ip.includes(':') ? 'IPv6' : 'IPv4', ip)),
      ),
    ],
  },
  {
    title: 'ranges of network policies',
    requests: [...each(ranges, (range) => post(`${policies}${dry}`, policyOf(range)))],
  },
];
