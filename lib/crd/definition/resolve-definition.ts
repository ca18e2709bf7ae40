import { pluralOf } from './plural-of.js';
import type {
  AnyConversion,
  AnyResourceDefinition,
  PrinterColumn,
  ScaleDefinition,
  VersionDefinition,
} from './resource-definition.js';
import type { TypedSchema } from '../schema/typed-schema.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { OptionNames } from '../../system/known-options.js';

/** A definition with its defaults. */
export interface ResolvedDefinition {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly versions: readonly ResolvedVersion[];
  readonly conversion: AnyConversion | 'prune' | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A version with its defaults. */
export interface ResolvedVersion {
  readonly name: string;
  readonly schema: TypedSchema<object, object>;
  readonly status: TypedSchema<unknown> | undefined;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated: boolean | string;
  readonly printerColumns: readonly PrinterColumn[];
  readonly selectableFields: readonly string[];
  readonly scale: ScaleDefinition | undefined;
}

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
