import { isKind, kindKey, podReferencesOf, podTemplateIn, refId } from '../apply/index.js';
import {
  describeObject,
  ConfigMap,
  CustomResourceDefinition,
  HorizontalPodAutoscaler,
  Ingress,
  Namespace,
  PersistentVolumeClaim,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
} from '../object/index.js';
import type { KubernetesObject, ObjectReference, ResourceType } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import type { ChainedObject } from './chain.js';

/**
 * Returns the ids of the objects that `chained` needs, in the chain or not. `chained` waits if one of them
 * fails or is pending.
 */
export function dependenciesOf(chained: ChainedObject): readonly string[] {
  const { object } = chained.link;
  const id = (type: ResourceType<KubernetesObject>, name: string | undefined): readonly string[] =>
    name === undefined ? [] : [`${kindKey(type)}/${chained.ref.namespace ?? ''}/${name}`];
  const all = (type: ResourceType<KubernetesObject>, names: readonly string[]): readonly string[] =>
    names.flatMap((name) => id(type, name));
  const template = podTemplateIn(object);
  const pods = template === undefined ? undefined : podReferencesOf(template);
  const rolloutOn = chained.link.workload?.rolloutOn ?? [];
  return [
    ...containersOf(chained),
    ...all(ConfigMap, [...(pods?.configMaps ?? []), ...rolloutOn]),
    ...all(Secret, [...(pods?.secrets ?? []), ...(pods?.nodeSecrets ?? []), ...rolloutOn]),
    ...all(PersistentVolumeClaim, pods?.claims ?? []),
    ...id(ServiceAccount, pods?.serviceAccount),
    ...(isKind(object, StatefulSet) ? id(Service, serviceNameOf(object)) : []),
    ...(isKind(object, RoleBinding) ? id(Role, roleNameOf(object)) : []),
    ...(isKind(object, Ingress) ? all(Service, backendsOf(object)) : []),
    ...(isKind(object, Ingress) ? all(Secret, tlsSecretsOf(object)) : []),
    ...scaleTargetOf(chained),
  ];
}

/** Returns the ids of the Namespace and the CustomResourceDefinition that must exist before the object. */
export function containersOf({
  type,
  ref: { namespace },
}: Pick<ChainedObject, 'type' | 'ref'>): readonly string[] {
  const place = namespace === undefined ? [] : [`${kindKey(Namespace)}//${namespace}`];
  return [...place, definitionId(type)];
}

/** Returns the id of the CustomResourceDefinition of a kind. */
export function definitionId({ plural, group }: ResourceType<KubernetesObject>): string {
  return `${kindKey(CustomResourceDefinition)}//${plural}.${group}`;
}

/** Returns the id of the workload that a HorizontalPodAutoscaler scales; empty for other objects. */
export function scaleTargetOf({ link, ref }: ChainedObject): readonly string[] {
  if (!isKind(link.object, HorizontalPodAutoscaler)) return [];
  const { scaleTargetRef } = (link.object['spec'] ?? {}) as {
    readonly scaleTargetRef?: { apiVersion?: string; kind: string; name: string };
  };
  if (scaleTargetRef === undefined) return [];
  const { apiVersion = 'apps/v1', kind, name } = scaleTargetRef;
  // The target can't be an autoscaler, which has no replicas. An autoscaler that names itself would depend on itself.
  if (kind === HorizontalPodAutoscaler.kind) return [];
  return [refId({ apiVersion, kind, name, namespace: ref.namespace })];
}

function serviceNameOf(object: Readonly<Record<string, unknown>>): string | undefined {
  return (object['spec'] as { readonly serviceName?: string } | undefined)?.serviceName;
}

function roleNameOf(object: Readonly<Record<string, unknown>>): string | undefined {
  const { kind, name } = (object['roleRef'] ?? {}) as { readonly kind?: string; name?: string };
  return kind === 'Role' ? name : undefined;
}

function backendsOf(object: Readonly<Record<string, unknown>>): readonly string[] {
  const { defaultBackend, rules = [] } = ingressSpecOf(object);
  const paths = rules.flatMap(({ http }) => http?.paths ?? []);
  const backends = [defaultBackend, ...paths.map(({ backend }) => backend)];
  return backends.flatMap((backend) => backend?.service?.name ?? []);
}

function tlsSecretsOf(object: Readonly<Record<string, unknown>>): readonly string[] {
  const { tls = [] } = ingressSpecOf(object);
  return tls.flatMap(({ secretName }) => secretName ?? []);
}

function ingressSpecOf(object: Readonly<Record<string, unknown>>): NonNullable<Ingress['spec']> {
  return object['spec'] ?? {};
}

export interface FailedObject {
  readonly ref: ObjectReference;
  readonly error: OperatorError;
}

/** Returns the error of an object that was not reconciled because `broken`, which it needs, failed. */
export function dependencyFailed(ref: ObjectReference, broken: FailedObject): OperatorError {
  const message = `${describeObject(ref)} was left as it is: it needs ${describeObject(broken.ref)}, which failed`;
  return new OperatorError('DependencyFailed', message, { cause: broken.error });
}
