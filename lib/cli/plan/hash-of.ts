import type { FieldChange } from '../../object/diff-by-path.js';
import type { ObjectReference } from '../../object/object-reference.js';

/**
 * Returns the ConfigMaps and Secrets behind a change of a pod template: the changed environment variables
 * contain their names. The builder rolls pods by such hash variables.
 */
export function hashSources<T extends Pick<ObjectReference, 'kind' | 'name'>>(
  change: FieldChange,
  objects: readonly T[],
): readonly T[] {
  const sources = objects.filter(({ kind }) => kind === 'ConfigMap' || kind === 'Secret');
  const found = variablesIn(change).flatMap((variable) => {
    const named = sources.filter(({ name }) => isNamedAfter(variable, name));
    // `HASH_SHOP_DB` belongs to shop-db, not to db.
    return named.toSorted((one, other) => other.name.length - one.name.length).slice(0, 1);
  });
  return sources.filter((source) => found.includes(source));
}

/** Returns the names of the environment variables in a change. */
function variablesIn({ path, from, to }: FieldChange): readonly string[] {
  if (!/\.env(?:\[|$)/.test(path)) return [];
  const [, named] = /\.env\[name=([^\]]+)\]/.exec(path) ?? [];
  if (named !== undefined) return [named];
  const text = JSON.stringify([from, to]);
  return [...text.matchAll(/"name":"([^"]+)"/g)].map(([, name = '']) => name);
}

function isNamedAfter(variable: string, name: string): boolean {
  const own = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  return new RegExp(`(?:^|_)${own}(?:_[0-9A-F]{8})?$`).test(variable);
}
