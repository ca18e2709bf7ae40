import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { columnsOf, listAt, numberAt, textAt, valueAt } from './table-column.js';
import type { TableColumn } from './table-column.js';
import { selectorText } from './workload-columns.js';

const none = '<none>';

function externalIp(object: UnstructuredObject): string {
  const ips = listAt(object, 'spec.externalIPs') as string[];
  switch (textAt(object, 'spec.type')) {
    case 'ClusterIP':
    case 'NodePort':
      return ips.length === 0 ? none : ips.join(',');
    case 'LoadBalancer': {
      const all = [...loadBalancerAddresses(object), ...ips];
      return all.length === 0 ? '<pending>' : all.join(',');
    }
    case 'ExternalName':
      return textAt(object, 'spec.externalName');
    default:
      return '<unknown>';
  }
}

function loadBalancerAddresses(object: UnstructuredObject): readonly string[] {
  return listAt(object, 'status.loadBalancer.ingress')
    .map((ingress) => textAt(ingress, 'ip', textAt(ingress, 'hostname')))
    .filter((address) => address !== '');
}

function servicePorts(object: UnstructuredObject): string {
  const ports = listAt(object, 'spec.ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort');
    const number = String(numberAt(port, 'port')) + (nodePort > 0 ? `:${nodePort}` : '');
    return `${number}/${textAt(port, 'protocol')}`;
  });
  return ports.length === 0 ? none : ports.join(',');
}

const shownHosts = 3;

function ingressHosts(object: UnstructuredObject): string {
  const hosts = listAt(object, 'spec.rules')
    .map((rule) => textAt(rule, 'host'))
    .filter((host) => host !== '');
  if (hosts.length === 0) return '*';
  const shown = hosts.slice(0, shownHosts).join(',');
  return hosts.length > shownHosts ? `${shown} + ${hosts.length - shownHosts} more...` : shown;
}

function listed(values: readonly string[]): string {
  if (values.length === 0) return '<unset>';
  const shown = values.slice(0, shownHosts).join(',');
  return values.length > shownHosts ? `${shown} + ${values.length - shownHosts} more...` : shown;
}

const service = 'core.v1.ServiceSpec';

/** The columns of Services, Ingresses and other network kinds, by group and kind. */
export const networkColumns: Readonly<Record<string, readonly TableColumn[]>> = {
  '/Service': columnsOf([
    { name: 'Type', doc: [service, 'type'], cell: (object) => textAt(object, 'spec.type') },
    {
      name: 'Cluster-IP',
      doc: [service, 'clusterIP'],
      cell: (object) => (listAt(object, 'spec.clusterIPs') as string[])[0] ?? none,
    },
    { name: 'External-IP', doc: [service, 'externalIPs'], cell: externalIp },
    { name: 'Port(s)', doc: [service, 'ports'], cell: servicePorts },
    {
      name: 'Selector',
      doc: [service, 'selector'],
      wide: true,
      cell: (object) => {
        const matchLabels = valueAt(object, 'spec.selector');
        return selectorText({ s: { matchLabels: matchLabels ?? {} } }, 's');
      },
    },
  ]),
  'networking.k8s.io/Ingress': columnsOf([
    {
      name: 'Class',
      doc: 'The name of the IngressClass resource that should be used for additional configuration',
      cell: (object) => textAt(object, 'spec.ingressClassName', none),
    },
    {
      name: 'Hosts',
      doc: 'Hosts that incoming requests are matched against before the ingress rule',
      cell: ingressHosts,
    },
    {
      name: 'Address',
      doc: 'Address is a list containing ingress points for the load-balancer',
      cell: (object) => loadBalancerAddresses(object).join(','),
    },
    {
      name: 'Ports',
      doc: 'Ports of TLS configurations that open',
      cell: (object) => (listAt(object, 'spec.tls').length > 0 ? '80, 443' : '80'),
    },
  ]),
  'networking.k8s.io/NetworkPolicy': columnsOf([
    {
      name: 'Pod-Selector',
      doc: ['networking.v1.NetworkPolicySpec', 'podSelector'],
      cell: (object) => selectorText(object, 'spec.podSelector'),
    },
  ]),
  'discovery.k8s.io/EndpointSlice': columnsOf([
    {
      name: 'AddressType',
      doc: ['discovery.v1.EndpointSlice', 'addressType'],
      cell: (object) => textAt(object, 'addressType'),
    },
    {
      name: 'Ports',
      doc: ['discovery.v1.EndpointSlice', 'ports'],
      cell: (object) =>
        listed(listAt(object, 'ports').map((port) => String(numberAt(port, 'port')))),
    },
    {
      name: 'Endpoints',
      doc: ['discovery.v1.EndpointSlice', 'endpoints'],
      cell: (object) =>
        listed(listAt(object, 'endpoints').flatMap((one) => listAt(one, 'addresses') as string[])),
    },
  ]),
};
