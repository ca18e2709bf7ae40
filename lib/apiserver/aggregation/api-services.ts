import type { V1APIService } from '@kubernetes/client-node';
import { deepEqual } from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { crdCollection, crdOf } from '../custom/crd.js';
import { compareVersions } from '../custom/crd-names.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import type { LogEntry } from '../storage/mvcc-log.js';
import { removeObject } from '../writes/delete-object.js';
import { createAtStart, createOwn, ownKind, ownRequest } from '../writes/own-writes.js';
import { updateObject } from '../writes/update-object.js';
import { decodeObject } from '../writes/write-request.js';

/** An APIService as the server stores it. */
export type ApiService = UnstructuredObject & Wire<V1APIService>;

/** The group of APIServices. */
export const registrationGroup = 'apiregistration.k8s.io';

/** The collection of APIServices in the storage. */
export const apiServiceCollection = `${registrationGroup}/apiservices`;

/** Label of the APIServices that the server registers for the versions that it serves. */
export const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged';

/** A built-in version: group, version, priority of the group, priority of the version. */
type Registration = readonly [string, string, number, number];

/** The registrations of the built-in groups. The group of APIServices itself has none. */
const builtin: readonly Registration[] = [
  ['', 'v1', 18_000, 1],
  ['apps', 'v1', 17_800, 15],
  ['events.k8s.io', 'v1', 17_750, 15],
  ['authentication.k8s.io', 'v1', 17_700, 15],
  ['authorization.k8s.io', 'v1', 17_600, 15],
  ['autoscaling', 'v1', 17_500, 15],
  ['autoscaling', 'v2', 17_500, 30],
  ['batch', 'v1', 17_400, 15],
  ['certificates.k8s.io', 'v1', 17_300, 15],
  ['networking.k8s.io', 'v1', 17_200, 15],
  ['policy', 'v1', 17_100, 15],
  ['rbac.authorization.k8s.io', 'v1', 17_000, 15],
  ['storage.k8s.io', 'v1', 16_800, 15],
  ['admissionregistration.k8s.io', 'v1', 16_700, 15],
  ['apiextensions.k8s.io', 'v1', 16_700, 15],
  ['scheduling.k8s.io', 'v1', 16_600, 15],
  ['coordination.k8s.io', 'v1', 16_500, 15],
  ['node.k8s.io', 'v1', 16_300, 15],
  ['discovery.k8s.io', 'v1', 16_200, 15],
  ['resource.k8s.io', 'v1', 16_200, 21],
  ['flowcontrol.apiserver.k8s.io', 'v1', 16_100, 21],
];

/** A group and its APIServices, starting with that of the preferred version. */
export interface RegisteredGroup {
  readonly name: string;
  readonly services: readonly ApiService[];
}

/**
 * The APIServices of the server. This class registers the built-in versions at the start, and keeps an APIService for
 * each served version of the CRDs. Like `CrdManager`, it reacts to a change within the commit of that change.
 */
export class ApiServices {
  readonly #core: ServerCore;
  readonly #kind: ServedKind;
  /** The names of the APIServices that a CRD needs, by the name of the CRD. */
  readonly #served = new Map<string, readonly string[]>();
  /** The names of the CRDs that serve a version, by the name of its APIService. */
  readonly #serving = new Map<string, Set<string>>();
  readonly #all = new Map<string, ApiService>();
  /** The APIServices that name a Service. */
  readonly #remote = new Map<string, ApiService>();
  #groups: readonly RegisteredGroup[] | undefined;
  #generation = 0;

