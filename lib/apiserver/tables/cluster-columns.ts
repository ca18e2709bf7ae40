import type { UnstructuredObject } from '../../object/index.js';
import {
  ageColumn,
  ageText,
  column,
  columnsOf,
  listAt,
  nameColumn,
  numberAt,
  textAt,
  valueAt,
} from './table-column.js';
import type { ColumnSpec, TableColumn } from './table-column.js';
import { labelsText, selectorText } from './workload-columns.js';

const none = '<none>';

/** Returns texts in order, each once, without empty ones. */
const uniqueText = (texts: readonly string[]): string =>
  [...new Set(texts)]
    .filter((text) => text !== '')
    .sort()
    .join(',');

const count = (object: UnstructuredObject, path: string): number =>
  Object.keys((valueAt(object, path) as object | undefined) ?? {}).length;

function nodeStatus(object: UnstructuredObject): string {
  const ready = listAt(object, 'status.conditions').find((one) => textAt(one, 'type') === 'Ready');
  const known = textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  const status = ready === undefined ? 'Unknown' : known;
  const cordoned = valueAt(object, 'spec.unschedulable') === true;
  return cordoned ? `${status},SchedulingDisabled` : status;
}

const rolePrefix = 'node-role.kubernetes.io/';

function nodeRoles({ metadata: { labels = {} } }: UnstructuredObject): string {
  const roles = Object.keys(labels)
    .filter((label) => label.startsWith(rolePrefix))
    .map((label) => label.slice(rolePrefix.length));
  return uniqueText([...roles, labels['kubernetes.io/role'] ?? '']) || none;
}

function kernelVersion(object: UnstructuredObject): string {
  const version = textAt(object, 'status.nodeInfo.kernelVersion', '<unknown>');
  const architecture = textAt(object, 'status.nodeInfo.architecture');
  return architecture === '' ? version : `${version} (${architecture})`;
}

function nodeAddress(object: UnstructuredObject, type: string): string {
  const found = listAt(object, 'status.addresses').find((one) => textAt(one, 'type') === type);
  return textAt(found, 'address', '<none>');
}

// Events of `v1` and of `events.k8s.io/v1` have the same columns, but different field names.
const either = (object: UnstructuredObject, core: string, events: string): string =>
  textAt(object, core, textAt(object, events));

function firstSeen(object: UnstructuredObject, nowMs: number): string {
  const first = either(object, 'firstTimestamp', 'deprecatedFirstTimestamp');
  return ageText(first === '' ? textAt(object, 'eventTime') : first, nowMs);
}

function lastSeen(object: UnstructuredObject, nowMs: number): string {
  const observed = textAt(object, 'series.lastObservedTime');
  const last = either(object, 'lastTimestamp', 'deprecatedLastTimestamp');
  if (observed !== '') return ageText(observed, nowMs);
  return last === '' ? firstSeen(object, nowMs) : ageText(last, nowMs);
}

function eventObject(object: UnstructuredObject): string {
  const kind = either(object, 'involvedObject.kind', 'regarding.kind').toLowerCase();
  const name = either(object, 'involvedObject.name', 'regarding.name');
  return name === '' ? kind : `${kind}/${name}`;
}

function eventSource(object: UnstructuredObject): string {
  const component = either(object, 'source.component', 'deprecatedSource.component');
  const host = either(object, 'source.host', 'deprecatedSource.host');
  const name = component || either(object, 'reportingComponent', 'reportingController');
  const place = host || textAt(object, 'reportingInstance');
  return place === '' ? name : `${name}, ${place}`;
}

const event = 'core.v1.Event';

const eventColumns: readonly TableColumn[] = [
  column({ name: 'Last Seen', doc: [event, 'lastTimestamp'], cell: lastSeen }),
  column({ name: 'Type', of: event, path: 'type' }),
  column({ name: 'Reason', of: event, path: 'reason' }),
  column({ name: 'Object', doc: [event, 'involvedObject'], cell: eventObject }),
  column({
    name: 'Subobject',
    doc: ['core.v1.ObjectReference', 'fieldPath'],
    wide: true,
    cell: (object) => either(object, 'involvedObject.fieldPath', 'regarding.fieldPath'),
  }),
  column({ name: 'Source', doc: [event, 'source'], wide: true, cell: eventSource }),
  column({
    name: 'Message',
    doc: [event, 'message'],
    cell: (object) => either(object, 'message', 'note').trim(),
  }),
  column({ name: 'First Seen', doc: [event, 'firstTimestamp'], wide: true, cell: firstSeen }),
  column({
    name: 'Count',
    doc: [event, 'count'],
    wide: true,
    cell: (object) =>
      numberAt(object, 'series.count') ||
      numberAt(object, 'count') ||
      numberAt(object, 'deprecatedCount') ||
      1,
  }),
  column({ ...nameColumn, doc: nameColumn.description ?? '', wide: true }),
];

const nodeInfo = 'core.v1.NodeSystemInfo';
const ofNode = (field: string) =>
  ({ of: nodeInfo, path: `status.nodeInfo.${field}`, absent: '<unknown>', wide: true }) as const;

