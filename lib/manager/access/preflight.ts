import type { CachedType } from '../../cache/index.js';
import type { Client } from '../../client/index.js';
import type { KubernetesObject, TypeReference } from '../../object/index.js';
import { apiVersionOf } from '../../object/index.js';
import type { Logger } from '../../system/index.js';
import { OperatorError, isOperatorError, whenAborted } from '../../system/index.js';
import type { ManagedCluster, ManagerCacheOptions } from '../managed-cluster.js';
import { eventAccess } from '../runnable.js';
import { watchVerbs } from './required-access.js';
import type { AccessVerb, RequiredAccess } from './required-access.js';

/** Reaction of a manager to missing permissions. */
export type PreflightMode =
  /** Skips the reviews. */
  | 'off'
  /** Logs the rules to add and continues: permissions may be granted later. */
  | 'warn'
  /** Rejects the manager's `run`. */
  | 'fail';

/** Options of {@link preflight}. */
interface PreflightOptions {
  readonly mode: PreflightMode;
  readonly client: Client;
  readonly required: readonly RequiredAccess[];
  /** Optional access: if missing, every mode only logs a warning. */
  readonly wished: readonly RequiredAccess[];
  /** Name of the roles in the manifest. */
  readonly roleName: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Reviews whether the operator's account has the access it needs.
 * @throws OperatorError `MissingPermission` in the mode `fail`: access is missing; the message contains the
 * rules to add, as YAML.
 */
async function preflight(options: PreflightOptions): Promise<void> {
  const { mode, required, wished, logger, signal } = options;
  if (mode === 'off') return;
  if (mode === 'fail') {
    const manifest = await missingRules(options, required);
    if (manifest !== undefined) throw new OperatorError('MissingPermission', manifest);
  }
  try {
    const manifest = await missingRules(
      options,
      mode === 'fail' ? wished : [...required, ...wished],
    );
    if (manifest !== undefined) logger.warn(manifest);
  } catch (error) {
    if (signal.aborted) throw error;
    logger.warn('permissions could not be reviewed', { error });
  }
}

/** Returns a message with the rules to add; undefined if none are missing. */
async function missingRules(
  { client, roleName, signal }: PreflightOptions,
  access: readonly RequiredAccess[],
): Promise<string | undefined> {
  if (access.length === 0) return undefined;
  const missing = await missingAccess(client, access, signal);
  if (missing.length === 0) return undefined;
  return `permissions are missing; add these rules:\n${roleManifest(missing, roleName)}`;
}

/** Options of {@link reviewClusters}. */
interface ReviewClustersOptions {
  readonly mode: PreflightMode;
  /** The first cluster also has the Leases and the manager's own objects. */
  readonly clusters: Iterable<ManagedCluster>;
  /** Access needed in each cluster. */
  readonly required: readonly RequiredAccess[];
  /** Additional access needed in the first cluster. */
  readonly requiredAtHome: readonly RequiredAccess[];
  readonly logger: Logger;
  /** Called with the missing permissions of a cluster other than the first. */
  readonly failed: (error: unknown) => void;
}

/**
 * Reviews the operator's permissions in each cluster. It waits only for the first one: an unreachable cluster
 * must not block the others.
 * @throws OperatorError `MissingPermission`: see `PreflightMode`.
 * @throws the signal's reason, as soon as it is aborted.
 */
export async function reviewClusters(
  { clusters, required, requiredAtHome, failed, ...options }: ReviewClustersOptions,
  signal: AbortSignal,
): Promise<void> {
  const review = (cluster: ManagedCluster, wanted: readonly RequiredAccess[]): Promise<void> => {
    const { name, given: client } = cluster;
    const logger = name === '' ? options.logger : options.logger.child({ cluster: name });
    const needed = neededAccess(cluster, wanted);
    const { mode } = options;
    const shared = { client, roleName: 'operator', logger, signal };
    return preflight({ ...shared, mode, required: needed, wished: wishedAccess(cluster) });
  };
  const [home, ...others] = clusters;
  for (const cluster of others) {
    review(cluster, required).catch((error: unknown) => {
      if (isOperatorError(error, 'MissingPermission')) failed(error);
      else options.logger.warn('permissions could not be reviewed', { error });
    });
  }
  if (home === undefined) return;
  // The look-up of a kind takes no signal, and the server may not respond.
  await Promise.race([review(home, [...required, ...requiredAtHome]), whenAborted(signal)]);
  signal.throwIfAborted();
}

/**
 * Returns the access needed on a cluster: `get`, `list` and `watch` of its cached kinds, plus `declared`.
 * Entries without a namespace are narrowed to the cached namespaces.
 */
export function neededAccess(
  { cache, cacheOptions }: ManagedCluster,
  declared: readonly RequiredAccess[],
): readonly RequiredAccess[] {
  const watched = cache
    .status()
    .map(({ apiVersion, kind }) => ({ type: { apiVersion, kind }, verbs: watchVerbs }));
  return inCachedNamespaces([...watched, ...declared], cacheOptions);
}

/** Returns optional access: Events about quarantined objects. */
function wishedAccess({ cache, cacheOptions }: ManagedCluster): readonly RequiredAccess[] {
  return cache.status().length === 0 ? [] : inCachedNamespaces(eventAccess, cacheOptions);
}

function inCachedNamespaces(
  all: readonly RequiredAccess[],
  cacheOptions: ManagerCacheOptions,
): readonly RequiredAccess[] {
  const { types = [], namespaces, allNamespacesOf = () => false } = cacheOptions;
  const namespacesOf = (type: TypeReference<KubernetesObject>): readonly (string | undefined)[] => {
    const own = types.find((each: CachedType) => isSame(each.type, type));
    const usual = allNamespacesOf(type) ? undefined : namespaces;
    return own?.namespaces ?? usual ?? [undefined];
  };
  return all.flatMap((access: RequiredAccess) => {
    if (access.namespace !== undefined) return [access];
    return namespacesOf(access.type).map((namespace) => ({ ...access, namespace }));
  });
}

function isSame(a: TypeReference<KubernetesObject>, b: TypeReference<KubernetesObject>): boolean {
  return a.kind === b.kind && apiVersionOf(a) === apiVersionOf(b);
}

/** A verb on a resource that an account may not use. */
interface MissingAccess {
  readonly group: string;
  /** Includes the subresource, such as `pods/status`. */
  readonly resource: string;
  readonly verb: AccessVerb;
  /** `''` for all namespaces or a cluster-scoped resource. */
  readonly namespace: string;
  /** @defaultValue all objects */
  readonly name?: string | undefined;
}

interface SelfSubjectAccessReview extends KubernetesObject {
  readonly spec: object;
  readonly status?: { readonly allowed?: boolean };
}

// Concurrent reviews. Reviews are cheap, but many operators may start at the same time.
const maxAtOnce = 10;

/**
 * Returns the part of `required` that the account of `client` may not do, by SelfSubjectAccessReviews. Omits
 * unserved kinds, whose resource names are unknown.
 * @throws the error of a review.
 */
export async function missingAccess(
  client: Client,
  required: readonly RequiredAccess[],
  signal?: AbortSignal,
): Promise<readonly MissingAccess[]> {
  const asked = await accessOf(client, required);
  const waiting = [...asked.values()];
  const missing: MissingAccess[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (!(await isAllowed(client, next, signal))) missing.push(next);
    }
  };
  await Promise.all(Array.from({ length: maxAtOnce }, work));
  const order = [...asked.keys()];
  return missing.sort((a, b) => order.indexOf(nameOf(a)) - order.indexOf(nameOf(b)));
}

