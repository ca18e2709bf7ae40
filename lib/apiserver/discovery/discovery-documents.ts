import { createHash } from 'node:crypto';
import { apiVersionOf } from '../../object/resource-type.js';
import type { KindRegistry, ServedKind, ServedSubresource } from '../kinds/served-kind.js';
import type { ServedGroup, ServedVersion } from './group-versions.js';

/** Returns `/api`: the versions of the core group. */
export function apiVersionsDocument(core: readonly ServedGroup[]): object {
  return {
    kind: 'APIVersions',
    versions: core.flatMap(({ versions }) => versions.map(({ version }) => version)),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1' }],
  };
}

/** Returns `/apis`: the list of groups. */
export function groupListDocument(groups: readonly ServedGroup[]): object {
  const named = groups.filter(({ name }) => name !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(groupOf) };
}

/** Returns `/apis/<group>`: a group with its versions. */
export function groupDocument(group: ServedGroup): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group) };
}

function groupOf({ name, versions }: ServedGroup): object {
  const listed = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

/** Returns `/api/v1` or `/apis/<group>/<version>`: the resources of a version. */
export function resourceListDocument(
  registry: KindRegistry,
  group: string,
  { version, kinds }: ServedVersion,
): object {
  const groupVersion = group === '' ? version : `${group}/${version}`;
  const resources = kinds.flatMap((kind) => [
    { ...resourceOf(kind), ...storageHash(registry, kind) },
    ...sortedSubresources(kind).map((subresource) => subresourceOf(kind, subresource)),
  ]);
  // The core group's lists predate versioned lists.
  const apiVersion = group === '' ? {} : { apiVersion: 'v1' };
  return { kind: 'APIResourceList', ...apiVersion, groupVersion, resources };
}

function sortedSubresources({ subresources }: ServedKind): readonly ServedSubresource[] {
  return [...subresources.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

function resourceOf({ type, singular, verbs, shortNames, categories }: ServedKind): object {
  return {
    name: type.plural,
    singularName: singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
}

/** Returns a hash of the storage version: it changes when objects are stored in another version. */
function storageHash(registry: KindRegistry, { collection, verbs }: ServedKind): object {
  const stored = registry.storedIn(collection);
  if (stored === undefined || !verbs.includes('watch')) return {};
  const { group, version, kind } = stored.type;
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest();
  return { storageVersionHash: digest.subarray(0, 8).toString('base64') };
}

function subresourceOf({ type }: ServedKind, { name, kind, verbs }: ServedSubresource): object {
  const own = apiVersionOf(type) === apiVersionOf({ ...kind, plural: '', namespaced: false });
  return {
    name: `${type.plural}/${name}`,
    singularName: '',
    namespaced: type.namespaced,
    ...(own ? {} : { group: kind.group, version: kind.version }),
    kind: kind.kind,
    verbs,
  };
}

/** Returns `/api` or `/apis` as `apidiscovery.k8s.io/v2`: all groups in one document. */
export function aggregatedDocument(groups: readonly ServedGroup[]): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map(({ version, kinds }) => ({
        version,
        resources: kinds.map(aggregatedResource),
        freshness: 'Current',
      })),
    })),
  };
}

function aggregatedResource(kind: ServedKind): object {
  const { type, singular, verbs, shortNames, categories } = kind;
  const { group, version } = type;
  const responseKind = (served: ServedSubresource['kind']): object => {
    const own = served.group === group && served.version === version;
    return own ? { group: '', version: '', kind: served.kind } : served;
  };
  const subresources = sortedSubresources(kind).map((subresource) => ({
    subresource: subresource.name,
    responseKind: responseKind(subresource.kind),
    verbs: subresource.verbs,
  }));
  return {
    resource: type.plural,
    responseKind: responseKind({ group, version, kind: type.kind }),
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}
