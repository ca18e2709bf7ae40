import type {
  RbacV1Subject,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1RoleBinding,
} from '@kubernetes/client-node';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { aggregated, failure, forbidden, qualifiedPlural } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import type { MvccLog } from '../storage/mvcc-log.js';
import { mastersGroup, serviceAccountOf } from './authenticator.js';
import type { UserInfo } from './authenticator.js';
import { describeAccess, ruleAllows } from './policy-rule.js';
import type { AccessAttributes, PolicyRule } from './policy-rule.js';

/** The decision of an authorizer on a request. */
export interface Decision {
  readonly allowed: boolean;
  /** The reason; may be empty. */
  readonly reason: string;
}

/** Decides which requests a user may make. */
export interface Authorizer {
  authorize(user: UserInfo, attributes: AccessAttributes): Decision;
  /**
   * Returns the rules of `user` in a namespace, for a SelfSubjectRulesReview.
   * @defaultValue the rules of the server
   */
  rulesFor?(user: UserInfo, namespace: string): readonly PolicyRule[];
  /** Called for each refused request. A denied access review is not a refused request. */
  onRefused?(user: UserInfo, attributes: AccessAttributes): void;
}

/** The authorizer without RBAC: every known client may do everything. */
export const allowAll: Authorizer = { authorize: () => ({ allowed: true, reason: '' }) };

/** Authorizes by roles and their bindings. Members of `system:masters` may do everything. */
export class RbacAuthorizer implements Authorizer {
  readonly #resolver: RuleResolver;

  constructor(resolver: RuleResolver) {
    this.#resolver = resolver;
  }

