import { AsyncLocalStorage } from 'node:async_hooks';
import { isOpenPath, isSelfReview, ruleAllows } from '../../apiserver/internal.js';
import type { Client } from '../../client/index.js';
import type { EmbeddedCluster } from '../../apiserver/index.js';
import type {
  AccessAttributes,
  Authorizer,
  Decision,
  PolicyRule,
  UserInfo,
} from '../../apiserver/internal.js';
import { builtInKinds } from '../../object/index.js';
import type { KubernetesObject, ResourceType, TypeReference } from '../../object/index.js';
import { isOperatorError, noTracer } from '../../system/index.js';
import type { Tracer } from '../../system/index.js';
import type { RequiredAccess } from './required-access.js';

/** A rule that an operator needed and that its role lacks. */
export interface MissingRule {
  /** The controller that sent the request; undefined outside of a reconcile. */
  readonly controller: string | undefined;
  /** Names the refused request, and shows the rule to add in two forms: as an entry of `requires`, and as YAML. */
  readonly message: string;
}

interface OperatorRoleOptions {
  /** Name of the operator; its ServiceAccount is named as in the manifests of a project. */
  readonly name: string;
  /** The cluster that the operator runs on. */
  readonly cluster: EmbeddedCluster;
  /** Called once for each missing rule and controller, at the first refused request. */
  readonly onMissing: (missing: MissingRule) => void;
}

/** The controller of the current reconcile. */
const reconciling = new AsyncLocalStorage<string>();

/**
 * The role of an operator on an embedded cluster, with the rules that `operator-builder manifests` would generate. Pass
 * the role as the `authorizer` of the operator's client, and {@link OperatorRole.tracer} to the manager.
 */
export class OperatorRole implements Authorizer {
  /** User name of the operator's ServiceAccount. */
  readonly user: string;
  /** Records which controller sends a request. */
  readonly tracer: Tracer = {
    span: (name, attributes, work) =>
      reconciling.run(String(attributes['k8s.controller'] ?? ''), () =>
        noTracer.span(name, attributes, work),
      ),
  };
  readonly #options: OperatorRoleOptions;
  readonly #reported = new Set<string>();
  readonly #inNamespace = new Map<string, readonly PolicyRule[]>();
  #types: readonly ResourceType[] = Object.values(builtInKinds);
  #rules: AccessRules | undefined;

  constructor(options: OperatorRoleOptions) {
    const { name } = options;
    this.#options = options;
    this.user = `system:serviceaccount:${name}-system:${name}-controller-manager`;
  }

  /**
   * Limits the operator to its declared access. Until then everything is allowed, since a `setup` sends no requests.
   * @param access - access that the operator's manager declares after `setup`
   * @param own - rules that the user has added to the generated ones
   */
  async declare(access: readonly RequiredAccess[], own?: AccessRules): Promise<void> {
    const client = this.#options.cluster.client();
    try {
      const declared = await accessRules(access, (type) => servedAt(client, type));
      const constants = access.flatMap(({ type = {} }) =>
        'plural' in type ? [type as ResourceType] : [],
      );
      this.#types = [...this.#types, ...constants];
      this.#rules = joined(declared, own);
      this.#inNamespace.clear();
    } finally {
      await client.close();
    }
  }

  /** All rules of the role: those for all namespaces, and those for single namespaces. */
  get rules(): readonly PolicyRule[] {
    const { everywhere = [], inNamespaces } = this.#rules ?? {};
    return [...everywhere, ...[...(inNamespaces?.values() ?? [])].flat()];
  }

  authorize(_user: UserInfo, attributes: AccessAttributes): Decision {
    const { path, namespace } = attributes;
    const isOpen = path === undefined ? isSelfReview(attributes) : isOpenPath(path);
    const rules = isOpen || this.#rules === undefined ? undefined : this.#rulesIn(namespace);
    const allowed = rules?.some((rule) => ruleAllows(rule, attributes)) ?? true;
    if (allowed) return { allowed, reason: '' };
    const entry = this.#requiresEntry(attributes);
    const remedy = entry === undefined ? '' : `; add ${entry} to requires`;
    return { allowed, reason: `the operator's role has no such rule${remedy}` };
  }

  rulesFor(_user: UserInfo, namespace: string): readonly PolicyRule[] {
    return this.#rulesIn(namespace);
  }

  onRefused(_user: UserInfo, attributes: AccessAttributes): void {
    const controller = reconciling.getStore();
    const request = describe(attributes);
    const rule = ruleText(attributes);
    const key = JSON.stringify([controller, rule]);
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    const entry = this.#requiresEntry(attributes);
    const subject = controller === undefined ? 'operator' : `controller ${controller}`;
    const requires = entry === undefined ? '' : 'the entry to requires of the controller, or ';
    const lines = [
      `${subject}: its role does not allow it to ${request}; add ${requires}the rule to config/rbac/role.yaml`,
      ...(entry === undefined ? [] : [`  requires: ${entry}`]),
      `  rule: ${rule}`,
      ...(isGrant(attributes)
        ? ['  or require the rights of that role: an account may grant only rights that it has']
        : []),
    ];
    this.#options.onMissing({ controller, message: lines.join('\n') });
  }