  constructor(core: ServerCore) {
    this.#core = core;
    this.#kind = ownKind(core, { group: registrationGroup, plural: 'apiservices' });
    core.log.subscribe((entry) => this.#follow(entry));
    const items = builtin.map((registration) => apiServiceOf(registration, 'onstart'));
    createAtStart(core, { group: registrationGroup, plural: 'apiservices', items });
  }

  /** Increases with each change of an APIService. */
  get generation(): number {
    return this.#generation;
  }

  /** Returns the APIService of a version that another server serves; undefined if this server serves it. */
  remote(group: string, version: string): ApiService | undefined {
    return this.#remote.size === 0 ? undefined : this.#remote.get(`${version}.${group}`);
  }

  /** Returns all APIServices of other servers. */
  remotes(): Iterable<ApiService> {
    return this.#remote.values();
  }

  /** Returns the groups in the order of discovery. */
  groups(): readonly RegisteredGroup[] {
    this.#groups ??= sortedGroups(this.#all.values());
    return this.#groups;
  }

  // Read the stored object, not the object of the log entry: another listener may have changed the object since.
  #follow({ collection, key }: LogEntry): void {
    const stored = this.#core.log.collection(collection).get(key);
    if (collection === apiServiceCollection) {
      this.#generation++;
      this.#groups = undefined;
      const service = stored as ApiService | undefined;
      if (service === undefined) this.#all.delete(key);
      else this.#all.set(key, service);
      if (service?.spec?.service === undefined) this.#remote.delete(key);
      else this.#remote.set(key, service);
      this.#sync(key);
    } else if (collection === crdCollection) {
      const before = this.#served.get(key) ?? [];
      const after = stored === undefined ? [] : servedVersions(stored);
      if (after.length === 0) this.#served.delete(key);
      else this.#served.set(key, after);
      for (const name of before) this.#serving.get(name)?.delete(key);
      for (const name of after) {
        this.#serving.set(name, (this.#serving.get(name) ?? new Set()).add(key));
      }
      for (const name of new Set([...before, ...after])) this.#sync(name);
    }
  }

  /**
   * Creates, updates or removes the APIService of a version for the CRDs. Keeps an APIService that a user registered.
   */
  #sync(name: string): void {
    const live = this.#core.log.collection(apiServiceCollection).get(name) as
      ApiService | undefined;
    const wanted = (this.#serving.get(name)?.size ?? 0) > 0 ? customService(name) : undefined;
    if (live === undefined) {
      if (wanted === undefined) return;
      createOwn(this.#core, {
        ...{ group: registrationGroup, plural: 'apiservices' },
        items: [wanted],
      });
    } else if (live.metadata.labels?.[automanagedLabel] === 'true') {
      if (wanted === undefined) removeObject(this.#core, this.#kind, name);
      else if (!deepEqual(live.spec, wanted['spec'])) this.#update(live, wanted['spec']);
    }
  }

  #update(live: ApiService, spec: unknown): void {
    const { name = '' } = live.metadata;
    const request = ownRequest(this.#kind, { name });
    const next = decodeObject(request, { value: { ...live, spec } });
    updateObject(this.#core, { request, live, next });
  }
}

/** Returns the names of the APIServices for the served versions of a CRD. */
function servedVersions(object: UnstructuredObject): readonly string[] {
  const { group, versions } = crdOf(object).spec;
  return versions.filter(({ served }) => served).map(({ name }) => `${name}.${group}`);
}

function customService(name: string): Readonly<Record<string, unknown>> {
  const dot = name.indexOf('.');
  return apiServiceOf([name.slice(dot + 1), name.slice(0, dot), 1000, 100], 'true');
}

function apiServiceOf(
  [group, version, groupPriorityMinimum, versionPriority]: Registration,
  managed: 'onstart' | 'true',
): Readonly<Record<string, unknown>> {
  return {
    apiVersion: `${registrationGroup}/v1`,
    kind: 'APIService',
    metadata: { name: `${version}.${group}`, labels: { [automanagedLabel]: managed } },
    spec: { ...(group !== '' && { group }), version, groupPriorityMinimum, versionPriority },
  };
}

/** Groups and sorts APIServices by their priorities, then by name; versions also by their stability. */
function sortedGroups(services: Iterable<ApiService>): readonly RegisteredGroup[] {
  const groups = new Map<string, ApiService[]>();
  const sorted = [...services].sort(
    (one, other) =>
      (other.spec?.groupPriorityMinimum ?? 0) - (one.spec?.groupPriorityMinimum ?? 0) ||
      ((one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1),
  );
  for (const service of sorted) {
    const name = service.spec?.group ?? '';
    groups.set(name, [...(groups.get(name) ?? []), service]);
  }
  return [...groups].map(([name, all]) => ({ name, services: all.sort(byVersion) }));
}

function byVersion({ spec: one }: ApiService, { spec: other }: ApiService): number {
  const difference = (other?.versionPriority ?? 0) - (one?.versionPriority ?? 0);
  return difference || compareVersions(one?.version ?? '', other?.version ?? '');
}
