import type { UnstructuredObject } from '../../object/index.js';
import {
  ageColumn,
  classNameColumn,
  column,
  columnsOf,
  durationText,
  listAt,
  nameColumn,
  numberAt,
  textAt,
  valueAt,
} from './table-column.js';
import type { ColumnSpec, TableColumn } from './table-column.js';
import { containerSpecs, labelsText } from './workload-columns.js';

const none = '<none>';
const unset = '<unset>';

/** A column that shows the value of one field; `doc` is the type with the field's description. */
function field(
  name: string,
  doc: string,
  path: string,
  { type = 'string', absent = '' }: { type?: TableColumn['type']; absent?: unknown } = {},
): ColumnSpec {
  const last = path.slice(path.lastIndexOf('.') + 1);
  return { name, type, doc: [doc, last], cell: (object) => valueAt(object, path) ?? absent };
}

function lengthOf(name: string, doc: string, path: string): ColumnSpec {
  return { name, type: 'integer', doc, cell: (object) => listAt(object, path).length };
}

function joined(object: UnstructuredObject, path: string, member: string): string {
  return listAt(object, path)
    .map((item) => textAt(item, member))
    .join(',');
}

const shownEndpoints = 3;

function endpointAddresses(object: UnstructuredObject): string {
  const subsets = listAt(object, 'subsets');
  if (subsets.length === 0) return none;
  const found = subsets.flatMap((subset) => {
    const ips = listAt(subset, 'addresses').map((address) => textAt(address, 'ip'));
    const ports = listAt(subset, 'ports').map((port) => numberAt(port, 'port'));
    if (ports.length === 0) return ips;
    const hosts = ips.map((ip) => (ip.includes(':') ? `[${ip}]` : ip));
    return ports.flatMap((port) => hosts.map((host) => `${host}:${port}`));
  });
  const shown = found.slice(0, shownEndpoints).join(',');
  return found.length > shownEndpoints
    ? `${shown} + ${found.length - shownEndpoints} more...`
    : shown;
}

function controllerName({ metadata }: UnstructuredObject): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return none;
  const [version = '', group = ''] = owner.apiVersion.split('/').reverse();
  const kind = owner.kind.toLowerCase();
  return `${kind}${group === '' || version === '' ? '' : `.${group}`}/${owner.name}`;
}

function parametersName(object: UnstructuredObject): string {
  const parameters = valueAt(object, 'spec.parameters');
  if (parameters === undefined) return none;
  const [group, kind] = [textAt(parameters, 'apiGroup'), textAt(parameters, 'kind')];
  return `${kind}${group === '' ? '' : `.${group}`}/${textAt(parameters, 'name')}`;
}

function kindText(object: UnstructuredObject, path: string): string {
  const kind = valueAt(object, path);
  return kind === undefined ? unset : `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}`;
}

function paramReference(object: UnstructuredObject): string {
  const reference = valueAt(object, 'spec.paramRef');
  if (reference === undefined) return unset;
  const name = textAt(reference, 'name');
  // A binding does not show whether its parameter is namespaced; only the policy does.
  if (name !== '') return `${textAt(reference, 'namespace', '*')}/${name}`;
  const selector = valueAt(reference, 'selector');
  return selector === undefined ? unset : selectorText(selector);
}

/** Returns a label selector as Go prints it. */
function selectorText(selector: unknown): string {
  const labels = Object.entries(valueAt(selector, 'matchLabels') ?? {}).sort();
  const requirements = listAt(selector, 'matchExpressions').map((one) => {
    const [key, operator] = [textAt(one, 'key'), textAt(one, 'operator')];
    const values = listAt(one, 'values').join(' ');
    return `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values}],},`;
  });
  const shown = labels.map(([key, value]) => `${key}: ${value},`).join('');
  const matched = `MatchExpressions:[]LabelSelectorRequirement{${requirements.join('')}}`;
  return `&LabelSelector{MatchLabels:map[string]string{${shown}},${matched},}`;
}

function availability(object: UnstructuredObject): string {
  const found = listAt(object, 'status.conditions').find(
    (condition) => textAt(condition, 'type') === 'Available',
  );
  const status = textAt(found, 'status', 'Unknown');
  const reason = textAt(found, 'reason');
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}

function apiServiceBackend(object: UnstructuredObject): string {
  const service = valueAt(object, 'spec.service');
  if (service === undefined) return 'Local';
  return `${textAt(service, 'namespace')}/${textAt(service, 'name')}`;
}

function certificateState(object: UnstructuredObject): string {
  const types = listAt(object, 'status.conditions').map((condition) => textAt(condition, 'type'));
  const has = (type: string): boolean => types.includes(type);
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  const failed = has('Failed') ? ',Failed' : '';
  const issued = textAt(object, 'status.certificate') === '' ? '' : ',Issued';
  return `${decision}${failed}${issued}`;
}