/** Returns each verb once. */
async function accessOf(
  client: Client,
  required: readonly RequiredAccess[],
): Promise<ReadonlyMap<string, MissingAccess>> {
  const all = new Map<string, MissingAccess>();
  for (const { type, verbs, subresource, namespace = '', names = [undefined] } of required) {
    const served = await client.resourceType(type).catch((error: unknown) => {
      if (isOperatorError(error, 'UnknownKind')) return undefined;
      throw error;
    });
    if (served === undefined) continue;
    const { group, plural } = served;
    const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
    const place = { group, resource, namespace: served.namespaced ? namespace : '' };
    for (const verb of verbs) {
      for (const name of names) {
        const access = { ...place, verb, ...(name !== undefined && { name }) };
        all.set(nameOf(access), access);
      }
    }
  }
  return all;
}

function nameOf({ group, resource, verb, namespace, name = '' }: MissingAccess): string {
  return [group, resource, verb, namespace, name].join(' ');
}

async function isAllowed(
  client: Client,
  { group, resource, verb, namespace, name }: MissingAccess,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const [plural = '', subresource = ''] = resource.split('/');
  const resourceAttributes = { group, resource: plural, subresource, verb, namespace, name };
  const answer = await client.create<SelfSubjectAccessReview>(
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: { resourceAttributes },
    },
    { signal },
  );
  return answer.status?.allowed === true;
}

/** A rule that combines resources with equal names and verbs. */
interface Rule {
  readonly group: string;
  readonly resources: string[];
  /** Empty for all objects. */
  readonly names: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * Returns the roles that grant the missing access, as YAML: a ClusterRole for cluster-wide access and a Role
 * for each namespace.
 */
export function roleManifest(missing: readonly MissingAccess[], name: string): string {
  const namespaces = [...new Set(missing.map(({ namespace }) => namespace))];
  const roles = namespaces.map((namespace) => {
    const own = missing.filter((access) => access.namespace === namespace);
    return roleOf(own, { name, namespace });
  });
  return roles.join('---\n');
}

function roleOf(
  missing: readonly MissingAccess[],
  { name, namespace }: { readonly name: string; readonly namespace: string },
): string {
  const lines = [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${namespace === '' ? 'ClusterRole' : 'Role'}`,
    'metadata:',
    `  name: ${name}`,
    ...(namespace === '' ? [] : [`  namespace: ${namespace}`]),
    'rules:',
  ];
  for (const { group, resources, names, verbs } of rulesOf(missing)) {
    lines.push(
      `- apiGroups: ${list([group])}`,
      `  resources: ${list(resources)}`,
      ...(names.length === 0 ? [] : [`  resourceNames: ${list(names)}`]),
      `  verbs: ${list(verbs)}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function rulesOf(missing: readonly MissingAccess[]): readonly Rule[] {
  const places = new Map<string, { access: MissingAccess; verbs: string[] }>();
  for (const access of missing) {
    const { group, resource, name = '', verb } = access;
    const place = `${group}/${resource}/${name}`;
    const entry = places.get(place) ?? { access, verbs: [] };
    entry.verbs.push(verb);
    places.set(place, entry);
  }
  const rules = new Map<string, Rule>();
  for (const { access, verbs } of places.values()) {
    const { group, resource, name = '' } = access;
    const alike = `${group} ${name} ${verbs.join()}`;
    const names = name === '' ? [] : [name];
    const rule = rules.get(alike) ?? { group, resources: [], names, verbs };
    rule.resources.push(resource);
    rules.set(alike, rule);
  }
  return [...rules.values()];
}

function list(items: readonly string[]): string {
  return `[${items.map((item) => JSON.stringify(item)).join(', ')}]`;
}
