import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import { builtinRules } from '../rules/builtin-rules.js';
import { sharedStorage } from './shared-storage.js';
import { definition, rawDefinition } from './definitions.js';
import { definitionName, goTypeName } from './definition-name.js';
import { discoveryData } from './discovery-data.js';
import type { ResourceDiscovery } from './discovery-data.js';
import type { Decoded, ServedKind, ServedSubresource } from './served-kind.js';

/** Returns all built-in kinds, in the order of the real server's discovery. */
export function builtinKinds(): readonly ServedKind[] {
  const { core, groups } = discoveryData();
  return [...core, ...groups].flatMap(({ metadata: { name: group = '' }, versions }) =>
    versions.flatMap(({ version, resources = [] }) =>
      resources.map((resource) => builtinKind(group, version, resource)),
    ),
  );
}

function builtinKind(group: string, version: string, resource: ResourceDiscovery): ServedKind {
  const { kind } = resource.responseKind;
  const plural = resource.resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const type = { group, version, kind, plural, namespaced: resource.scope === 'Namespaced' };
  const name = definitionName(
    resource.responseKind.group || group,
    resource.responseKind.version || version,
    kind,
  );
  const shared = sharedStorage(group, version, plural);
  return {
    type,
    singular: resource.singularResource,
    listKind: `${kind}List`,
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    verbs: resource.verbs,
    subresources: subresourcesOf(type, resource),
    collection: shared?.collection ?? (group === '' ? plural : `${group}/${plural}`),
    isStorageVersion: shared === undefined,
    rules: builtinRules(group, version, kind),
    custom: undefined,
    schema: () => (rawDefinition(name) === undefined ? undefined : definition(name)),
    decode: (value) => decodeTyped(goTypeName(name), { ...value, kind, apiVersion }),
    toStorage: shared?.toStorage ?? same,
    fromStorage: shared?.fromStorage ?? same,
  };
}

const same = (object: UnstructuredObject): UnstructuredObject => object;

function decodeTyped(type: string, value: Readonly<Record<string, unknown>>): Decoded {
  const at = new Decoding();
  const object = goType(type).decode(value, at) as UnstructuredObject;
  return { object, unknownFields: at.unknownFields };
}

function subresourcesOf(
  type: { readonly group: string; readonly version: string },
  resource: ResourceDiscovery,
): ReadonlyMap<string, ServedSubresource> {
  const served = (resource.subresources ?? []).map(({ subresource, responseKind, verbs }) => {
    const { group = '', version = '', kind = '' } = responseKind ?? {};
    // Discovery omits a group and version that equal those of the resource.
    const own = group === '' && version === '';
    const full = own
      ? { group: type.group, version: type.version, kind }
      : { group, version, kind };
    return [subresource, { name: subresource, kind: full, verbs }] as const;
  });
  return new Map(served);
}
