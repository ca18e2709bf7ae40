import { builtInDefinitions } from '../../crd/internal.js';
import type { Schema } from '../../object/index.js';

/** For each field name, the built-in types that have the field. Each type is the set of its field names. */
let typesByField: ReadonlyMap<string, readonly ReadonlySet<string>[]> | undefined;

/**
 * Whether a schema is a copy of a built-in type, such as a PodSpec, possibly of another Kubernetes version. Kubernetes
 * chose the fields of such a schema, not the author of the definition.
 */
export function isBuiltInType({ properties }: Schema): boolean {
  const fields = Object.keys(properties ?? {});
  if (fields.length < fewest) return false;
  typesByField ??= indexOfTypes();
  const shared = new Map<ReadonlySet<string>, number>();
  for (const field of fields) {
    for (const type of typesByField.get(field) ?? []) shared.set(type, (shared.get(type) ?? 0) + 1);
  }
  return [...shared].some(
    ([type, count]) => count >= fields.length * 0.9 && count >= type.size * 0.6,
  );
}

/** Types with fewer fields resemble too many others. */
const fewest = 3;

function indexOfTypes(): ReadonlyMap<string, readonly ReadonlySet<string>[]> {
  const index = new Map<string, ReadonlySet<string>[]>();
  for (const { properties = {} } of builtInDefinitions()) {
    const fields = new Set(Object.keys(properties));
    for (const field of fields) index.set(field, [...(index.get(field) ?? []), fields]);
  }
  return index;
}
