import type {
  V1Affinity,
  V1ConfigMapKeySelector,
  V1Container,
  V1ContainerPort,
  V1EnvFromSource,
  V1EnvVar,
  V1IngressSpec,
  V1JobTemplateSpec,
  V1LabelSelector,
  V1LocalObjectReference,
  V1NetworkPolicySpec,
  V1NodeAffinity,
  V1ObjectReference,
  V1PersistentVolumeClaimSpec,
  V1PodAffinity,
  V1PodSecurityContext,
  V1PodSpec,
  V1PodTemplateSpec,
  V1PolicyRule,
  V1Probe,
  V1ResourceRequirements,
  V1SecretKeySelector,
  V1SecurityContext,
  V1ServicePort,
  V1ServiceSpec,
  V1Toleration,
  V1TopologySpreadConstraint,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node';
import type { Condition, Schema, Wire } from '../../object/index.js';
import { rawDefinition } from '../openapi/definitions.js';

declare const valueType: unique symbol;
declare const inputType: unique symbol;

/** Marks whether a property may be omitted. */
export const presence: unique symbol = Symbol('presence');
/** Marks the built-in type that a schema refers to. */
export const builtInType: unique symbol = Symbol('builtInType');

/** Whether a property may be omitted. A `defaulted` one is optional in writes and always present in reads. */
export type Presence = 'required' | 'optional' | 'defaulted';

/**
 * A structural schema as plain JSON, with the TypeScript type of its values, made by the constructors in
 * {@link s}. `T` is the type as read, `I` as written, where properties with a default are optional.
 */
export interface TypedSchema<out T, out I = T, P extends Presence = Presence> extends Schema {
  readonly [presence]?: P;
  readonly [builtInType]?: string;
  readonly [valueType]?: T;
  readonly [inputType]?: I;
}

/** The TypeScript type of a schema's values as read, with defaults. */
export type ValueOf<S> = S extends TypedSchema<infer T, unknown> ? T : never;

/** The TypeScript type of a schema's values as written; properties with a default are optional. */
export type InputOf<S> = S extends TypedSchema<unknown, infer I> ? I : never;

/** The properties of an object, by name. */
export type Properties = Readonly<Record<string, TypedSchema<unknown>>>;

type NamesOf<P extends Properties, Wanted extends Presence> = {
  [K in keyof P]: PresenceOf<P[K]> extends Wanted ? K : never;
}[keyof P];

type PresenceOf<S> = S extends { readonly [presence]?: infer P }
  ? Presence extends P
    ? 'required'
    : Exclude<P, undefined>
  : 'required';

type Flat<T> = { [K in keyof T]: T[K] };

/** The TypeScript type, as read, of an object with these properties. */
export type ObjectValue<P extends Properties> = Flat<
  { [K in NamesOf<P, 'required' | 'defaulted'>]: ValueOf<P[K]> } & {
    [K in NamesOf<P, 'optional'>]?: ValueOf<P[K]>;
  }
>;

/** The TypeScript type, as written, of an object with these properties. JSON drops undefined members. */
export type ObjectInput<P extends Properties> = Flat<
  { [K in NamesOf<P, 'required'>]: InputOf<P[K]> } & {
    [K in NamesOf<P, 'optional' | 'defaulted'>]?: InputOf<P[K]> | undefined;
  }
>;

/** The built-in types that a custom resource can embed, in their wire format. */
export interface BuiltInTypes {
  Affinity: Wire<V1Affinity>;
  Condition: Condition;
  ConfigMapKeySelector: Wire<V1ConfigMapKeySelector>;
  Container: Wire<V1Container>;
  ContainerPort: Wire<V1ContainerPort>;
  EnvFromSource: Wire<V1EnvFromSource>;
  EnvVar: Wire<V1EnvVar>;
  IngressSpec: Wire<V1IngressSpec>;
  JobTemplateSpec: Wire<V1JobTemplateSpec>;
  LabelSelector: Wire<V1LabelSelector>;
  LocalObjectReference: Wire<V1LocalObjectReference>;
  NetworkPolicySpec: Wire<V1NetworkPolicySpec>;
  NodeAffinity: Wire<V1NodeAffinity>;
  ObjectReference: Wire<V1ObjectReference>;
  PersistentVolumeClaimSpec: Wire<V1PersistentVolumeClaimSpec>;
  PodAffinity: Wire<V1PodAffinity>;
  PodSecurityContext: Wire<V1PodSecurityContext>;
  PodSpec: Wire<V1PodSpec>;
  PodTemplateSpec: Wire<V1PodTemplateSpec>;
  PolicyRule: Wire<V1PolicyRule>;
  Probe: Wire<V1Probe>;
  ResourceRequirements: Wire<V1ResourceRequirements>;
  SecretKeySelector: Wire<V1SecretKeySelector>;
  SecurityContext: Wire<V1SecurityContext>;
  ServicePort: Wire<V1ServicePort>;
  ServiceSpec: Wire<V1ServiceSpec>;
  Toleration: Wire<V1Toleration>;
  TopologySpreadConstraint: Wire<V1TopologySpreadConstraint>;
  Volume: Wire<V1Volume>;
  VolumeMount: Wire<V1VolumeMount>;
}

/** The name of a built-in type that can be embedded. */
export type BuiltInTypeName = keyof BuiltInTypes;

/** Packages of the types outside the core group. */
const packages: Readonly<Partial<Record<BuiltInTypeName, string>>> = {
  Condition: 'io.k8s.apimachinery.pkg.apis.meta.v1',
  IngressSpec: 'io.k8s.api.networking.v1',
  JobTemplateSpec: 'io.k8s.api.batch.v1',
  LabelSelector: 'io.k8s.apimachinery.pkg.apis.meta.v1',
  NetworkPolicySpec: 'io.k8s.api.networking.v1',
  PolicyRule: 'io.k8s.api.rbac.v1',
};

export function isBuiltInType(name: unknown): boolean {
  return typeof name === 'string' && rawDefinition(definitionOf(name)) !== undefined;
}

/** Returns a type's name among OpenAPI's definitions. */
export function definitionOf(name: string): string {
  const pack = Object.hasOwn(packages, name) ? packages[name as BuiltInTypeName] : undefined;
  return `${pack ?? 'io.k8s.api.core.v1'}.${name}`;
}
