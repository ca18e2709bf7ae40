import type { TransportResponse } from '../../system/transport.js';
import type { KindRegistry } from '../kinds/served-kind.js';
import type { PlainRequest } from '../requests/request-info.js';
import { jsonResponse, textResponse } from '../requests/responses.js';
import { unknownResource } from '../status-error.js';
import {
  aggregatedDocument,
  apiVersionsDocument,
  groupDocument,
  groupListDocument,
  resourceListDocument,
} from './discovery-documents.js';
import { servedGroups } from './group-versions.js';
import type { ServedGroup, ServesGroup } from './group-versions.js';

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
    if (served === undefined) return textResponse(404, 'text/plain', '404 page not found\n');
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
