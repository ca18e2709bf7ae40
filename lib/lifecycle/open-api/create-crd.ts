import { defineResource, s } from '../../crd/index.js';
import type { TypedSchema } from '../../crd/index.js';
import type { CustomResourceDefinition } from '../../object/kinds.js';
import { OperatorError } from '../../system/operator-error.js';
import { lifecycleStatusProperties } from './lifecycle-status-schema.js';
import { refuseUnknownOptions } from '../../system/known-options.js';

/** The group and kind of a configuration. */
export interface GroupKind {
  /** For example `example.com`. */
  readonly group: string;
  /** For example `SampleConfig`. */
  readonly kind: string;
}

/** Options of {@link createCrd}. */
export interface CreateCrdOptions {
  /** A pattern for valid object names, for example `^cluster$` to allow only one. @defaultValue any name */
  readonly nameRegex?: string | undefined;
  /** @defaultValue 'v1alpha1' */
  readonly version?: string | undefined;
  /** @defaultValue the kind in lower case, with an `s` */
  readonly plural?: string | undefined;
  /** @defaultValue 'Cluster' */
  readonly scope?: 'Namespaced' | 'Cluster' | undefined;
  /** The schema of `spec`. @defaultValue any object: no validation and no pruning */
  readonly spec?: TypedSchema<unknown> | undefined;
}

/**
 * Makes the CRD of a configuration whose status has the lifecycle's properties, with a status subresource.
 * For other needs, use `defineResource` with `lifecycleStatusProperties`.
 * @throws OperatorError `InvalidOption`: `nameRegex` is not a regular expression.
 * @throws InvalidDefinitionError a name is wrong.
 */
export function createCrd(
  { group, kind }: GroupKind,
  options: CreateCrdOptions = {},
): CustomResourceDefinition {
  const { nameRegex, version = 'v1alpha1', plural, scope = 'Cluster' } = options;
  const { spec = s.unknownObject() } = options;
  const names = { nameRegex, version, plural, scope, spec };
  refuseUnknownOptions<CreateCrdOptions>('createCrd', options, names);
  const { crd } = defineResource({
    ...{ group, kind, scope },
    ...(plural !== undefined && { plural }),
    versions: [
      {
        name: version,
        schema: s.object({ spec: s.optional(spec) }),
        status: s.object(lifecycleStatusProperties),
      },
    ],
    printerColumns: [
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    ],
  });
  return nameRegex === undefined ? crd : withNames(crd, nameRegex);
}

function withNames(crd: CustomResourceDefinition, nameRegex: string): CustomResourceDefinition {
  checkRegex(crd, nameRegex);
  const metadata = {
    type: 'object',
    properties: { name: { type: 'string', pattern: nameRegex } },
  };
  const versions = crd.spec.versions.map((version) => {
    const { openAPIV3Schema: schema } = version.schema ?? {};
    const properties = { ...schema?.properties, metadata };
    return { ...version, schema: { openAPIV3Schema: { ...schema, properties } } };
  });
  return { ...crd, spec: { ...crd.spec, versions } };
}

function checkRegex({ spec }: CustomResourceDefinition, nameRegex: string): void {
  try {
    new RegExp(nameRegex, 'u');
  } catch (cause) {
    const message = `createCrd ${spec.names.kind}: nameRegex ${nameRegex} is no regular expression`;
    throw new OperatorError('InvalidOption', message, { cause });
  }
}
