import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { ResourceType, TypeReference } from '../../object/resource-type.js';
import type { RequiredAccess } from './required-access.js';

/** A rule of a role, for resources. */
export interface AccessRule {
  readonly apiGroups: readonly string[];
  /** With subresources, for example `pods/status`. */
  readonly resources: readonly string[];
  /** Only these objects. @defaultValue all */
  readonly resourceNames?: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

/** The rules that give an operator the access that it declares. */
export interface AccessRules<Rule = AccessRule> {
  /** For all namespaces, and for kinds without a namespace. */
  readonly everywhere: readonly Rule[];
  readonly inNamespaces: ReadonlyMap<string, readonly Rule[]>;
}

/**
 * Turns declared access into rules.
 * @param placeOf - finds where a kind is served; kinds that are not served have no rule
 */
export async function accessRules(
  access: readonly RequiredAccess[],
  placeOf: (type: TypeReference<KubernetesObject>) => Promise<ResourceType | undefined>,
): Promise<AccessRules> {
  const everywhere: AccessRule[] = [];
  const inNamespaces = new Map<string, readonly AccessRule[]>();
  for (const { type, subresource, verbs, namespace, names: resourceNames } of access) {
    // In a role, an empty list of names means all objects.
    if (resourceNames?.length === 0) continue;
    const place = await placeOf(type);
    if (place === undefined) continue;
    const { group, plural, namespaced } = place;
    const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
    const rule = { apiGroups: [group], resources: [resource], resourceNames, verbs };
    if (namespace === undefined || !namespaced) everywhere.push(rule);
    else inNamespaces.set(namespace, [...(inNamespaces.get(namespace) ?? []), rule]);
  }
  return { everywhere, inNamespaces };
}
