import type { KubernetesObject, ObjectMeta } from '../../object/kubernetes-object.js';
import type { TypedSchema } from '../schema/typed-schema.js';

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** For example `.status.replicas`. */
  readonly jsonPath: string;
  /** For example `int32`. @defaultValue none */
  readonly format?: string | undefined;
  /** @defaultValue none */
  readonly description?: string | undefined;
  /** Columns above 0 are shown with `-o wide` only. @defaultValue 0 */
  readonly priority?: number | undefined;
}

/** Where an object keeps what its scale subresource shows. */
export interface ScaleDefinition {
  /** Below `.spec`. */
  readonly specReplicasPath: string;
  /** Below `.status`. */
  readonly statusReplicasPath: string;
  /** A text with a label selector, for autoscalers. @defaultValue none */
  readonly labelSelectorPath?: string | undefined;
}

/** A version of a custom resource. */
export interface VersionDefinition {
  /** For example `v1beta1`. */
  readonly name: string;
  /**
   * What an object has beside apiVersion, kind, metadata and status: usually an object with `spec`.
   * Its rules see `self.metadata.name`.
   */
  readonly schema: TypedSchema<object, object>;
  /** What `status` is; with it there is a status subresource. @defaultValue no status */
  readonly status?: TypedSchema<unknown> | undefined;
  /** @defaultValue true */
  readonly served?: boolean | undefined;
  /** Whether objects are stored in it; one version is. @defaultValue true if it is the only version */
  readonly storage?: boolean | undefined;
  /** Whether clients are warned; a text is the warning. @defaultValue false */
  readonly deprecated?: boolean | string | undefined;
  /** @defaultValue those of the resource */
  readonly printerColumns?: readonly PrinterColumn[] | undefined;
  /** Paths that field selectors know, as `.spec.node`. @defaultValue those of the resource */
  readonly selectableFields?: readonly string[] | undefined;
  /** @defaultValue that of the resource */
  readonly scale?: ScaleDefinition | undefined;
}

/** An object of a version. */
export type VersionObject<V extends VersionDefinition> = KubernetesObject &
  Omit<ValueIn<V['schema']>, keyof KubernetesObject | 'status'> &
  StatusOf<V>;

/** What is written of an object of a version: what has a default may be left out. */
export type VersionInput<V extends VersionDefinition> = { readonly metadata: ObjectMeta } & Omit<
  InputIn<V['schema']>,
  keyof KubernetesObject | 'status'
>;

type ValueIn<S> = S extends TypedSchema<infer T, unknown> ? T : never;
type InputIn<S> = S extends TypedSchema<unknown, infer I> ? I : never;

type StatusOf<V extends VersionDefinition> = V extends { readonly status: infer S }
  ? { status?: ValueIn<S> }
  : unknown;

/** The version of a name. */
export type NamedVersion<V extends readonly VersionDefinition[], N extends string> = Extract<
  V[number],
  { readonly name: N }
>;

/** The version that objects are stored in. */
export type StorageVersion<V extends readonly VersionDefinition[]> = V extends readonly [
  infer Only extends VersionDefinition,
]
  ? Only
  : Extract<V[number], { readonly storage: true }>;

/** How objects of one version become objects of the hub, and back. Both must be pure. */
export interface SpokeConversion<Spoke, Hub> {
  /** @returns a new object; its apiVersion and kind are set by the caller */
  readonly toHub: (object: Spoke) => Hub;
  /** @returns a new object; its apiVersion and kind are set by the caller */
  readonly fromHub: (object: Hub) => Spoke;
}

/** Conversion by way of one version, the hub: two functions for each other version. */
export interface ConversionDefinition<V extends readonly VersionDefinition[], H extends string> {
  readonly hub: H;
  readonly spokes: {
    readonly [N in Exclude<V[number]['name'], H>]: SpokeConversion<
      VersionObject<NamedVersion<V, N>>,
      VersionObject<NamedVersion<V, H>>
    >;
  };
}

/** A custom resource. */
export interface ResourceDefinition<
  V extends readonly VersionDefinition[],
  H extends V[number]['name'],
> {
  /** For example `example.com`. */
  readonly group: string;
  /** For example `CronTab`. */
  readonly kind: string;
  /** The name in URLs. @defaultValue the kind in small letters, with an `s` (`ies`, `es`) */
  readonly plural?: string | undefined;
  /** @defaultValue the kind in small letters */
  readonly singular?: string | undefined;
  /** @defaultValue the kind with `List` */
  readonly listKind?: string | undefined;
  /** @defaultValue 'Namespaced' */
  readonly scope?: 'Namespaced' | 'Cluster' | undefined;
  /** Other names for kubectl. @defaultValue none */
  readonly shortNames?: readonly string[] | undefined;
  /** For example `all`, as in `kubectl get all`. @defaultValue none */
  readonly categories?: readonly string[] | undefined;
  /** At least one. */
  readonly versions: V;
  /** Of versions that have none of their own. @defaultValue none */
  readonly printerColumns?: readonly PrinterColumn[] | undefined;
  /** Of versions that have none of their own. @defaultValue none */
  readonly selectableFields?: readonly string[] | undefined;
  /** Of versions that have none of their own. @defaultValue no scale subresource */
  readonly scale?: ScaleDefinition | undefined;
  /**
   * How objects of one version become objects of another. `'prune'`: the API server changes
   * `apiVersion` only, so that **a write through one version drops the optional fields that it lacks**.
   * @defaultValue versions have the same fields
   */
  readonly conversion?: ConversionDefinition<V, H> | 'prune' | undefined;
  /** @defaultValue none */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** @defaultValue none */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** A {@link ResourceDefinition} whose types do not matter any more. */
export type AnyResourceDefinition = Omit<
  ResourceDefinition<readonly VersionDefinition[], string>,
  'conversion'
> & { readonly conversion?: AnyConversion | 'prune' | undefined };

/** A {@link ConversionDefinition} whose types do not matter any more. */
export interface AnyConversion {
  readonly hub: string;
  readonly spokes: Readonly<
    Record<string, SpokeConversion<KubernetesObject, KubernetesObject> | undefined>
  >;
}
