import { pluralOf } from './plural-of.js';
import type {
  AnyConversion,
  AnyResourceDefinition,
  PrinterColumn,
  ScaleDefinition,
  VersionDefinition,
} from './resource-definition.js';
import type { TypedSchema } from '../schema/typed-schema.js';

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
  readonly conversion: AnyConversion | undefined;
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

/** Fills in defaults; `checkDefinition` looks at what comes out. */
export function resolveDefinition(definition: AnyResourceDefinition): ResolvedDefinition {
  const { group, kind, versions, scope = 'Namespaced', conversion } = definition;
  const { singular = kind.toLowerCase(), listKind = `${kind}List` } = definition;
  const { plural = pluralOf(kind.toLowerCase()), shortNames = [], categories = [] } = definition;
  const { labels = {}, annotations = {} } = definition;
  return {
    ...{ group, kind, plural, singular, listKind, scope, shortNames, categories },
    ...{ conversion, labels, annotations },
    versions: versions.map((version) => resolveVersion(version, definition)),
  };
}

function resolveVersion(
  version: VersionDefinition,
  resource: AnyResourceDefinition,
): ResolvedVersion {
  const { name, schema, status, served = true, deprecated = false } = version;
  const { storage = resource.versions.length === 1 } = version;
  const { printerColumns = resource.printerColumns ?? [], scale = resource.scale } = version;
  const { selectableFields = resource.selectableFields ?? [] } = version;
  return {
    ...{ name, schema, status, served, storage, deprecated },
    ...{ printerColumns, selectableFields, scale },
  };
}
