import type { Clock } from '../../system/clock.js';
import type { Random } from '../../system/random.js';
import type { MvccLog } from '../storage/mvcc-log.js';
import { Authenticator } from './authenticator.js';
import { RbacAuthorizer, allowAll } from './authorizer.js';
import type { Authorizer } from './authorizer.js';
import { GrantCheck } from './grant-check.js';
import { RuleResolver } from './rule-resolver.js';
import type { ResolvedRules } from './rule-resolver.js';
import { ServiceAccountTokens } from './service-account-tokens.js';
import { mastersGroup } from './user-info.js';
import type { UserInfo, UserOptions } from './user-info.js';

/** Options of {@link AccessControl}. */
export interface AccessControlOptions {
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
   * Returns the check of the rights that a user grants. The check compares them with what
   * `authorizer` allows the user itself.
   * @returns undefined without RBAC: there is nothing to check
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

  /** Returns the rules of `user` in `namespace`, for a review. */
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