  #rulesIn(namespace: string): readonly PolicyRule[] {
    const known = this.#inNamespace.get(namespace);
    if (known !== undefined) return known;
    const { everywhere = [], inNamespaces } = this.#rules ?? {};
    const rules = [...everywhere, ...(inNamespaces?.get(namespace) ?? [])];
    this.#inNamespace.set(namespace, rules);
    return rules;
  }

  /** Returns an entry such as `{ type: ConfigMap, verbs: ['list'] }`; undefined for an unserved resource. */
  #requiresEntry(attributes: AccessAttributes) {
    const { group, resource, subresource, verb, path } = attributes;
    if (path !== undefined) return `{ nonResourceURLs: ['${path}'], verbs: ['${verb}'] }`;
    const isMeant = (one: ResourceType): boolean => one.group === group && one.plural === resource;
    const { loopback } = this.#options.cluster.server;
    const type = loopback.resourceTypes().find(isMeant);
    if (type === undefined) return undefined;
    const { kind, version, plural, namespaced } = type;
    const literal = `{ group: '${group}', version: '${version}', kind: '${kind}', plural: '${plural}', namespaced: ${namespaced} }`;
    const reference = this.#types.some(isMeant) ? kind : literal;
    const part = subresource === '' ? '' : ` subresource: '${subresource}',`;
    const only = isGrant(attributes) ? onlyTheRole(attributes, namespaced) : '';
    return `{ type: ${reference},${part}${only} verbs: ['${verb}'] }`;
  }
}

/** Whether a request checks the right to `bind` or `escalate` one role. A check without a name is about all roles. */
function isGrant({ verb, name, path }: AccessAttributes): boolean {
  return path === undefined && name !== '' && (verb === 'bind' || verb === 'escalate');
}

/** Returns the fields that limit an entry of `requires` to one role. */
function onlyTheRole({ name, namespace }: AccessAttributes, namespaced: boolean): string {
  const where = namespaced && namespace !== '' ? ` namespace: '${namespace}',` : '';
  return ` names: ['${name}'],${where}`;
}

async function servedAt(
  client: Client,
  type: TypeReference<KubernetesObject>,
): Promise<ResourceType | undefined> {
  try {
    return (await client.resourceType(type)) as ResourceType;
  } catch (error) {
    if (isOperatorError(error, 'UnknownKind')) return undefined;
    throw error;
  }
}

function joined(one: AccessRules, other: AccessRules | undefined): AccessRules {
  if (other === undefined) return one;
  const inNamespaces = new Map(one.inNamespaces);
  for (const [namespace, rules] of other.inNamespaces) {
    inNamespaces.set(namespace, [...(inNamespaces.get(namespace) ?? []), ...rules]);
  }
  return { everywhere: [...one.everywhere, ...other.everywhere], inNamespaces };
}

/** Returns text such as `list configmaps in namespace default`. */
function describe({
  verb,
  group,
  resource,
  subresource,
  namespace,
  path,
}: AccessAttributes): string {
  if (path !== undefined) return `${verb} ${path}`;
  const plural = subresource === '' ? resource : `${resource}/${subresource}`;
  const of = group === '' ? '' : ` of ${group}`;
  return `${verb} ${plural}${of}${namespace === '' ? '' : ` in namespace ${namespace}`}`;
}

/** Returns the rule that allows a request, as one line of YAML. */
function ruleText(attributes: AccessAttributes): string {
  const { verb, group, resource, subresource, path, name } = attributes;
  if (path !== undefined) return `{ nonResourceURLs: ['${path}'], verbs: [${verb}] }`;
  const plural = subresource === '' ? resource : `${resource}/${subresource}`;
  const only = isGrant(attributes) ? ` resourceNames: ['${name}'],` : '';
  return `{ apiGroups: ['${group}'], resources: [${plural}],${only} verbs: [${verb}] }`;
}

/** The role rules for the access that an operator declares. */
export interface AccessRules {
  /** Rules for all namespaces, and for cluster-scoped kinds. */
  readonly everywhere: readonly PolicyRule[];
  readonly inNamespaces: ReadonlyMap<string, readonly PolicyRule[]>;
}

/**
 * Converts declared access to rules.
 * @param placeOf - resolves a kind to its resource; unserved kinds get no rule
 */
export async function accessRules(
  access: readonly RequiredAccess[],
  placeOf: (
    type: TypeReference<KubernetesObject>,
  ) => Promise<ResourceType<KubernetesObject> | undefined>,
): Promise<AccessRules> {
  const everywhere: PolicyRule[] = [];
  const inNamespaces = new Map<string, readonly PolicyRule[]>();
  for (const { type, verbs, nonResourceURLs, ...objects } of access) {
    if (type === undefined) {
      everywhere.push({ nonResourceURLs: [...nonResourceURLs], verbs: [...verbs] });
      continue;
    }
    const { subresource, namespace, names } = objects;
    // In a role, an empty list of names means all objects.
    if (names?.length === 0) continue;
    const place = await placeOf(type);
    if (place === undefined) continue;
    const { group, plural, namespaced } = place;
    const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
    const only = names === undefined ? {} : { resourceNames: [...names] };
    const rule = { apiGroups: [group], resources: [resource], ...only, verbs: [...verbs] };
    if (namespace === undefined || !namespaced) everywhere.push(rule);
    else inNamespaces.set(namespace, [...(inNamespaces.get(namespace) ?? []), rule]);
  }
  return { everywhere, inNamespaces };
}