  authorize(user: UserInfo, attributes: AccessAttributes): Decision {
    if (user.groups.includes(mastersGroup)) return { allowed: true, reason: '' };
    const { granted, errors } = this.#resolver.rulesFor(user, attributes.namespace);
    const allowing = granted.find(({ rule }) => ruleAllows(rule, attributes));
    if (allowing !== undefined) {
      return { allowed: true, reason: `RBAC: allowed by ${allowing.source()}` };
    }
    return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregated(errors)}` };
  }
}

/** Returns the error of a refused request. @returns a 403, or undefined if `user` may send the request */
export function refusalOf(
  authorizer: Authorizer,
  user: UserInfo,
  attributes: AccessAttributes,
): StatusError | undefined {
  const { allowed, reason } = authorizer.authorize(user, attributes);
  if (allowed) return undefined;
  authorizer.onRefused?.(user, attributes);
  return accessForbidden(user, attributes, reason);
}

/** Returns a 403 for `user` and the request with these `attributes`. */
function accessForbidden(
  user: UserInfo,
  attributes: AccessAttributes,
  reason: string,
): StatusError {
  const { group, resource: plural, name } = attributes;
  const what = htmlEscaped(describeAccess(user.username, attributes));
  const why = reason === '' ? what : `${what}: ${reason}`;
  if (attributes.path !== undefined) return failure(403, 'Forbidden', `forbidden: ${why}`, {});
  return forbidden({ group, plural, name }, why);
}

// Escapes a text for HTML, because browsers may show these messages.
function htmlEscaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const group = 'rbac.authorization.k8s.io';

/** The common fields of RoleBindings and ClusterRoleBindings. */
type Binding = Wire<V1RoleBinding | V1ClusterRoleBinding>;
type Subject = Wire<RbacV1Subject>;

type RoleReference = Binding['roleRef'];

/** A rule that applies to a user. */
interface GrantedRule {
  readonly rule: PolicyRule;
  /** Returns the source of the rule: `ClusterRoleBinding "b" of ClusterRole "r" to User "u"`. */
  readonly source: () => string;
}

/** The rules of a user in a namespace. */
export interface ResolvedRules {
  readonly granted: readonly GrantedRule[];
  /** Errors for missing roles that bindings refer to. */
  readonly errors: readonly string[];
}

/** The rules of a role, or an error text if the role does not exist. */
type RoleRules = { readonly rules: readonly PolicyRule[] } | { readonly error: string };

/** The maximum number of cached results. Each is for one user in one namespace. */
const remembered = 1000;

/** Resolves the rules that the stored roles and bindings give a user. */
export class RuleResolver {
  readonly #log: MvccLog;
  readonly #resolved = new Map<string, ResolvedRules>();
  #state = '';

  constructor(log: MvccLog) {
    this.#log = log;
  }

  /** Returns the rules of `user`. @param namespace - If empty, only cluster-wide rules. */
  rulesFor(user: UserInfo, namespace: string): ResolvedRules {
    this.#forgetIfChanged();
    const key = JSON.stringify([user.username, user.groups, namespace]);
    const known = this.#resolved.get(key);
    if (known !== undefined) return known;
    const resolved = this.#resolve(user, namespace);
    if (this.#resolved.size >= remembered) this.#resolved.clear();
    this.#resolved.set(key, resolved);
    return resolved;
  }

  /** Returns the rules of the role that a binding in `namespace` refers to. */
  roleRules({ kind, name }: RoleReference, namespace: string): RoleRules {
    const plural = kind === 'Role' ? 'roles' : 'clusterroles';
    const key = kind === 'Role' ? `${namespace}/${name}` : name;
    const role = this.#log.collection(`${group}/${plural}`).get(key) as
      (UnstructuredObject & Wire<V1ClusterRole>) | undefined;
    if (role !== undefined) {
      // The decoder sets missing rules to null, as Go does.
      return { rules: (role.rules as PolicyRule[] | null | undefined) ?? [] };
    }
    const subject = qualifiedPlural({ group, plural: plural.slice(0, -1) });
    return { error: `${subject} ${JSON.stringify(name)} not found` };
  }

  #forgetIfChanged(): void {
    const plurals = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'];
    const ends = plurals.map((plural) => this.#log.collection(`${group}/${plural}`).end);
    const state = ends.join();
    if (state === this.#state) return;
    this.#state = state;
    this.#resolved.clear();
  }

  #resolve(user: UserInfo, namespace: string): ResolvedRules {
    const granted: GrantedRule[] = [];
    const errors: string[] = [];
    for (const binding of this.#bindings(namespace)) {
      const { subjects = [], roleRef, metadata } = binding;
      const bound = metadata?.namespace ?? '';
      const subject = subjects.find((one) => appliesTo(user, one, bound));
      if (subject === undefined) continue;
      const role = this.roleRules(roleRef, bound);
      if ('error' in role) errors.push(role.error);
      else {
        const source = (): string => describeBinding(binding, subject);
        granted.push(...role.rules.map((rule) => ({ rule, source })));
      }
    }
    return { granted, errors };
  }

  *#bindings(namespace: string): Generator<Binding> {
    const cluster = this.#log.collection(`${group}/clusterrolebindings`);
    for (const key of cluster.keys('')) yield cluster.get(key) as unknown as Binding;
    if (namespace === '') return;
    const own = this.#log.collection(`${group}/rolebindings`);
    for (const key of own.keys(`${namespace}/`)) yield own.get(key) as unknown as Binding;
  }
}

function appliesTo(user: UserInfo, subject: Subject, bound: string): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.name === user.username;
    case 'Group':
      return user.groups.includes(subject.name);
    // The validation of bindings allows only one other kind: ServiceAccount.
    default: {
      const account = serviceAccountOf(user.username);
      // The namespace of a decoded subject may be empty.
      return account?.name === subject.name && account.namespace === (subject.namespace || bound);
    }
  }
}

function describeBinding(
  { metadata, roleRef }: Binding,
  { kind, name, namespace }: Subject,
): string {
  const bound = metadata?.namespace ?? '';
  const own = metadata?.name ?? '';
  const named = bound === '' ? own : `${own}/${bound}`;
  const who = kind === 'ServiceAccount' ? `${name}/${namespace || bound}` : name;
  const binding = bound === '' ? 'ClusterRoleBinding' : 'RoleBinding';
  const role = `${roleRef.kind} ${JSON.stringify(roleRef.name)}`;
  return `${binding} ${JSON.stringify(named)} of ${role} to ${kind} ${JSON.stringify(who)}`;
}
