import type { V1ClusterRole, V1ClusterRoleBinding } from '@kubernetes/client-node';
import { deepEqual, withoutMembers } from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import type { Clock, Random } from '../../system/index.js';
import { aggregated, forbidden, notFound } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import type { MvccLog } from '../storage/mvcc-log.js';
import { Authenticator, ServiceAccountTokens, mastersGroup } from './authenticator.js';
import type { UserInfo, UserOptions } from './authenticator.js';
import { RbacAuthorizer, RuleResolver, allowAll } from './authorizer.js';
import type { Authorizer, ResolvedRules } from './authorizer.js';
import { describeRules, quotedList, uncovered } from './policy-rule.js';
import type { AccessAttributes, PolicyRule } from './policy-rule.js';

interface AccessControlOptions {
  readonly log: MvccLog;
  readonly clock: Clock;
  readonly random: Random;
  /** Bearer tokens and their users. */
  readonly users: Readonly<Record<string, string | UserOptions>>;
  /** If true, roles and bindings decide. If false, every known client may do everything. */
  readonly rbac: boolean;
}

/** Authentication and authorization of a server. */
export class AccessControl {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly tokens: ServiceAccountTokens;
  readonly #grants: GrantCheck | undefined;
  readonly #resolver: RuleResolver;

  constructor({ log, clock, random, users, rbac }: AccessControlOptions) {
    this.tokens = new ServiceAccountTokens({ log, clock, random });
    this.authenticator = new Authenticator({ users, tokens: this.tokens, anonymous: rbac });
    this.#resolver = new RuleResolver(log);
    this.authorizer = rbac ? new RbacAuthorizer(this.#resolver) : allowAll;
    this.#grants = rbac ? new GrantCheck(this.authorizer, this.#resolver) : undefined;
  }

  /**
   * Returns the check against privilege escalation: a user may grant only rights that `authorizer` allows
   * that same user.
   * @returns undefined without RBAC, because every user then has all rights
   */
  grantsOf(authorizer: Authorizer): GrantCheck | undefined {
    if (authorizer === this.authorizer || authorizer.rulesFor === undefined) return this.#grants;
    return new GrantCheck(authorizer, {
      roleRules: (role, namespace) => this.#resolver.roleRules(role, namespace),
      rulesFor: (user, namespace) => {
        const rules = authorizer.rulesFor?.(user, namespace) ?? [];
        return { granted: rules.map((rule) => ({ rule, source: () => '' })), errors: [] };
      },
    });
  }

  /** Returns the rules of `user` in `namespace`, for a SelfSubjectRulesReview. */
  rulesFor(user: UserInfo, namespace: string): ResolvedRules {
    const unlimited = this.#grants === undefined || user.groups.includes(mastersGroup);
    if (!unlimited) return this.#resolver.rulesFor(user, namespace);
    const everything = [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ];
    return { granted: everything.map((rule) => ({ rule, source: () => '' })), errors: [] };
  }
}

const group = 'rbac.authorization.k8s.io';
const checked = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'];

/** A write of a role or a binding. */
interface Grant {
  readonly plural: string;
  readonly object: UnstructuredObject;
  /** The previous object; undefined for a create. */
  readonly old: UnstructuredObject | undefined;
  /** The name in the request's path; empty for a create. */
  readonly requestedName: string;
}

/**
 * The rules that a {@link Grant} grants, and the special right (`escalate` or `bind`) that allows granting any rules.
 */
interface Granted {
  readonly rules: readonly PolicyRule[];
  readonly asked: AccessAttributes;
}

/** Returns whether a write to `group`/`plural` may grant rights. */
export function isGrant(type: { readonly group: string; readonly plural: string }): boolean {
  return type.group === group && checked.includes(type.plural);
}

/** The look-ups of {@link GrantCheck}: the rules that a user has, and the rules of a role. */
type GrantedRules = Pick<RuleResolver, 'rulesFor' | 'roleRules'>;

/** Refuses writes by which a user would grant rights that it does not have itself. */
class GrantCheck {
  readonly #authorizer: Authorizer;
  readonly #resolver: GrantedRules;