function claimState(object: UnstructuredObject): string {
  const states = [
    object.metadata.deletionTimestamp !== undefined && 'deleted',
    valueAt(object, 'status.allocation') !== undefined && 'allocated',
    listAt(object, 'status.reservedFor').length > 0 && 'reserved',
  ].filter((state) => state !== false);
  return states.length === 0 ? 'pending' : states.join(',');
}

/** A number that is 0 if absent. */
const count = { type: 'integer', absent: 0 } as const;
const yes = (absent: boolean) => ({ type: 'boolean', absent }) as const;

const replicationController = 'core.v1.ReplicationController';
const flow = 'flowcontrol.v1';
const storage = 'storage.v1';
const limited = 'spec.limited.limitResponse.queuing';

const webhooks = columnsOf([
  lengthOf(
    'Webhooks',
    'Webhooks indicates the number of webhooks registered in this configuration',
    'webhooks',
  ),
]);

const paramKind: ColumnSpec = {
  name: 'ParamKind',
  doc: 'ParamKind specifies the kind of resources used to parameterize this policy',
  cell: (object) => kindText(object, 'spec.paramKind'),
};

const policyBinding = columnsOf([
  {
    name: 'PolicyName',
    doc: 'PolicyName indicates the policy definition which the policy binding binded to',
    path: 'spec.policyName',
  },
  {
    name: 'ParamRef',
    doc: 'ParamRef indicates the param resource which sets the configuration param',
    cell: paramReference,
  },
]);

const ingressClassColumns = columnsOf([
  {
    name: 'Controller',
    doc: 'Controller that is responsible for handling this class',
    path: 'spec.controller',
  },
  {
    name: 'Parameters',
    doc: 'A reference to a resource with additional parameters',
    cell: parametersName,
  },
]);

