import { defineResource, s } from '../crd/index.js';
import type { TypedSchema } from '../crd/index.js';
import type { CustomResourceDefinition, Schema, GroupKind } from '../object/index.js';
import { OperatorError, refuseUnknownOptions } from '../system/index.js';
import { phases } from './lifecycle-status.js';

/** Options of {@link createCrd}. */
export interface CreateCrdOptions {
  /** A pattern for valid object names, for example `^cluster$` to allow only one. @defaultValue any name */
  readonly nameRegex?: string | undefined;
  /** The only version of the kind. @defaultValue 'v1alpha1' */
  readonly version?: string | undefined;
  /** The name in URLs. @defaultValue the kind in lower case, with an `s` */
  readonly plural?: string | undefined;
  /** Whether objects have a namespace. @defaultValue 'Cluster' */
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
    const message = `createCrd ${spec.names.kind}: nameRegex ${nameRegex} is not a regular expression`;
    throw new OperatorError('InvalidOption', message, { cause });
  }
}

const time = s.string({ format: 'date-time' });

const condition = s.object(
  {
    type: s.string({ description: 'Type of the condition, for example Available.' }),
    status: s.string({ enum: ['True', 'False', 'Unknown'] }),
    reason: s.optional(s.string({ description: 'Machine-readable reason of the status.' })),
    message: s.optional(s.string({ description: 'Human-readable explanation of the status.' })),
    lastHeartbeatTime: s.optional(time),
    lastTransitionTime: s.optional(time),
  },
  { description: 'A condition of the system.' },
);

/**
 * The properties that a lifecycle adds to a status, for `defineResource`. Their values form a `LifecycleStatus`.
 *
 * @example
 * ```ts
 * const status = s.object({ ...lifecycleStatusProperties, url: s.optional(s.string()) });
 * ```
 */
export const lifecycleStatusProperties = {
  phase: s.optional(s.string({ enum: phases, description: 'Phase of the lifecycle.' })),
  conditions: s.optional(s.array(condition, { listType: 'map', listMapKeys: ['type'] })),
  operatorVersion: s.optional(
    s.string({ description: 'Version of the operator that last reconciled this resource.' }),
  ),
  targetVersion: s.optional(
    s.string({ description: 'Version that is being deployed or was deployed last.' }),
  ),
  observedVersion: s.optional(s.string({ description: 'Version that is deployed.' })),
};

/** Returns the status schema of the kind `name`, in the form of a CRD. */
function lifecycleStatus(name: string): Schema {
  return s.object(lifecycleStatusProperties, { description: `The state of the ${name}.` });
}

/** Schemas for hand-written CRDs. */
export const openApi = { lifecycleStatus };