  constructor(authorizer: Authorizer, resolver: GrantedRules) {
    this.#authorizer = authorizer;
    this.#resolver = resolver;
  }

  /**
   * Checks a write of a role or a binding.
   * @throws StatusError 403: `user` lacks a right that it grants; 404: the role does not exist.
   */
  check(user: UserInfo, grant: Grant): void {
    if (user.groups.includes(mastersGroup)) return;
    if (grant.plural.endsWith('bindings')) this.#checkBinding(user, grant);
    else this.#checkRole(user, grant);
  }

  #checkRole(user: UserInfo, grant: Grant): void {
    const { plural, object, old, requestedName } = grant;
    const { namespace = '' } = object.metadata;
    const asked = {
      ...{ group, resource: plural, subresource: '', namespace, name: requestedName },
      verb: 'escalate',
    };
    if (this.#authorizer.authorize(user, asked).allowed) return;
    if (onlyForCollector(grant)) return;
    const { rules, aggregationRule } = roleOf(object);
    this.#confirm(user, grant, { rules: rules ?? [], asked });
    const before = old === undefined ? undefined : roleOf(old).aggregationRule;
    if (aggregationRule === undefined && before === undefined) return;
    const owned = this.#resolver.rulesFor(user, '').granted.map(({ rule }) => rule);
    if (uncovered(owned, everything).length === 0) return;
    const why = 'must have cluster-admin privileges to use the aggregationRule';
    throw refused(grant, why);
  }

  #checkBinding(user: UserInfo, grant: Grant): void {
    const { object } = grant;
    const { namespace = '' } = object.metadata;
    if (onlyForCollector(grant)) return;
    const { roleRef } = object as unknown as Wire<V1ClusterRoleBinding>;
    const resource = roleRef.kind === 'Role' ? 'roles' : 'clusterroles';
    const asked = {
      group: roleRef.apiGroup,
      resource,
      subresource: '',
      namespace,
      name: roleRef.name,
      verb: 'bind',
    };
    if (this.#authorizer.authorize(user, asked).allowed) return;
    const role = this.#resolver.roleRules(roleRef, namespace);
    if ('error' in role) throw notFound({ group, plural: grant.plural, name: roleRef.name });
    this.#confirm(user, grant, { rules: role.rules, asked });
  }

  #confirm(user: UserInfo, grant: Grant, { rules, asked }: Granted): void {
    const { namespace = '' } = grant.object.metadata;
    const { granted, errors } = this.#resolver.rulesFor(user, namespace);
    const missing = uncovered(
      granted.map(({ rule }) => rule),
      rules,
    );
    if (missing.length === 0) return;
    this.#authorizer.onRefused?.(user, asked);
    const who = `user ${JSON.stringify(user.username)} (groups=${quotedList(user.groups)})`;
    const unresolved = errors.length === 0 ? '' : `; resolution errors: [${aggregated(errors)}]`;
    const why = `${who} is attempting to grant RBAC permissions not currently held:\n`;
    throw refused(grant, `${why}${describeRules(missing)}${unresolved}`);
  }
}

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

function roleOf(
  object: UnstructuredObject,
): Pick<Wire<V1ClusterRole>, 'rules' | 'aggregationRule'> {
  return object as unknown as Wire<V1ClusterRole>;
}

function refused({ plural, object }: Grant, why: string): StatusError {
  return forbidden({ group, plural, name: object.metadata.name }, why);
}

/**
 * Returns whether a write changes only metadata such as owners and finalizers. The garbage collector may make such a
 * write without the rights that the role grants.
 */
function onlyForCollector({ object, old }: Grant): boolean {
  if (old === undefined) return false;
  const rest = (given: UnstructuredObject): unknown => {
    const own = ['ownerReferences', 'finalizers', 'managedFields', 'selfLink'];
    return { ...given, metadata: withoutMembers(given.metadata, ...own) };
  };
  return deepEqual(rest(object), rest(old));
}
