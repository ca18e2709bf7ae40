import type { OwnerReference, UnstructuredObject } from '../../../object/kubernetes-object.js';
import { groupOf } from '../../../object/resource-type.js';
import type { ControllerHost } from '../controller-host.js';
import { manager } from '../manager-name.js';
import { safeSuffix } from '../safe-hash.js';
import { timestamp } from '../timestamp.js';

const component = 'garbage-collector-controller';

/**
 * Records a warning Event if the owner of an object is in another namespace. The garbage collector is about
 * to delete such an object, which surprises users.
 */
export async function reportForeignOwner(
  host: ControllerHost,
  object: UnstructuredObject,
  reference: OwnerReference,
): Promise<void> {
  const { namespace = '' } = object.metadata;
  if (namespace === '' || !existsElsewhere(host, reference)) return;
  const { apiVersion, kind, name, uid } = reference;
  const owner = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
  const message = `ownerRef ${owner} does not exist in namespace "${namespace}"`;
  const now = timestamp(host.now());
  await host.writer(manager).create<UnstructuredObject>({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${object.metadata.name ?? ''}.${safeSuffix(() => host.random.next(), 16)}`,
      namespace,
    },
    involvedObject: referenceOf(object),
    reason: 'OwnerRefInvalidNamespace',
    message,
    type: 'Warning',
    source: { component },
    reportingComponent: component,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  });
}

function existsElsewhere(host: ControllerHost, reference: OwnerReference): boolean {
  const type = host.loopback.resourceTypes().find(({ group, kind, namespaced }) => {
    return namespaced && kind === reference.kind && group === groupOf(reference.apiVersion);
  });
  if (type === undefined) return false;
  return host.loopback.list(type).some(({ metadata }) => metadata.uid === reference.uid);
}

function referenceOf({ apiVersion, kind, metadata }: UnstructuredObject): object {
  const { namespace, name, uid } = metadata;
  return { apiVersion, kind, namespace, name, uid };
}
