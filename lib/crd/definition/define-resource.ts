import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { isJsonObject } from '../../object/json.js';
import type { ResourceType } from '../../object/resource-type.js';
import { checkDefinition } from './check-definition.js';
import { CustomResource } from './custom-resource.js';
import { InvalidDefinitionError } from './invalid-definition-error.js';
import type { DefinitionProblem } from './invalid-definition-error.js';
import { resolveDefinition } from './resolve-definition.js';
import type {
  AnyResourceDefinition,
  NamedVersion,
  ResourceDefinition,
  StorageVersion,
  VersionDefinition,
  VersionInput,
  VersionObject,
} from './resource-definition.js';

/** The TypeScript type of a resource's objects. */
export type ObjectOf<R> = R extends ResourceType<infer T> ? T : never;

/** The custom resource type for a definition's versions. */
export type DefinedResource<V extends readonly VersionDefinition[]> = CustomResource<
  VersionObject<StorageVersion<V>>,
  VersionInput<StorageVersion<V>>
> &
  ResourceType<VersionObject<StorageVersion<V>>>;

/**
 * Defines a custom resource: its TypeScript type, its CustomResourceDefinition and its validation come
 * from one value.
 *
 * @example
 * ```ts
 * export const CronTab = defineResource({
 *   group: 'example.com',
 *   kind: 'CronTab',
 *   versions: [
 *     {
 *       name: 'v1',
 *       schema: s.object({ spec: s.object({ schedule: s.string(), replicas: s.defaulted(s.integer(), 1) }) }),
 *       status: s.object({ conditions: s.conditions() }),
 *     },
 *   ],
 * });
 * export type CronTab = ObjectOf<typeof CronTab>;
 * ```
 * @throws InvalidDefinitionError a name, version, path or conversion is invalid. Problems of a schema or a
 * rule are thrown on first use: by `crd`, `schema` and `validate`.
 */
export function defineResource<
  const V extends readonly VersionDefinition[],
  const H extends V[number]['name'] = V[number]['name'],
>(definition: ResourceDefinition<V, H>): DefinedResource<V> {
  checkForm(definition);
  const resolved = resolveDefinition(definition as unknown as AnyResourceDefinition);
  checkDefinition(resolved);
  return new CustomResource(resolved);
}

/** Checks the types of the required fields: callers in plain JavaScript may pass anything. */
function checkForm(definition: unknown): void {
  const given = isJsonObject(definition) ? definition : {};
  const { group, kind, versions } = given;
  const problems: DefinitionProblem[] = [];
  for (const [field, value] of [
    ['group', group],
    ['kind', kind],
  ] as const) {
    if (typeof value !== 'string') problems.push({ field, message: 'must be a text' });
  }
  if (!Array.isArray(versions) || !versions.every(isJsonObject)) {
    problems.push({ field: 'versions', message: 'must be a list of versions' });
  }
  const name = typeof kind === 'string' ? kind : 'without a kind';
  if (problems.length > 0) throw new InvalidDefinitionError(name, problems);
}

/**
 * Returns another version of a resource, for clients and controllers.
 * @param version - the name of one of its versions
 * @throws OperatorError `InvalidOption`: unknown version
 */
export function versionOfResource<T extends KubernetesObject>(
  resource: CustomResource<KubernetesObject, never>,
  version: string,
): ResourceType<T> {
  resource.checkVersion(version);
  const { group, kind, plural, namespaced } = resource;
  return { group, version, kind, plural, namespaced };
}

/** The object type of one version of a definition, selected by the version's name. */
export type ObjectOfVersion<
  V extends readonly VersionDefinition[],
  N extends V[number]['name'],
> = VersionObject<NamedVersion<V, N>>;
