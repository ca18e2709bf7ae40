import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { ResourceType, TypeReference } from '../../object/resource-type.js';
import type { RequiredAccess } from './required-access.js';

/** A rule of a role, for resources. */
export interface AccessRule {
  readonly apiGroups: readonly string[];
  /** Includes subresources, such as `pods/status`. */
  readonly resources: readonly string[];
  /** Restricts the rule to these objects. @defaultValue all */
  readonly resourceNames?: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

/** The role rules for the access that an operator declares. */
export interface AccessRules<Rule = AccessRule> {
  /** Rules for all namespaces, and for cluster-scoped kinds. */
  readonly everywhere: readonly Rule[];
  readonly inNamespaces: ReadonlyMap<string, readonly Rule[]>;
}

/**
 * Converts declared access to rules.
 * @param placeOf - resolves a kind to its resource; unserved kinds get no rule
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
