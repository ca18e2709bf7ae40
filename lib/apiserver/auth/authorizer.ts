import { failure, forbidden } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import { describeAccess } from './access-attributes.js';
import type { AccessAttributes } from './access-attributes.js';
import { ruleAllows } from './policy-rule.js';
import type { PolicyRule } from './policy-rule.js';
import type { RuleResolver } from './rule-resolver.js';
import { mastersGroup } from './user-info.js';
import type { UserInfo } from './user-info.js';

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
   * Returns the rules of `user` in a namespace, for a review.
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
    const said = [...new Set(errors)];
    const text = said.length === 1 ? said.join() : `[${said.join(', ')}]`;
    return { allowed: false, reason: said.length === 0 ? '' : `RBAC: ${text}` };
  }
}

/**
 * Returns the error of a refused request.
 * @returns 403: `user` may not do it; undefined: it may
 */
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

// Browsers may show these messages.
function htmlEscaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
