import type { CachedType } from '../../cache/index.js';
import type { Client } from '../../client/index.js';
import type { KubernetesObject, TypeReference } from '../../object/index.js';
import { apiVersionOf } from '../../object/index.js';
import type { Logger } from '../../system/index.js';
import { OperatorError, isOperatorError, whenAborted } from '../../system/index.js';
import type { ManagedCluster, ManagerCacheOptions } from '../managed-cluster.js';
import { eventAccess } from '../runnable.js';
import { watchVerbs } from './required-access.js';
import type { RequiredAccess } from './required-access.js';
import { normalRules, ruleLines } from './role-rules.js';

/** Reaction of a manager to missing permissions. */
export type PreflightMode =
  /** Does not check the permissions. */
  | 'off'
  /** Logs the rules to add and continues: permissions may be granted later. */
  | 'warn'
  /** Stops the start: `run` of the manager rejects. */
  | 'fail';

interface PreflightOptions {
  readonly mode: PreflightMode;
  readonly client: Client;
  readonly required: readonly RequiredAccess[];
  /** Optional access: if missing, every mode only logs a warning. */
  readonly wished: readonly RequiredAccess[];
  readonly logger: Logger;
}

/**
 * Reviews whether the operator's account has the access it needs.
 * @throws OperatorError `MissingPermission` in the mode `fail`: access is missing; the message contains the
 * rules to add, as YAML.
 */
async function preflight(
  { mode, client, required, wished, logger }: PreflightOptions,
  signal: AbortSignal,
): Promise<void> {
  if (mode === 'off') return;
  const problem = async (access: readonly RequiredAccess[]): Promise<string | undefined> => {
    const missing = await missingAccess(client, access, signal);
    if (missing.length === 0) return undefined;
    return `permissions are missing; add these rules:\n${roleManifest(missing, 'operator')}`;
  };
  const refused = mode === 'fail' ? await problem(required) : undefined;
  if (refused !== undefined) throw new OperatorError('MissingPermission', refused);
  try {
    const warning = await problem(mode === 'fail' ? wished : [...required, ...wished]);
    if (warning !== undefined) logger.warn(warning);
  } catch (error) {
    if (signal.aborted) throw error;
    logger.warn('permissions could not be reviewed', { error });
  }
}

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
    const access = { required: neededAccess(cluster, wanted), wished: wishedAccess(cluster) };
    return preflight({ mode: options.mode, client, logger, ...access }, signal);
  };
  const [home, ...others] = clusters;
  for (const cluster of others) {
    review(cluster, required).catch((error: unknown) => {
      if (isOperatorError(error, 'MissingPermission')) failed(error);
      else options.logger.warn('permissions could not be reviewed', { error });
    });
  }
  if (home === undefined) return;
  // The look-up of a kind takes no abort signal, and the server may not respond.
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

/** Returns the access that is only optional: to write Events about quarantined objects. */
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
    if (access.type === undefined || access.namespace !== undefined) return [access];
    return namespacesOf(access.type).map((namespace) => ({ ...access, namespace }));
  });
}

function isSame(a: TypeReference<KubernetesObject>, b: TypeReference<KubernetesObject>): boolean {
  return a.kind === b.kind && apiVersionOf(a) === apiVersionOf(b);
}

/** A verb on a resource or path for which an account lacks the permission. */
interface MissingAccess {
  readonly group: string;
  /** Includes the subresource, such as `pods/status`. */
  readonly resource: string;
  /** Whether `resource` is a path, such as `/metrics`. @defaultValue false */
  readonly isPath?: boolean | undefined;
  readonly verb: RequiredAccess['verbs'][number];
  /** `''` for all namespaces or a cluster-scoped resource. */
  readonly namespace: string;
  /** The only object that the access is for. @defaultValue all objects */
  readonly name?: string | undefined;
}

interface SelfSubjectAccessReview extends KubernetesObject {
  readonly spec: object;
  readonly status?: { readonly allowed?: boolean };
}

// Maximum number of concurrent reviews. Reviews are cheap, but many operators may start at the same time.
const maxAtOnce = 10;

/**
 * Returns the part of `required` that SelfSubjectAccessReviews refuse to the account of `client`. Omits unserved kinds,
 * whose resource names are unknown.
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

/**
 * Returns the permissions to check. The keys of the map are unique names, so that each verb on a resource occurs once.
 */
async function accessOf(
  client: Client,
  required: readonly RequiredAccess[],
): Promise<ReadonlyMap<string, MissingAccess>> {
  const all = new Map<string, MissingAccess>();
  for (const each of required) {
    const { type, verbs, subresource, namespace = '', names = [undefined] } = each;
    if (type === undefined) {
      for (const access of pathAccess(each)) all.set(nameOf(access), access);
      continue;
    }
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

function pathAccess({ nonResourceURLs = [], verbs }: RequiredAccess): readonly MissingAccess[] {
  return nonResourceURLs.flatMap((resource) =>
    verbs.map((verb) => ({ group: '', resource, isPath: true, verb, namespace: '' })),
  );
}

function nameOf({ group, resource, isPath, verb, namespace, name = '' }: MissingAccess): string {
  return [group, resource, isPath, verb, namespace, name].join(' ');
}

async function isAllowed(
  client: Client,
  { group, resource, isPath, verb, namespace, name }: MissingAccess,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const [plural = '', subresource = ''] = resource.split('/');
  const spec = isPath
    ? { nonResourceAttributes: { path: resource, verb } }
    : { resourceAttributes: { group, resource: plural, subresource, verb, namespace, name } };
  const answer = await client.create<SelfSubjectAccessReview>(
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec,
    },
    { signal },
  );
  return answer.status?.allowed === true;
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
  const rules = missing.map(({ group, resource, isPath, name: only, verb }) => {
    if (isPath) return { nonResourceURLs: [resource], verbs: [verb] };
    const names = only === undefined ? {} : { resourceNames: [only] };
    return { apiGroups: [group], resources: [resource], ...names, verbs: [verb] };
  });
  const lines = [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${namespace === '' ? 'ClusterRole' : 'Role'}`,
    'metadata:',
    `  name: ${name}`,
    ...(namespace === '' ? [] : [`  namespace: ${namespace}`]),
    'rules:',
    ...ruleLines(normalRules(rules)),
  ];
  return `${lines.join('\n')}\n`;
}
