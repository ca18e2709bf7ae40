import { isJsonObject } from '../../object/json.js';
import type { Json } from './json-values.js';
import { visitField } from './field-spec.js';
import type { FieldSpec } from './field-spec.js';
import type { Resource } from './resource.js';
import { isClusterScoped } from './resource-id.js';

/** Their names have a meaning of their own, which a prefix would break. */
const neverPrefixed: ReadonlySet<string> = new Set(['CustomResourceDefinition', 'Namespace']);

/** Sets the namespace of an object; for a Namespace, its name. */
export function applyNamespace(
  resource: Resource,
  namespace: string,
  specs: readonly FieldSpec[],
): void {
  resource.remember();
  const { object, id } = resource;
  if (!isClusterScoped(id)) resource.metadata['namespace'] = namespace;
  if (['RoleBinding', 'ClusterRoleBinding'].includes(id.kind)) {
    const subjects: readonly unknown[] = Array.isArray(object['subjects'])
      ? object['subjects']
      : [];
    // For other names, the reference itself determines the namespace.
    for (const subject of subjects) {
      if (isJsonObject(subject) && subject['name'] === 'default') {
        (subject as Json)['namespace'] = namespace;
      }
    }
  }
  for (const spec of specs) {
    if (spec.path === 'metadata/namespace') continue;
    if (spec.path === 'metadata/name' && object['apiVersion'] !== 'v1') continue;
    visitField(object, spec, { made: () => namespace, visit: ({ set }) => set(namespace) });
  }
}

/** Adds a prefix and a suffix to the name; empty texts change nothing. */
export function applyAffixes(resource: Resource, prefix: string, suffix: string): void {
  const { kind, group } = resource.originalId;
  if (neverPrefixed.has(kind)) return;
  if (kind === 'APIService' && group === 'apiregistration.k8s.io') return;
  if (prefix !== '') {
    resource.prefixes.push(prefix);
    resource.remember();
    resource.name = prefix + resource.name;
  }
  if (suffix !== '') {
    resource.suffixes.push(suffix);
    resource.remember();
    resource.name += suffix;
  }
}