const bindingColumns = (type: string, roleDoc: string): readonly TableColumn[] => {
  const subjects = (object: UnstructuredObject, kind: string): string =>
    listAt(object, 'subjects')
      .filter((subject) => textAt(subject, 'kind') === kind)
      .map((subject) => {
        const name = textAt(subject, 'name');
        return kind === 'ServiceAccount' ? `${textAt(subject, 'namespace')}/${name}` : name;
      })
      .join(', ');
  return columnsOf([
    {
      name: 'Role',
      doc: roleDoc,
      cell: (object) => `${textAt(object, 'roleRef.kind')}/${textAt(object, 'roleRef.name')}`,
    },
    ...['User', 'Group', 'ServiceAccount'].map((kind): ColumnSpec => ({
      name: `${kind}s`,
      doc: `${kind}s in the ${type}`,
      wide: true,
      cell: (object) => subjects(object, kind),
    })),
  ]);
};

const priorityClass = 'scheduling.v1.PriorityClass';

/** Returns `used/hard` of each resource that a quota limits and `isShown` selects. */
function quotaUse(object: UnstructuredObject, isShown: (resource: string) => boolean): string {
  const hard = (valueAt(object, 'status.hard') ?? {}) as Readonly<Record<string, string>>;
  const used = (valueAt(object, 'status.used') ?? {}) as Readonly<Record<string, string>>;
  return Object.keys(hard)
    .filter(isShown)
    .toSorted()
    .map((resource) => `${resource}: ${used[resource] ?? '0'}/${hard[resource] ?? '0'}`)
    .join(', ');
}

/** The columns of configuration, node, access and cluster kinds, by group and kind. */
export const clusterColumns: Readonly<Record<string, readonly TableColumn[]>> = {
  '/ConfigMap': columnsOf([
    {
      name: 'Data',
      doc: ['core.v1.ConfigMap', 'data'],
      cell: (object) => count(object, 'data') + count(object, 'binaryData'),
    },
  ]),
  '/Secret': columnsOf([
    { name: 'Type', of: 'core.v1.Secret', path: 'type' },
    { name: 'Data', doc: ['core.v1.Secret', 'data'], cell: (object) => count(object, 'data') },
  ]),
  '/Namespace': columnsOf([
    { name: 'Status', doc: 'The status of the namespace', path: 'status.phase' },
  ]),
  '/ServiceAccount': [nameColumn, ageColumn],
  '/ComponentStatus': [
    nameColumn,
    ...['Status', 'Message', 'Error'].map((name) =>
      column({ name, doc: `${name} of the component conditions`, cell: () => '' }),
    ),
  ],
  '/Event': eventColumns,
  'events.k8s.io/Event': eventColumns,
  '/Node': columnsOf([
    { name: 'Status', doc: 'The status of the node', cell: nodeStatus },
    { name: 'Roles', doc: 'The roles of the node', cell: nodeRoles },
    { name: 'Version', of: nodeInfo, path: 'status.nodeInfo.kubeletVersion', afterAge: true },
    ...['Internal', 'External'].map((reach): ColumnSpec => ({
      name: `${reach}-IP`,
      doc: ['core.v1.NodeStatus', 'addresses'],
      wide: true,
      cell: (object) => nodeAddress(object, `${reach}IP`),
    })),
    { name: 'OS-Image', ...ofNode('osImage') },
    { name: 'Kernel-Version', ...ofNode('kernelVersion'), cell: kernelVersion },
    { name: 'Container-Runtime', ...ofNode('containerRuntimeVersion') },
  ]),
  'rbac.authorization.k8s.io/RoleBinding': bindingColumns(
    'roleBinding',
    'RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.',
  ),
  'rbac.authorization.k8s.io/ClusterRoleBinding': bindingColumns(
    'clusterRoleBinding',
    'RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.',
  ),
  '/ResourceQuota': columnsOf([
    {
      name: 'Request',
      doc: 'Request represents a minimum amount of cpu/memory that a container may consume.',
      cell: (object) => quotaUse(object, (resource) => !resource.startsWith('limits')),
    },
    {
      name: 'Limit',
      doc: 'Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.',
      cell: (object) => quotaUse(object, (resource) => resource.startsWith('limits')),
    },
  ]),
  'scheduling.k8s.io/PriorityClass': [
    nameColumn,
    column({ name: 'Value', of: priorityClass, path: 'value', type: 'integer' }),
    column({ name: 'Global-Default', of: priorityClass, path: 'globalDefault', type: 'boolean' }),
    ageColumn,
    column({
      name: 'PreemptionPolicy',
      of: priorityClass,
      path: 'preemptionPolicy',
      absent: 'PreemptLowerPriority',
    }),
  ],
  'coordination.k8s.io/Lease': columnsOf([
    { name: 'Holder', of: 'coordination.v1.LeaseSpec', path: 'spec.holderIdentity' },
  ]),
  'policy/PodDisruptionBudget': columnsOf([
    {
      name: 'Min Available',
      doc: 'The minimum number of pods that must be available.',
      path: 'spec.minAvailable',
      absent: 'N/A',
    },
    {
      name: 'Max Unavailable',
      doc: 'The maximum number of pods that may be unavailable.',
      path: 'spec.maxUnavailable',
      absent: 'N/A',
    },
    {
      name: 'Allowed Disruptions',
      doc: 'Calculated number of pods that may be disrupted at this time.',
      path: 'status.disruptionsAllowed',
      type: 'integer',
    },
  ]),
};