/** The columns of kinds that few clients list: extensions, admission, flow control, drivers. */
export const extensionColumns: Readonly<Record<string, readonly TableColumn[]>> = {
  '/Endpoints': columnsOf([
    { name: 'Endpoints', doc: ['core.v1.Endpoints', 'subsets'], cell: endpointAddresses },
  ]),
  '/PodTemplate': [
    nameColumn,
    ...containerSpecs('template').map((spec) => column({ ...spec, wide: false })),
    column({
      name: 'Pod Labels',
      doc: 'The labels for the pod template.',
      cell: (object) => labelsText(object, 'template.metadata.labels'),
    }),
  ],
  '/ReplicationController': columnsOf([
    field('Desired', `${replicationController}Spec`, 'spec.replicas', count),
    field('Current', `${replicationController}Status`, 'status.replicas', count),
    field('Ready', `${replicationController}Status`, 'status.readyReplicas', count),
    ...containerSpecs('spec.template'),
    {
      name: 'Selector',
      doc: [`${replicationController}Spec`, 'selector'],
      wide: true,
      cell: (object) => labelsText(object, 'spec.selector'),
    },
  ]),
  'apps/ControllerRevision': columnsOf([
    { name: 'Controller', doc: 'Controller of the object', cell: controllerName },
    field('Revision', 'apps.v1.ControllerRevision', 'revision', { absent: 0 }),
  ]),
  'node.k8s.io/RuntimeClass': columnsOf([{ name: 'Handler', doc: '', path: 'handler' }]),
  'networking.k8s.io/IngressClass': [
    classNameColumn('ingressclass.kubernetes.io/is-default-class'),
    ...ingressClassColumns.slice(1),
  ],
  'flowcontrol.apiserver.k8s.io/FlowSchema': [
    ...columnsOf([
      {
        name: 'PriorityLevel',
        of: `${flow}.PriorityLevelConfigurationReference`,
        path: 'spec.priorityLevelConfiguration.name',
      },
      field('MatchingPrecedence', `${flow}.FlowSchemaSpec`, 'spec.matchingPrecedence'),
      {
        name: 'DistinguisherMethod',
        doc: [`${flow}.FlowSchemaSpec`, 'distinguisherMethod'],
        path: 'spec.distinguisherMethod.type',
        absent: none,
      },
    ]),
    column({
      name: 'MissingPL',
      doc: 'references a broken or non-existent PriorityLevelConfiguration',
      cell: (object) => {
        const dangling = listAt(object, 'status.conditions').find(
          (condition) => textAt(condition, 'type') === 'Dangling',
        );
        return textAt(dangling, 'status', '?');
      },
    }),
  ],
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': columnsOf([
    field('Type', `${flow}.PriorityLevelConfigurationSpec`, 'spec.type'),
    field(
      'NominalConcurrencyShares',
      `${flow}.LimitedPriorityLevelConfiguration`,
      'spec.limited.nominalConcurrencyShares',
      { absent: none },
    ),
    field('Queues', `${flow}.QueuingConfiguration`, `${limited}.queues`, { absent: none }),
    field('HandSize', `${flow}.QueuingConfiguration`, `${limited}.handSize`, { absent: none }),
    field('QueueLengthLimit', `${flow}.QueuingConfiguration`, `${limited}.queueLengthLimit`, {
      absent: none,
    }),
  ]),
  'storage.k8s.io/CSIDriver': columnsOf([
    field('AttachRequired', `${storage}.CSIDriverSpec`, 'spec.attachRequired', yes(true)),
    field('PodInfoOnMount', `${storage}.CSIDriverSpec`, 'spec.podInfoOnMount', yes(false)),
    field('StorageCapacity', `${storage}.CSIDriverSpec`, 'spec.storageCapacity', yes(false)),
    {
      name: 'TokenRequests',
      doc: [`${storage}.CSIDriverSpec`, 'tokenRequests'],
      cell: (object) => joined(object, 'spec.tokenRequests', 'audience') || unset,
    },
    field('RequiresRepublish', `${storage}.CSIDriverSpec`, 'spec.requiresRepublish', yes(false)),
    {
      name: 'Modes',
      doc: [`${storage}.CSIDriverSpec`, 'volumeLifecycleModes'],
      cell: (object) => listAt(object, 'spec.volumeLifecycleModes').join(',') || unset,
    },
  ]),
  'storage.k8s.io/CSINode': columnsOf([
    lengthOf(
      'Drivers',
      'Drivers indicates the number of CSI drivers registered on the node',
      'spec.drivers',
    ),
  ]),
  'storage.k8s.io/VolumeAttachment': columnsOf([
    { ...field('Attacher', `${storage}.VolumeAttachmentSpec`, 'spec.attacher'), format: 'name' },
    field('PV', `${storage}.VolumeAttachmentSource`, 'spec.source.persistentVolumeName'),
    field('Node', `${storage}.VolumeAttachmentSpec`, 'spec.nodeName'),
    field('Attached', `${storage}.VolumeAttachmentStatus`, 'status.attached', yes(false)),
  ]),
  'storage.k8s.io/VolumeAttributesClass': columnsOf([
    field('DriverName', `${storage}.VolumeAttributesClass`, 'driverName'),
  ]),
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': columnsOf([
    lengthOf(
      'Validations',
      'Validations indicates the number of validation rules defined in this configuration',
      'spec.validations',
    ),
    paramKind,
  ]),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': policyBinding,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': columnsOf([
    lengthOf(
      'Mutations',
      'Mutation indicates the number of mutations rules defined in this configuration',
      'spec.mutations',
    ),
    paramKind,
  ]),
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': policyBinding,
  'certificates.k8s.io/CertificateSigningRequest': [
    nameColumn,
    ageColumn,
    ...[
      {
        name: 'SignerName',
        doc: `Requested signer for the request. It is a qualified name in the form: \`scope-hostname.io/name\`. If empty, it will be defaulted:
 1. If it's a kubelet client certificate, it is assigned
    "kubernetes.io/kube-apiserver-client-kubelet".
 2. If it's a kubelet serving certificate, it is assigned
    "kubernetes.io/kubelet-serving".
 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".
Distribution of trust for signers happens out of band. You can select on this field using \`spec.signerName\`.`,
        cell: (object: UnstructuredObject) => textAt(object, 'spec.signerName', none),
      },
      {
        name: 'Requestor',
        doc: 'Base64-encoded PKCS#10 CSR data',
        cell: (object: UnstructuredObject) => textAt(object, 'spec.username'),
      },
      {
        name: 'RequestedDuration',
        doc: ['certificates.v1.CertificateSigningRequestSpec', 'expirationSeconds'] as const,
        cell: (object: UnstructuredObject) => {
          const seconds = valueAt(object, 'spec.expirationSeconds');
          return typeof seconds === 'number' ? durationText(seconds * 1000) : none;
        },
      },
      {
        name: 'Condition',
        doc: 'Conditions applied to the request, such as approval or denial.',
        cell: certificateState,
      },
    ].map(column),
  ],
  'apiregistration.k8s.io/APIService': columnsOf([
    {
      name: 'Service',
      doc: 'The reference to the service that hosts this API endpoint.',
      cell: apiServiceBackend,
    },
    { name: 'Available', doc: 'Whether this service is available.', cell: availability },
  ]),
  'resource.k8s.io/DeviceClass': [nameColumn, ageColumn],
  'resource.k8s.io/ResourceClaimTemplate': [nameColumn, ageColumn],
  'resource.k8s.io/ResourceSlice': columnsOf([
    field('Node', 'resource.v1.ResourceSliceSpec', 'spec.nodeName'),
    field('Driver', 'resource.v1.ResourceSliceSpec', 'spec.driver'),
    field('Pool', 'resource.v1.ResourcePool', 'spec.pool.name'),
  ]),
  'resource.k8s.io/ResourceClaim': columnsOf([
    {
      name: 'State',
      doc: 'A summary of the current state (allocated, pending, reserved, etc.).',
      cell: claimState,
    },
  ]),
};
