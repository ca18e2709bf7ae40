import { encodedData } from '../hash/data-hash.js';
import type { ConfigurationData } from '../hash/data-hash.js';
import { isJsonObject, withoutMember } from '../object/json.js';
import { PersistentVolumeClaim, Secret } from '../object/kinds.js';
import type {
  KubernetesObject,
  ObjectMeta,
  UnstructuredObject,
} from '../object/kubernetes-object.js';
import { labelValueOf } from '../object/label-value.js';
import { ownerUidLabel, withControllerReference } from '../object/owner-reference.js';
import type { ApplySettings } from './context.js';
import type { WantedObject } from './desired-object.js';
import { builtInType, isKind } from './kind-traits.js';
import {
  managedByLabel,
  ownerKindAnnotation,
  ownerNameAnnotation,
  pruneAnnotation,
  scopeLabel,
} from './marks.js';
import { ownerKindOf } from './ownership.js';

/**
 * The object as it is to be applied, but for hashes: in its namespace, with owner and labels.
 * @throws AlreadyOwnedError `AlreadyOwned`: it is wanted with another controller.
 */
export function completeObject(settings: ApplySettings, wanted: WantedObject): UnstructuredObject {
  const { object } = wanted;
  const metadata = completeMetadata(settings, wanted);
  const body = builtInType(object) === undefined ? object : withoutNulls(object);
  // Whoever writes the status, it is not the applier of the spec: it would never count as applied.
  const complete = encodeSecret({ ...withoutMember(body, 'status'), metadata });
  return retains(wanted) ? complete : withController(settings, wanted, complete);
}

/** Whether the object outlives its owner. */
export function retains({ object, options }: WantedObject): boolean {
  if (!isKind(object, PersistentVolumeClaim)) return false;
  return (options.whenOwnerDeleted ?? 'retain') === 'retain';
}

function completeMetadata(settings: ApplySettings, wanted: WantedObject): ObjectMeta {
  const { metadata } = wanted.object;
  const { name, namespace } = wanted.ref;
  const marks = retains(wanted) ? retainedMarks(settings.owner) : noMarks;
  const annotations = {
    ...metadata.annotations,
    ...marks.annotations,
    ...pruneMark(wanted),
  };
  const { finalizers, ownerReferences } = metadata;
  return {
    ...(name !== '' && { name }),
    ...(namespace !== undefined && { namespace }),
    labels: { ...labelsOf(settings, wanted), ...marks.labels },
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(ownerReferences !== undefined && { ownerReferences }),
    ...(finalizers !== undefined && { finalizers }),
    ...(metadata.generateName !== undefined && { generateName: metadata.generateName }),
  };
}

function labelsOf(settings: ApplySettings, { object }: WantedObject): Record<string, string> {
  const { owner, controllerName, labels, scope } = settings;
  return {
    'app.kubernetes.io/name': labelValueOf(owner.kind.toLowerCase()),
    'app.kubernetes.io/instance': labelValueOf(owner.metadata.name ?? ''),
    ...labels,
    ...object.metadata.labels,
    // Not to be overlaid: pruning goes by them.
    [managedByLabel]: labelValueOf(controllerName),
    ...(scope !== undefined && { [scopeLabel]: scope }),
  };
}

interface Marks {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const noMarks: Marks = { labels: {}, annotations: {} };

function retainedMarks(owner: KubernetesObject): Marks {
  const { uid = '', name = '' } = owner.metadata;
  return {
    labels: { [ownerUidLabel]: uid },
    annotations: { [ownerKindAnnotation]: ownerKindOf(owner), [ownerNameAnnotation]: name },
  };
}

// What an object says of its pruning must still be there when it is no longer desired.
function pruneMark({ options }: WantedObject): Readonly<Record<string, string>> {
  const { prune } = options;
  return prune === undefined ? {} : { [pruneAnnotation]: String(prune) };
}

function withController(
  { owner }: ApplySettings,
  { type }: WantedObject,
  object: UnstructuredObject,
): UnstructuredObject {
  const { namespace = '' } = owner.metadata;
  return withControllerReference(object, owner, {
    ownerNamespaced: namespace !== '',
    objectNamespaced: type.namespaced,
  });
}

// A key that was once applied as `stringData` could never be removed again.
function encodeSecret(object: UnstructuredObject): UnstructuredObject {
  if (!isKind(object, Secret) || object['stringData'] === undefined) return object;
  const data = encodedData(object as ConfigurationData);
  return { ...withoutMember(object, 'stringData'), data };
}

// In a built-in kind null says what absence says, but would be owned as a field of its own.
function withoutNulls(object: UnstructuredObject): UnstructuredObject {
  return dropNulls(object) as UnstructuredObject;
}

function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, dropNulls(member)]));
}
