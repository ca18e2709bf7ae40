import { isJsonObject, setMember } from '../../object/json.js';
import { visitField } from './field-spec.js';
import type { FieldSpec } from './field-spec.js';
import type { Resource } from './resource.js';

/** Sets labels or annotations in every field of `specs`. */
export function applyPairs(
  resource: Resource,
  pairs: Readonly<Record<string, string>>,
  specs: readonly FieldSpec[],
): void {
  const names = Object.keys(pairs).toSorted();
  if (names.length === 0) return;
  for (const spec of specs) {
    visitField(resource.object, spec, {
      made: () => ({}),
      visit: ({ value }) => {
        if (!isJsonObject(value)) return;
        for (const name of names) setMember(value, name, pairs[name]);
      },
    });
  }
}
