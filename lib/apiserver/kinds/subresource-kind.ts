import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import { Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import { definitionName, goTypeName } from './definition-name.js';
import { definition } from './definitions.js';
import type { ServedKind } from './served-kind.js';

/** Returns a built-in kind that only the subresource of `parent` accepts. */
export function subresourceKind(
  parent: ServedKind,
  {
    group,
    version,
    kind,
  }: { readonly group: string; readonly version: string; readonly kind: string },
): ServedKind {
  const { plural, namespaced } = parent.type;
  const type = { group, version, kind, plural, namespaced };
  const name = definitionName(group, version, kind);
  return {
    ...parent,
    type,
    rules: {},
    custom: undefined,
    conversions: undefined,
    subresources: new Map(),
    schema: () => definition(name),
    decode: (value) => {
      const at = new Decoding();
      const typed = { ...value, kind, apiVersion: apiVersionOf(type) };
      const object = goType(goTypeName(name)).decode(typed, at) as UnstructuredObject;
      return { object, unknownFields: at.unknownFields };
    },
    toStorage: (object) => object,
    fromStorage: (object) => object,
  };
}
