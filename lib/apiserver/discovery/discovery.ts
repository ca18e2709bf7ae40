import { createHash } from 'node:crypto';
import { apiVersionOf } from '../../object/index.js';
import type { TransportResponse } from '../../system/index.js';
import { discoveryData } from '../kinds/documents.js';
import type { KindRegistry, ServedKind, ServedSubresource } from '../kinds/served-kind.js';
import { jsonResponse, textResponse } from '../requests/body.js';
import type { PlainRequest } from '../requests/request-info.js';
import { unknownResource } from '../status-error.js';

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Handles `/api`, `/apis` and the paths below them, down to the versions of a group. */
export class DiscoveryHandler {
  /** Returns whether a group is included; undefined: all are. */
  readonly serves: ServesGroup | undefined;
  readonly #kinds: KindRegistry;
  #groups: readonly ServedGroup[] = [];
  #generation = -1;

  /**
   * Creates a handler.
   * @param options - the groups to include. @defaultValue all
   */
  constructor(kinds: KindRegistry, options: { readonly serves?: ServesGroup | undefined } = {}) {
    this.#kinds = kinds;
    this.serves = options.serves;
  }

  /**
   * Handles a request.
   * @returns undefined: another path.
   * @throws StatusError 404: the version does not exist.
   */
  handle({ segments }: PlainRequest, accept: string): TransportResponse | undefined {
    const [root, group, version, ...rest] = segments;
    if (rest.length > 0) return undefined;
    if (root === 'api' && version === undefined) return this.#core(group, accept);
    if (root !== 'apis') return undefined;
    const groups = this.#current();
    if (group === undefined) {
      const named = groups.filter(({ name }) => name !== '');
      if (wantsAggregated(accept)) return aggregated(named);
      return jsonResponse(200, groupListDocument(groups));
    }
    const served = groups.find(({ name }) => name === group && name !== '');
    // An unknown group is a plain 404. An unknown version of a known group is a 404 of the API.
    if (served === undefined)
      return textResponse(404, 'text/plain; charset=utf-8', '404 page not found\n');
    if (version === undefined) return jsonResponse(200, groupDocument(served));
    return this.#version(served, version);
  }

  #core(version: string | undefined, accept: string): TransportResponse {
    const core = this.#current().find(({ name }) => name === '');
    if (version !== undefined) {
      if (core === undefined) throw unknownResource();
      return this.#version(core, version);
    }
    // Clients request this path first. Without a core group, an empty response lets them continue.
    const cores = core === undefined ? [] : [core];
    if (wantsAggregated(accept)) return aggregated(cores);
    return jsonResponse(200, apiVersionsDocument(cores));
  }

  #version({ name, versions }: ServedGroup, version: string): TransportResponse {
    const served = versions.find((one) => one.version === version);
    if (served === undefined) throw unknownResource();
    return jsonResponse(200, resourceListDocument(this.#kinds, name, served));
  }

  /** Returns whether a group is served in any version. */
  knowsGroup(group: string): boolean {
    return this.#current().some(({ name }) => name === group);
  }

  #current(): readonly ServedGroup[] {
    if (this.#generation !== this.#kinds.generation) {
      const groups = servedGroups(this.#kinds);
      const { serves } = this;
      this.#groups = serves === undefined ? groups : groups.filter(({ name }) => serves(name));
      this.#generation = this.#kinds.generation;
    }
    return this.#groups;
  }
}

function aggregated(groups: readonly ServedGroup[]): TransportResponse {
  const response = jsonResponse(200, aggregatedDocument(groups));
  return { ...response, headers: { 'content-type': aggregatedType, vary: 'Accept' } };
}

function wantsAggregated(accept: string): boolean {
  const [first = ''] = accept.split(',');
  const parameters = first.split(';').map((part) => part.trim());
  return (
    parameters[0] === 'application/json' &&
    parameters.includes('g=apidiscovery.k8s.io') &&
    parameters.includes('v=v2')
  );
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
  const named = groups.filter(({ name }) => name !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(groupOf) };
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
function aggregatedDocument(groups: readonly ServedGroup[]): object {
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

/** A version of a group and its kinds, sorted by plural. */
interface ServedVersion {
  readonly version: string;
  readonly kinds: readonly ServedKind[];
}

/** A group and its versions, the preferred one first. */
interface ServedGroup {
  /** The name; empty for the core group. */
  readonly name: string;
  readonly versions: readonly ServedVersion[];
}

/** Returns whether a listener serves a group. */
export type ServesGroup = (group: string) => boolean;

/** Returns the served groups: built-in groups in the real server's order, then those of CRDs by name. */
function servedGroups(kinds: KindRegistry): readonly ServedGroup[] {
  const groups = new Map<string, Map<string, ServedKind[]>>();
  // Include groups without resources in the data.
  for (const { metadata, versions } of [...discoveryData().core, ...discoveryData().groups]) {
    const own = versions.map(({ version }) => [version, []] as [string, ServedKind[]]);
    groups.set(metadata.name ?? '', new Map(own));
  }
  const builtin = new Set(groups.keys());
  for (const kind of kinds.all()) {
    const { group, version } = kind.type;
    const versions = groups.get(group) ?? new Map<string, ServedKind[]>();
    groups.set(group, versions);
    versions.set(version, [...(versions.get(version) ?? []), kind]);
  }
  const names = [...groups.keys()];
  const custom = names.filter((name) => !builtin.has(name)).sort();
  return [...names.filter((name) => builtin.has(name)), ...custom].map((name) => ({
    name,
    versions: sortedVersions(groups.get(name) ?? new Map(), builtin.has(name)),
  }));
}

function sortedVersions(
  versions: ReadonlyMap<string, readonly ServedKind[]>,
  builtin: boolean,
): ServedVersion[] {
  const byPlural = (one: ServedKind, other: ServedKind): number =>
    one.type.plural < other.type.plural ? -1 : 1;
  const listed = [...versions].map(([version, kinds]) => ({
    version,
    kinds: kinds.toSorted(byPlural),
  }));
  return builtin
    ? listed
    : listed.sort((one, other) => compareVersions(one.version, other.version));
}

const versionForm = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const stability = { alpha: 0, beta: 1, stable: 2 } as const;

/** Orders versions as CRDs do: stable before beta before alpha, higher numbers first, others last. */
function compareVersions(one: string, other: string): number {
  const [first, second] = [versionForm.exec(one), versionForm.exec(other)];
  if (first === null || second === null) {
    if (first === null && second === null) return one < other ? -1 : 1;
    return first === null ? 1 : -1;
  }
  const [left, right] = [rank(first), rank(second)];
  const difference = left.findIndex((value, index) => value !== right[index]);
  return difference < 0 ? 0 : (right[difference] ?? 0) - (left[difference] ?? 0);
}

function rank([, major, name, minor]: RegExpExecArray): readonly number[] {
  const level = name === 'alpha' || name === 'beta' ? name : 'stable';
  return [stability[level], Number(major), Number(minor ?? 0)];
}