function externalIp(object: UnstructuredObject): string {
  const ips = listAt(object, 'spec.externalIPs') as string[];
  switch (textAt(object, 'spec.type')) {
    case 'ClusterIP':
    case 'NodePort':
      return ips.length === 0 ? none : ips.join(',');
    case 'LoadBalancer': {
      const balanced = loadBalancerAddresses(object);
      return [balanced, ...ips].filter((ip) => ip !== '').join(',') || '<pending>';
    }
    case 'ExternalName':
      return textAt(object, 'spec.externalName');
    default:
      return '<unknown>';
  }
}

function loadBalancerAddresses(object: UnstructuredObject): string {
  const ingresses = listAt(object, 'status.loadBalancer.ingress');
  return uniqueText(ingresses.map((ingress) => textAt(ingress, 'ip', textAt(ingress, 'hostname'))));
}

function servicePorts(object: UnstructuredObject): string {
  const ports = listAt(object, 'spec.ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort');
    const number = String(numberAt(port, 'port')) + (nodePort > 0 ? `:${nodePort}` : '');
    return `${number}/${textAt(port, 'protocol')}`;
  });
  return ports.length === 0 ? none : ports.join(',');
}

/** A port of an EndpointSlice. */
interface Port {
  readonly port?: number;
  readonly name?: string;
}

const shownHosts = 3;

function ingressHosts(object: UnstructuredObject): string {
  const rules = listAt(object, 'spec.rules').map((rule) => textAt(rule, 'host'));
  const shown: string[] = [];
  // The real server counts rules without a host, too.
  let isCut = false;
  for (const host of rules) {
    if (shown.length === shownHosts) isCut = true;
    else if (host !== '') shown.push(host);
  }
  const hosts = shown.join(',') || '*';
  return isCut ? `${hosts} + ${rules.length - shownHosts} more...` : hosts;
}

function listed(values: readonly string[]): string {
  const shown = values.slice(0, shownHosts).join(',') || '<unset>';
  return values.length > shownHosts ? `${shown} + ${values.length - shownHosts} more...` : shown;
}

const service = 'core.v1.ServiceSpec';

/** The columns of Services, Ingresses and other network kinds, by group and kind. */
export const networkColumns: Readonly<Record<string, readonly TableColumn[]>> = {
  'networking.k8s.io/IPAddress': [
    nameColumn,
    column({
      name: 'ParentRef',
      doc: ['networking.v1.IPAddressSpec', 'parentRef'],
      cell: (object) => {
        const parent = valueAt(object, 'spec.parentRef');
        if (parent === undefined) return none;
        const group = textAt(parent, 'group');
        const resource = `${textAt(parent, 'resource')}${group === '' ? '' : `.${group}`}`;
        const parts = [resource, textAt(parent, 'namespace'), textAt(parent, 'name')];
        return parts.filter((part) => part !== '').join('/');
      },
    }),
  ],
  'networking.k8s.io/ServiceCIDR': columnsOf([
    {
      name: 'CIDRs',
      doc: ['networking.v1.ServiceCIDRSpec', 'cidrs'],
      cell: (object) => listAt(object, 'spec.cidrs').join(','),
    },
  ]),
  '/Service': columnsOf([
    { name: 'Type', of: service, path: 'spec.type' },
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
      cell: (object) => labelsText(object, 'spec.selector'),
    },
  ]),
  'networking.k8s.io/Ingress': columnsOf([
    {
      name: 'Class',
      doc: 'The name of the IngressClass resource that should be used for additional configuration',
      path: 'spec.ingressClassName',
      absent: none,
    },
    {
      name: 'Hosts',
      doc: 'Hosts that incoming requests are matched against before the ingress rule',
      cell: ingressHosts,
    },
    {
      name: 'Address',
      doc: 'Address is a list containing ingress points for the load-balancer',
      cell: loadBalancerAddresses,
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
    { name: 'AddressType', of: 'discovery.v1.EndpointSlice', path: 'addressType' },
    {
      name: 'Ports',
      doc: ['discovery.v1.EndpointSlice', 'ports'],
      cell: (object) =>
        listed(
          (listAt(object, 'ports') as readonly Port[]).map(({ port, name }) =>
            String(port ?? name ?? '*'),
          ),
        ),
    },
    {
      name: 'Endpoints',
      doc: ['discovery.v1.EndpointSlice', 'endpoints'],
      cell: (object) =>
        listed(listAt(object, 'endpoints').flatMap((one) => listAt(one, 'addresses') as string[])),
    },
  ]),
};
