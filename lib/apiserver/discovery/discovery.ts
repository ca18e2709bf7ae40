import { createHash } from 'node:crypto';
import { apiVersionOf } from '../../object/index.js';
import type { TransportResponse } from '../../system/index.js';
import type { Aggregator } from '../aggregation/aggregator.js';
import { registrationGroup } from '../aggregation/api-services.js';
import { isAvailable } from '../aggregation/availability.js';
import type { KindRegistry, ServedKind, ServedSubresource } from '../kinds/served-kind.js';
import { documentResponse, jsonResponse, pageNotFound } from '../requests/body.js';
import { isBuiltinGroup } from '../kinds/documents.js';
import type { PlainRequest } from '../requests/request-info.js';
import { unknownResource } from '../status-error.js';
import type { OpenApiSource } from './openapi.js';

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Handles `/api`, `/apis` and the paths below them, down to the versions of a group. */
export class DiscoveryHandler {
  /** Returns whether a group is included; undefined: all are. */
  readonly serves: ServesGroup | undefined;
  readonly #kinds: KindRegistry;
  readonly #aggregator: Aggregator;
  #groups: readonly ServedGroup[] = [];
  #generation = -1;

  /** Creates a handler. @param options - the groups to include. @defaultValue all */
  constructor(
    kinds: KindRegistry,
    aggregator: Aggregator,
    options: { readonly serves?: ServesGroup | undefined } = {},
  ) {
    this.#kinds = kinds;
    this.#aggregator = aggregator;
    this.serves = options.serves;
  }

  /**
   * Handles a request.
   * @returns undefined for other paths
   * @throws StatusError 404: the version does not exist.
   */
  handle({ segments }: PlainRequest, accept: string): TransportResponse | undefined {
    const [root, group, version, ...rest] = segments;
    if (rest.length > 0) return undefined;
    if (root === 'api' && version === undefined) return this.#core(group, accept);
    if (root !== 'apis') return undefined;
    const groups = this.#current();
    if (group === undefined) {
      const named = groups.filter(({ name, registered }) => registered && name !== '');
      if (wantsAggregated(accept)) return aggregated(named);
      return documentResponse(groupListDocument(named), accept);
    }
    const served = groups.find(({ name }) => name === group && name !== '');
    // An unknown group is a plain 404. An unknown version of a known group is a 404 of the API.
    if (served === undefined) return pageNotFound();
    if (version === undefined) return documentResponse(groupDocument(served), accept);
    return this.#version(served, version, accept);
  }

  /** Returns the paths below `/api` and `/apis`. */
  paths(): readonly string[] {
    const groups = this.#current().flatMap(({ name, versions }) => {
      const path = name === '' ? '/api' : `/apis/${name}`;
      return [path, ...versions.map(({ version }) => `${path}/${version}`)];
    });
    return ['/apis', ...groups];
  }

  #core(version: string | undefined, accept: string): TransportResponse {
    const core = this.#current().find(({ name }) => name === '');
    if (version !== undefined) {
      if (core === undefined) throw unknownResource();
      return this.#version(core, version, accept);
    }
    // Clients request this path first. Without a core group, an empty response lets them continue.
    const cores = core === undefined ? [] : [core];
    if (wantsAggregated(accept)) return aggregated(cores);
    return documentResponse(apiVersionsDocument(cores), accept);
  }

  #version({ name, versions }: ServedGroup, version: string, accept: string): TransportResponse {
    const served = versions.find((one) => one.version === version);
    if (served === undefined && !isBuiltinGroup(name)) return pageNotFound();
    if (served === undefined) throw unknownResource();
    return documentResponse(resourceListDocument(this.#kinds, name, served), accept);
  }

  /** The kinds that the OpenAPI documents describe, and the URLs of the OpenAPI documents of extension servers. */
  get openApiSource(): OpenApiSource {
    const elsewhere = new Map<string, string>();
    for (const { name, services } of this.#aggregator.groups()) {
      if (this.serves?.(name) === false) continue;
      for (const { metadata, spec } of services) {
        const url = this.#aggregator.discovered(metadata.name ?? '')?.openApi;
        if (url !== undefined) elsewhere.set(`apis/${name}/${spec?.version ?? ''}`, url);
      }
    }
    return { kinds: this.#kinds, serves: this.serves, elsewhere };
  }

  /** Returns whether a group is served in any version. */
  knowsGroup(group: string): boolean {
    return this.#current().some(({ name }) => name === group);
  }

  #current(): readonly ServedGroup[] {
    // Both generations only increase, so their sum changes whenever one of them changes.
    const generation = this.#kinds.generation + this.#aggregator.generation;
    if (this.#generation !== generation) {
      const groups = servedGroups(this.#kinds, this.#aggregator);
      const { serves } = this;
      this.#groups = serves === undefined ? groups : groups.filter(({ name }) => serves(name));
      this.#generation = generation;
    }
    return this.#groups;
  }
}

function aggregated(groups: readonly ServedGroup[]): TransportResponse {
  const response = jsonResponse(200, aggregatedDocument(groups));
  return { ...response, headers: { 'content-type': aggregatedType, vary: 'Accept' } };
}

function wantsAggregated(accept: string): boolean {
  return accept.split(',').some((clause) => {
    const [type, ...parameters] = clause.split(';').map((part) => part.trim());
    return (
      type === 'application/json' &&
      ['g=apidiscovery.k8s.io', 'v=v2', 'as=APIGroupDiscoveryList'].every((one) =>
        parameters.includes(one),
      )
    );
  });
}

/** Returns `/api`: the versions of the core group. */
function apiVersionsDocument(core: readonly ServedGroup[]): object {
  return {
    kind: 'APIVersions',
    versions: core.flatMap(({ versions }) => versions.map(({ version }) => version)),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1' }],
  };
}

/** Returns `/apis`: the list of groups. */
function groupListDocument(groups: readonly ServedGroup[]): object {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupOf) };
}

