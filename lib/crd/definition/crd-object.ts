import type { CustomResourceDefinition } from '../../object/kinds.js';
import type { Schema } from '../../object/schema.js';
import { materialize } from '../schema/materialize.js';
import type { ResolvedDefinition, ResolvedVersion } from './resolve-definition.js';

type CrdVersion = CustomResourceDefinition['spec']['versions'][number];

/** Builds the CustomResourceDefinition, without a conversion webhook. */
export function crdObject(
  definition: ResolvedDefinition,
  schemas: ReadonlyMap<string, Schema>,
): CustomResourceDefinition & { metadata: { name: string } } {
  const { group, kind, plural, singular, listKind, scope, labels, annotations } = definition;
  const { shortNames, categories, versions } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      ...(Object.keys(labels).length > 0 && { labels: { ...labels } }),
      ...(Object.keys(annotations).length > 0 && { annotations: { ...annotations } }),
    },
    spec: {
      group,
      scope,
      names: {
        ...{ kind, listKind, plural, singular },
        ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
        ...(categories.length > 0 && { categories: [...categories] }),
      },
      versions: versions.map((version) => crdVersion(version, schemas.get(version.name) ?? {})),
    },
  };
}

function crdVersion(version: ResolvedVersion, schema: Schema): CrdVersion {
  const { name, served, storage, deprecated, status, scale } = version;
  const { printerColumns, selectableFields } = version;
  const subresources = {
    ...(status !== undefined && { status: {} }),
    ...(scale !== undefined && { scale: given(scale) }),
  };
  return {
    ...{ name, served, storage },
    ...(deprecated !== false && { deprecated: true }),
    ...(typeof deprecated === 'string' && { deprecationWarning: deprecated }),
    // The JSON is the same; the types of client-node are narrower.
    schema: { openAPIV3Schema: schema as never },
    ...(Object.keys(subresources).length > 0 && { subresources }),
    ...(printerColumns.length > 0 && {
      additionalPrinterColumns: printerColumns.map((column) => given(column)),
    }),
    ...(selectableFields.length > 0 && {
      selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })),
    }),
  };
}

/** Returns the options that are not undefined. */
function given<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** Builds the schema of a version's whole object. */
export function wholeSchema({ schema, status }: ResolvedVersion): Schema {
  const whole = materialize(schema);
  if (status === undefined) return whole;
  return { ...whole, properties: { ...whole.properties, status: materialize(status) } };
}
