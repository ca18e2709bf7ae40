import { pluralOf } from '../../object/index.js';
import type { KubernetesObject, ObjectMeta } from '../../object/index.js';
import { refuseUnknownOptions, OperatorError, shortened } from '../../system/index.js';
import type { OptionNames, Resolved } from '../../system/index.js';
import type { TypedSchema, InputOf, ValueOf } from '../schema/typed-schema.js';

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** Path of the shown field, for example `.status.replicas`. */
  readonly jsonPath: string;
  /** The format of the value, for example `int32`. @defaultValue none */
  readonly format?: string | undefined;
  /** A description of the column, for clients. @defaultValue none */
  readonly description?: string | undefined;
  /** Columns above 0 appear only with `-o wide`. @defaultValue 0 */
  readonly priority?: number | undefined;
}

/** Paths of the fields that the scale subresource exposes. */
export interface ScaleDefinition {
  /** Path of the desired number of replicas, below `.spec`. */
  readonly specReplicasPath: string;
  /** Path of the actual number of replicas, below `.status`. */
  readonly statusReplicasPath: string;
  /** Path of a string field with a label selector, for autoscalers. @defaultValue none */
  readonly labelSelectorPath?: string | undefined;
}

/** A version of a custom resource. */
export interface VersionDefinition {
  /** The name of the version, for example `v1beta1`. */
  readonly name: string;
  /**
   * Schema of the fields other than apiVersion, kind, metadata and status: usually an object with `spec`. Its
   * rules can read `self.metadata.name`.
   */
  readonly schema: TypedSchema<object, object>;
  /** Schema of `status`; enables the status subresource. @defaultValue no status */
  readonly status?: TypedSchema<unknown> | undefined;
  /** Serves the version to clients. @defaultValue true */
  readonly served?: boolean | undefined;
  /**
   * Stores objects in this version; exactly one version does. @defaultValue true if it is the only version
   */
  readonly storage?: boolean | undefined;
  /** Warns clients that use this version; a string is the text of the warning. @defaultValue false */
  readonly deprecated?: boolean | string | undefined;
  /** Columns of `kubectl get`. @defaultValue those of the resource */
  readonly printerColumns?: readonly PrinterColumn[] | undefined;
  /** Paths that field selectors support, such as `.spec.node`. @defaultValue the paths of the resource */
  readonly selectableFields?: readonly string[] | undefined;
  /** Enables the scale subresource. @defaultValue that of the resource */
  readonly scale?: ScaleDefinition | undefined;
}

/** The object type of a version. */
export type VersionObject<V extends VersionDefinition> = KubernetesObject &
  Omit<ValueOf<V['schema']>, keyof KubernetesObject | 'status'> &
  StatusOf<V>;

/** The input type of a version: fields with a default are optional. */
export type VersionInput<V extends VersionDefinition> = { readonly metadata: ObjectMeta } & Omit<
  InputOf<V['schema']>,
  keyof KubernetesObject | 'status'
>;

type StatusOf<V extends VersionDefinition> = V extends { readonly status: infer S }
  ? { status?: ValueOf<S> }
  : unknown;

export type NamedVersion<V extends readonly VersionDefinition[], N extends string> = Extract<
  V[number],
  { readonly name: N }
>;

export type StorageVersion<V extends readonly VersionDefinition[]> = V extends readonly [
  infer Only extends VersionDefinition,
]
  ? Only
  : Extract<V[number], { readonly storage: true }>;

/**
 * Converts objects of one version to the hub version and back. Both functions must be pure. They need not keep what
 * the other version lacks: `convert` keeps it in an annotation.
 */
export interface SpokeConversion<Spoke, Hub> {
  /** @returns a new object; its apiVersion and kind are set by the caller */
  readonly toHub: (object: Spoke) => Hub;
  /** @returns a new object; its apiVersion and kind are set by the caller */
  readonly fromHub: (object: Hub) => Spoke;
}

/** Conversion through one version, the hub: two functions for each other version. */
export interface ConversionDefinition<V extends readonly VersionDefinition[], H extends string> {
  readonly hub: H;
  readonly spokes: {
    readonly [N in Exclude<V[number]['name'], H>]: SpokeConversion<
      VersionObject<NamedVersion<V, N>>,
      VersionObject<NamedVersion<V, H>>
    >;
  };
}

/** The definition of a custom resource. */
export interface ResourceDefinition<
  V extends readonly VersionDefinition[],
  H extends V[number]['name'],
