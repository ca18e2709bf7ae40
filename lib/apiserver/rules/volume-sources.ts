import { isJsonObject, labelProblems, subdomainProblems } from '../../object/index.js';
import type { FieldErrors } from '../../crd/internal.js';

/** A volume source of an object: its fields differ by type. */
type Source = Readonly<Record<string, unknown>>;

/** The data that the check of a volume source needs. */
export interface SourceCheck {
  /** True for PersistentVolumes, whose references have a namespace. */
  readonly persistent: boolean;
  /** The name of the PersistentVolume; empty for others. */
  readonly name: string;
  readonly errors: FieldErrors;
}

/** The fields that a source must have, by its type. */
const requiredFields: Readonly<Partial<Record<string, readonly string[]>>> = {
  awsElasticBlockStore: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  azureFile: ['secretName', 'shareName'],
  cephfs: ['monitors'],
  cinder: ['volumeID'],
  flexVolume: ['driver'],
  gcePersistentDisk: ['pdName'],
  gitRepo: ['repository'],
  glusterfs: ['endpoints', 'path'],
  iscsi: ['targetPortal', 'iqn'],
  nfs: ['server', 'path'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  rbd: ['monitors', 'image'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  storageos: ['volumeName'],
  vsphereVolume: ['volumePath'],
};

type Check = (source: Source, check: SourceCheck) => void;

const checks: Readonly<Partial<Record<string, Check>>> = {
  awsElasticBlockStore: checkPartition,
  azureDisk: checkAzureDisk,
  azureFile: checkAzureFile,
  cinder: checkSecret,
  csi: checkCsi,
  fc: checkFibreChannel,
  flexVolume: checkFlexVolume,
  flocker: checkFlocker,
  gcePersistentDisk: checkPartition,
  gitRepo: checkRepository,
  glusterfs: checkGlusterfs,
  iscsi: checkIscsi,
  nfs: checkNfs,
  quobyte: checkQuobyte,
  storageos: checkStorageOs,
};

/** Checks a volume source of a type whose data is outside of the node. */
export function validateOutsideSource(type: string, source: unknown, check: SourceCheck): void {
  if (!isJsonObject(source)) return;
  const errors = check.errors.at(type === 'gcePersistentDisk' ? 'persistentDisk' : type);
  for (const member of requiredFields[type] ?? []) {
    if (isEmpty(source[member])) errors.required(member);
  }
  checks[type]?.(source, { ...check, errors });
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || listOf(value)?.length === 0;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? (value as unknown[]) : undefined;
}

function checkPartition({ partition }: Source, { errors }: SourceCheck): void {
  const number = numberOf(partition);
  if (number >= 0 && number <= 255) return;
  errors.invalid('partition', number, 'must be between 1 and 255, inclusive');
}

const cachingModes = ['None', 'ReadOnly', 'ReadWrite'];
const diskKinds = ['Dedicated', 'Managed', 'Shared'];
const managedDisk =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobDisk = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

function checkAzureDisk(source: Source, { errors }: SourceCheck): void {
  const [caching, kind, uri] = ['cachingMode', 'kind', 'diskURI'].map((name) =>
    textOf(source[name]),
  ) as [string, string, string];
  errors.oneOf('cachingMode', caching, cachingModes);
  errors.oneOf('kind', kind, diskKinds);
  const isManaged = kind === 'Managed';
  if (uri.startsWith(isManaged ? '/subscriptions/' : 'https://')) return;
  errors.notSupported('diskURI', uri, [isManaged ? managedDisk : blobDisk]);
}

function checkAzureFile({ secretNamespace }: Source, { errors }: SourceCheck): void {
  if (secretNamespace === '') errors.required('secretNamespace');
}

function checkSecret({ secretRef }: Source, check: SourceCheck): void {
  const { errors, persistent } = check;
  if (!isJsonObject(secretRef)) return;
  if (isEmpty(secretRef['name'])) errors.required('secretRef.name');
  if (persistent && isEmpty(secretRef['namespace'])) errors.required('secretRef.namespace');
}

const driverNameLimit = 63;

/** Checks the name of a CSI driver. */
export function validateDriverName(name: string, errors: FieldErrors): void {
  if (name === '') {
    errors.required('');
    return;
  }
  if (name.length > driverNameLimit) errors.tooLong('', driverNameLimit);
  errors.invalidEach('', name, subdomainProblems(name.toLowerCase()));
}

const csiSecrets = [
  ...['controllerPublishSecretRef', 'controllerExpandSecretRef'],
  ...['nodePublishSecretRef', 'nodeExpandSecretRef'],
];

function checkCsi(source: Source, { errors, persistent }: SourceCheck): void {
  validateDriverName(textOf(source['driver']), errors.at('driver'));
  if (persistent && isEmpty(source['volumeHandle'])) errors.required('volumeHandle');
  for (const member of csiSecrets) {
    const secret = source[member];
    if (!isJsonObject(secret)) continue;
    const [name, namespace] = [textOf(secret['name']), textOf(secret['namespace'])];
    if (name === '') errors.required(`${member}.name`);
    else {
      // For a pod, the path in the real server's error lacks the name of the reference.
      const path = persistent ? `${member}.name` : 'name';
      errors.invalidEach(path, name, subdomainProblems(name));
    }
    if (!persistent) continue;
    const path = `${member}.namespace`;
    errors.requiredText(path, namespace, labelProblems);
  }
}

const byteRange = 'must be between 0 and 255, inclusive';

function checkFibreChannel(source: Source, { errors }: SourceCheck): void {
  const names = listOf(source['targetWWNs']) ?? [];
  const ids = listOf(source['wwids']) ?? [];
  const path = 'targetWWNs';
  if (names.length === 0 && ids.length === 0) {
    errors.required(path, 'must specify either targetWWNs or wwids, but not both');
  }
  if (names.length > 0 && ids.length > 0) {
    errors.invalid(path, names, 'targetWWNs and wwids can not be specified simultaneously');
  }
  if (names.length === 0) return;
  const { lun } = source;
  if (lun === undefined) {
    errors.required('lun', 'lun is required if targetWWNs is specified');
  } else if (numberOf(lun) < 0 || numberOf(lun) > 255) {
    errors.invalid('lun', lun, byteRange);
  }
}

function checkFlexVolume({ options }: Source, { errors }: SourceCheck): void {
  for (const key of Object.keys(isJsonObject(options) ? options : {})) {
    const [namespace = ''] = key.split('/');
    if (!/\.(?:kubernetes|k8s)\.io$/.test(`.${namespace.toLowerCase()}`)) continue;
    errors.invalid(`options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved');
  }
}

function checkFlocker(source: Source, { errors }: SourceCheck): void {
  const [name, uuid] = [textOf(source['datasetName']), textOf(source['datasetUUID'])];
  if (name === '' && uuid === '') {
    errors.required('', 'one of datasetName and datasetUUID is required');
  }
  if (name !== '' && uuid !== '') {
    const why = 'datasetName and datasetUUID can not be specified simultaneously';
    errors.invalid('', 'resource', why);
  }
  if (name.includes('/')) errors.invalid('datasetName', name, "must not contain '/'");
}

function checkRepository({ directory }: Source, { errors }: SourceCheck): void {
  const path = textOf(directory);
  if (path.startsWith('/')) errors.invalid('directory', path, 'must be a relative path');
  if (path.split('/').includes('..')) errors.invalid('directory', path, "must not contain '..'");
}

function checkGlusterfs(source: Source, { errors }: SourceCheck): void {
  const { endpointsNamespace: namespace } = source;
  const path = 'endpointsNamespace';
  if (namespace === '') {
    const why = 'if the endpointnamespace is set, it must be a valid namespace name';
    errors.invalid(path, namespace, why);
  } else if (typeof namespace === 'string') {
    errors.invalidEach(path, namespace, labelProblems(namespace));
  }
}

const iqnForm = /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9\-.]+)(:[^,;*&$|\s]+)$/;
const euiForm = /^eui.[a-zA-Z0-9]{16}$/;
const naaForm = /^naa.[a-zA-Z0-9]{32}$/;

function checkIscsi(source: Source, check: SourceCheck): void {
  const { errors, persistent } = check;
  const { initiatorName: initiator, lun } = source;
  const [portal, iqn] = [textOf(source['targetPortal']), textOf(source['iqn'])];
  if (persistent && typeof initiator === 'string' && `${check.name}:${portal}`.length > 64) {
    const why =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
    errors.invalid('targetportal', portal, why);
  }
  if (iqn !== '') checkIscsiName(iqn, persistent, errors.at('iqn'));
  if (numberOf(lun) < 0 || numberOf(lun) > 255) errors.invalid('lun', lun, byteRange);
  const needsSecret = source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true;
  const { secretRef } = source;
  if (needsSecret && secretRef === undefined) errors.required('secretRef');
  if (persistent && isJsonObject(secretRef) && isEmpty(secretRef['name'])) {
    errors.required('secretRef.name');
  }
  if (typeof initiator === 'string') {
    checkIscsiName(initiator, persistent, errors.at('initiatorname'));
  }
}

function checkIscsiName(name: string, persistent: boolean, errors: FieldErrors): void {
  const forms = { iqn: iqnForm, eui: euiForm, naa: naaForm } as const;
  const form = Object.entries(forms).find(([prefix]) => name.startsWith(prefix))?.[1];
  const start = persistent ? '' : ' starting with iqn, eui, or naa';
  if (form === undefined) errors.invalid('', name, `must be valid format${start}`);
  else if (!form.test(name)) errors.invalid('', name, 'must be valid format');
}

function checkNfs({ path }: Source, { errors }: SourceCheck): void {
  if (textOf(path).startsWith('/')) return;
  errors.invalid('path', textOf(path), 'must be an absolute path');
}

function checkQuobyte(source: Source, { errors }: SourceCheck): void {
  const [registry, tenant] = [textOf(source['registry']), textOf(source['tenant'])];
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  if (registry === '') errors.required('registry', pairs);
  else if (tenant.length >= 65) {
    errors.required('tenant', 'must be a UUID and may not exceed a length of 64 characters');
  } else {
    for (const pair of registry.split(',')) {
      if (/^(?:\[[^\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair)) continue;
      errors.invalid('registry', registry, pairs);
    }
  }
  if (isEmpty(source['volume'])) errors.required('volume');
}

function checkStorageOs(source: Source, check: SourceCheck): void {
  const { errors } = check;
  for (const member of ['volumeName', 'volumeNamespace']) {
    errors.optionalText(member, textOf(source[member]), labelProblems);
  }
  checkSecret(source, check);
}
