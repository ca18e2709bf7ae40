import { isJsonObject } from '../../object/index.js';
import type { Schema } from '../../object/index.js';
import { atomOf, fieldAtom, shapeOf } from './atom.js';
import type { Atom, ListType, MapType } from './atom.js';
import { merge } from './merge.js';

/** The result of {@link mergeByPolicy}. */
interface PolicyMerge {
  readonly value: unknown;
  /** The paths of atomic values in the configuration. If there are any, the merge is refused. */
  readonly atomics: readonly string[];
}

/**
 * Merges the configuration of a MutatingAdmissionPolicy into an object, as server-side apply does, but without
 * owners. Atomic lists and maps are refused: fields that the configuration does not name would be lost.
 */
export function mergeByPolicy(
  live: unknown,
  applied: unknown,
  schema: Schema | undefined,
): PolicyMerge {
  const atom = atomOf(schema);
  const atomics = atomicsIn(applied, atom, '');
  return { value: atomics.length > 0 ? live : merge(live, applied, atom), atomics };
}

function atomicsIn(value: unknown, atom: Atom, path: string): string[] {
  switch (shapeOf(atom, value)) {
    case 'map': {
      const map = atom.map as MapType;
      const members = isJsonObject(value) ? Object.entries(value) : [];
      const inner = members.flatMap(([name, member]) =>
        map.fields.has(name) ? atomicsIn(member, fieldAtom(map, name), `${path}.${name}`) : [],
      );
      return map.atomic ? [path, ...inner] : inner;
    }
    case 'list': {
      const list = atom.list as ListType;
      const items = Array.isArray(value) ? (value as unknown[]) : [];
      const inner = items.flatMap((item, index) =>
        atomicsIn(item, list.items.atom, `${path}[${index}]`),
      );
      return list.atomic ? [path, ...inner] : inner;
    }
    case 'scalar':
    case undefined:
      return [];
  }
}