> {
  /** The API group, for example `example.com`. */
  readonly group: string;
  /** The kind, for example `CronTab`. */
  readonly kind: string;
  /** The name in URLs. @defaultValue the kind in lower case, with an `s` (`ies`, `es`) */
  readonly plural?: string | undefined;
  /** The name of a single object in kubectl. @defaultValue the kind in lower case */
  readonly singular?: string | undefined;
  /** The kind of lists. @defaultValue the kind with `List` */
  readonly listKind?: string | undefined;
  /** Whether objects have a namespace. @defaultValue 'Namespaced' */
  readonly scope?: 'Namespaced' | 'Cluster' | undefined;
  /** Short names for kubectl. @defaultValue none */
  readonly shortNames?: readonly string[] | undefined;
  /** Categories of kubectl, for example `all`, as in `kubectl get all`. @defaultValue none */
  readonly categories?: readonly string[] | undefined;
  /** The versions, at least one. */
  readonly versions: V;
  /** Columns for versions without their own. @defaultValue none */
  readonly printerColumns?: readonly PrinterColumn[] | undefined;
  /** Selectable fields for versions without their own. @defaultValue none */
  readonly selectableFields?: readonly string[] | undefined;
  /** Scale for versions without their own. @defaultValue no scale subresource */
  readonly scale?: ScaleDefinition | undefined;
  /**
   * Converts objects between versions. With `'prune'`, the API server changes only `apiVersion`: **a write
   * through one version drops the optional fields that it lacks**.
   * @defaultValue undefined: all served versions must have the same fields
   */
  readonly conversion?: ConversionDefinition<V, H> | 'prune' | undefined;
  /** Labels of the definition. @defaultValue none */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Annotations of the definition. @defaultValue none */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** A {@link ResourceDefinition} with its types erased. */
export type AnyResourceDefinition = Omit<
  ResourceDefinition<readonly VersionDefinition[], string>,
  'conversion'
> & { readonly conversion?: AnyConversion | 'prune' | undefined };

/** A {@link ConversionDefinition} with its types erased. */
interface AnyConversion {
  readonly hub: string;
  readonly spokes: Readonly<
    Record<string, SpokeConversion<KubernetesObject, KubernetesObject> | undefined>
  >;
}

export interface ResolvedDefinition extends Resolved<
  Omit<AnyResourceDefinition, 'versions' | 'printerColumns' | 'selectableFields' | 'scale'>,
  'conversion'
> {
  readonly versions: readonly ResolvedVersion[];
}

export type ResolvedVersion = Resolved<VersionDefinition, 'status' | 'scale'>;

/** Fills in defaults; `checkDefinition` validates the result. */
export function resolveDefinition(definition: AnyResourceDefinition): ResolvedDefinition {
  const { group, kind, versions, scope = 'Namespaced', conversion } = definition;
  const { singular = kind.toLowerCase(), listKind = `${kind}List` } = definition;
  const { plural = pluralOf(kind.toLowerCase()), shortNames = [], categories = [] } = definition;
  const { labels = {}, annotations = {} } = definition;
  const resolved = {
    ...{ group, kind, plural, singular, listKind, scope, shortNames, categories },
    ...{ conversion, labels, annotations },
    versions: versions.map((version) => resolveVersion(version, definition)),
  };
  const subject = `defineResource ${kind}`;
  const names = { ...resolved, printerColumns: true, selectableFields: true, scale: true };
  refuseUnknownOptions<AnyResourceDefinition>(subject, definition, names);
  return resolved;
}

function resolveVersion(
  version: VersionDefinition,
  resource: AnyResourceDefinition,
): ResolvedVersion {
  const { name, schema, status, served = true, deprecated = false } = version;
  const { storage = resource.versions.length === 1 } = version;
  const { printerColumns = resource.printerColumns ?? [], scale = resource.scale } = version;
  const { selectableFields = resource.selectableFields ?? [] } = version;
  const resolved = {
    ...{ name, schema, status, served, storage, deprecated },
    ...{ printerColumns, selectableFields, scale },
  };
  const subject = `defineResource ${resource.kind}: version ${name}`;
  refuseUnknownOptions<VersionDefinition>(subject, version, resolved);
  for (const column of printerColumns) {
    refuseUnknownOptions(`${subject}: printer column ${column.name}`, column, columnNames);
  }
  if (scale !== undefined) refuseUnknownOptions(`${subject}: scale`, scale, scaleNames);
  return resolved;
}

const columnNames: OptionNames<PrinterColumn> = {
  ...{ name: true, type: true, jsonPath: true, format: true, description: true, priority: true },
};

const scaleNames: OptionNames<ScaleDefinition> = {
  ...{ specReplicasPath: true, statusReplicasPath: true, labelSelectorPath: true },
};

/** A problem in the definition of a custom resource. */
export interface DefinitionProblem {
  /** Path of the field, for example `versions[1].storage`. */
  readonly field: string;
  /** The problem and its remedy. */
  readonly message: string;
}

const longestShown = 500;

/** The definition of a custom resource is invalid: code `InvalidDefinition`. */
export class InvalidDefinitionError extends OperatorError {
  readonly problems: readonly DefinitionProblem[];

  constructor(kind: string, problems: readonly DefinitionProblem[]) {
    const text = problems
      .map(({ field, message }) => `${field}: ${shortened(message, longestShown)}`)
      .join('; ');
    super('InvalidDefinition', `custom resource ${kind}: ${text}`);
    this.problems = problems;
  }
}