/** Returns `/apis/<group>`: a group with its versions. */
function groupDocument(group: ServedGroup): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group) };
}

function groupOf({ name, versions }: ServedGroup): object {
  const listed = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

/** Returns `/api/v1` or `/apis/<group>/<version>`: the resources of a version. */
function resourceListDocument(
  registry: KindRegistry,
  group: string,
  { version, kinds }: ServedVersion,
): object {
  const groupVersion = group === '' ? version : `${group}/${version}`;
  const resources = kinds.flatMap((kind) => [
    { ...resourceOf(kind), ...storageHash(registry, kind) },
    ...sortedSubresources(kind).map((subresource) => subresourceOf(kind, subresource)),
  ]);
  // As on the real server, the core group's resource list has no `apiVersion`.
  const apiVersion = group === '' ? {} : { apiVersion: 'v1' };
  return { kind: 'APIResourceList', ...apiVersion, groupVersion, resources };
}

/** Returns subresources by name; a custom resource has its status first. */
function sortedSubresources({ subresources, custom }: ServedKind): readonly ServedSubresource[] {
  const sorted = [...subresources.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  return custom === undefined ? sorted : sorted.reverse();
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

/** Kinds that the real server still stores in the version before v1. */
const storedAsBeta: ReadonlySet<string> = new Set([
  'apiextensions.k8s.io/CustomResourceDefinition',
  'admissionregistration.k8s.io/MutatingAdmissionPolicy',
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding',
]);

/** Returns a hash of the storage version: it changes when objects are stored in another version. */
function storageHash(registry: KindRegistry, { collection, verbs }: ServedKind): object {
  const stored = registry.storedIn(collection);
  if (stored?.isStorageVersion !== true || !verbs.includes('watch')) return {};
  const { group, version, kind } = stored.type;
  const storage = storedAsBeta.has(`${group}/${kind}`) ? 'v1beta1' : version;
  const digest = createHash('sha256').update(`${group}/${storage}/${kind}`).digest();
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
function aggregatedDocument(groups: readonly ServedGroup[]): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.flatMap(({ name, versions }) => {
      const served = versions.flatMap(aggregatedVersion);
      if (served.length === 0) return [];
      return [{ metadata: name === '' ? {} : { name }, versions: served }];
    }),
  };
}

/** Returns a list with the entry of a version. If a version of this server has no resources, the list is empty. */
function aggregatedVersion({ version, kinds, remote }: ServedVersion): readonly object[] {
  if (remote === undefined) {
    if (kinds.length === 0) return [];
    return [{ version, resources: kinds.map(aggregatedResource), freshness: 'Current' }];
  }
  const { resources, fresh } = remote;
  const listed = resources === undefined ? {} : { resources: remoteResources(resources) };
  const isCurrent = fresh && resources !== undefined;
  return [{ version, ...listed, freshness: isCurrent ? 'Current' : 'Stale' }];
}

type ListedResource = Readonly<Record<string, unknown>>;

/** Converts the resources of an `APIResourceList` of an extension server. */
function remoteResources(resources: readonly ListedResource[]): readonly object[] {
  const nameOf = ({ name }: ListedResource): string => String(name);
  return resources
    .filter((resource) => !nameOf(resource).includes('/'))
    .map((resource) => {
      const { name, namespaced, singularName, verbs, shortNames, categories } = resource;
      const prefix = `${nameOf(resource)}/`;
      const subresources = resources
        .filter((other) => nameOf(other).startsWith(prefix))
        .map((other) => ({
          subresource: nameOf(other).slice(prefix.length),
          responseKind: listedKind(other),
          verbs: other['verbs'],
        }));
      return {
        ...{ resource: name, responseKind: listedKind(resource) },
        ...{ scope: namespaced === true ? 'Namespaced' : 'Cluster' },
        ...{ singularResource: singularName, verbs, shortNames, categories },
        ...(subresources.length > 0 && { subresources }),
      };
    });
}

function listedKind({ group = '', version = '', kind }: ListedResource): object {
  return { group, version, kind };
}

function aggregatedResource(kind: ServedKind): object {
  const { type, singular, verbs, shortNames, categories } = kind;
  const { group, version } = type;
  const responseKind = (served: ServedSubresource['kind']): object => {
    // Subresources of custom resources always have group and version, even if they equal those of the kind.
    const own = kind.custom === undefined && served.group === group && served.version === version;
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

interface ServedVersion {
  readonly version: string;
  /** The kinds of this server, sorted by plural. */
  readonly kinds: readonly ServedKind[];
  /** The resources of an extension server; undefined if this server serves the version. */
  readonly remote: RemoteVersion | undefined;
}

interface RemoteVersion {
  /** The resources in the last discovery; undefined without one. */
  readonly resources: readonly ListedResource[] | undefined;
  /** Whether the extension server is available. */
  readonly fresh: boolean;
}

/** A group and its versions, the preferred one first. */
interface ServedGroup {
  /** The name; empty for the core group. */
  readonly name: string;
  /** Whether an APIService registers the group. */
  readonly registered: boolean;
  readonly versions: readonly ServedVersion[];
}

/** Returns whether a listener serves a group. */
export type ServesGroup = (group: string) => boolean;

/**
 * Returns the served groups in three parts: the group of APIServices itself, the groups that APIServices register in
 * their order, then groups without an APIService.
 */
function servedGroups(kinds: KindRegistry, aggregator: Aggregator): readonly ServedGroup[] {
  const own = ownGroups(kinds);
  const kindsOf = (group: string, version: string): readonly ServedKind[] =>
    (own.get(group)?.get(version) ?? []).toSorted((one, other) =>
      one.type.plural < other.type.plural ? -1 : 1,
    );
  const unregistered = (name: string, registered: boolean): ServedGroup => {
    const versions = [...(own.get(name)?.keys() ?? [])];
    const served = versions.map((version) => ({
      ...{ version, kinds: kindsOf(name, version), remote: undefined },
    }));
    return { name, registered, versions: served };
  };
  const registered = aggregator.groups().map(({ name, services }) => ({
    ...{ name, registered: true },
    versions: services.map((service) => {
      const { version = '', service: elsewhere } = service.spec ?? {};
      if (elsewhere === undefined)
        return { version, kinds: kindsOf(name, version), remote: undefined };
      const resources = aggregator.discovered(service.metadata.name ?? '')?.resources;
      return { version, kinds: [], remote: { resources, fresh: isAvailable(service) } };
    }),
  }));
  const known = new Set([registrationGroup, ...registered.map(({ name }) => name)]);
  const others = [...own.keys()].filter((name) => !known.has(name)).sort();
  return [
    unregistered(registrationGroup, true),
    ...registered,
    ...others.map((name) => unregistered(name, false)),
  ];
}

/** Returns the kinds of this server by group and version. */
function ownGroups(kinds: KindRegistry): ReadonlyMap<string, ReadonlyMap<string, ServedKind[]>> {
  const groups = new Map<string, Map<string, ServedKind[]>>();
  for (const kind of kinds.all()) {
    const { group, version } = kind.type;
    const versions = groups.get(group) ?? new Map<string, ServedKind[]>();
    groups.set(group, versions);
    versions.set(version, [...(versions.get(version) ?? []), kind]);
  }
  return groups;
}
