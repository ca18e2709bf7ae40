import { isSelfReview, selfReviews, ruleAllows } from '../../apiserver/auth/policy-rule.js';
import type {
  AccessAttributes,
  Authorizer,
  Decision,
  PolicyRule,
  UserInfo,
} from '../../apiserver/index.js';
import type { TokenClaims } from './token-claims.js';

const allowed: Decision = { allowed: true, reason: '' };
const denied: Decision = { allowed: false, reason: '' };

/**
 * Paths that every authenticated client may read: those of the roles `system:discovery` and
 * `system:public-info-viewer`.
 */
const discoveryPath = /^\/(api|apis|openapi)(\/|$)|^\/(healthz|livez|readyz|version)$/;

/** Rules for {@link discoveryPath} and {@link isSelfReview}, for rules reviews. */
const rulesOfEverybody: readonly PolicyRule[] = [
  ...Object.entries(selfReviews).map(([group, resources]) => ({
    ...{ verbs: ['create'], apiGroups: [group], resources: [...resources] },
  })),
  {
    verbs: ['get'],
    nonResourceURLs: [
      ...['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'],
      ...['/healthz', '/livez', '/readyz', '/version'],
    ],
  },
];

/** Authorizes by the claims of one token, as Kubernetes does by Roles and RoleBindings. */
export class TokenAuthorizer implements Authorizer {
  readonly #claims: TokenClaims;

  constructor(claims: TokenClaims) {
    this.#claims = claims;
  }

  authorize(_user: UserInfo, attributes: AccessAttributes): Decision {
    const { verb, path, group } = attributes;
    // Rules of tokens are about views: `*` must not allow impersonation.
    if (verb === 'impersonate') return denied;
    if (path !== undefined && verb === 'get' && discoveryPath.test(path)) return allowed;
    if (isSelfReview(attributes)) return allowed;
    if (path === undefined && !this.#covers(attributes.namespace)) return this.#elsewhere();
    const { rules } = this.#claims;
    const allows = rules.some((rule) => ruleAllows(rulingOn(rule, group), attributes));
    return allows ? allowed : denied;
  }

  rulesFor(_user: UserInfo, namespace: string): readonly PolicyRule[] {
    const { rules } = this.#claims;
    const paths = rules.map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs }));
    return [...(this.#covers(namespace) ? rules : paths), ...rulesOfEverybody];
  }

  #covers(namespace: string): boolean {
    const { namespaces } = this.#claims;
    // Requests for all namespaces, and for views without one, have the namespace '', which no claim lists.
    return namespaces.includes('*') || namespaces.includes(namespace);
  }

  #elsewhere(): Decision {
    const { namespaces } = this.#claims;
    const names = namespaces.map((name) => JSON.stringify(name)).join(', ');
    const reason = `the token is for ${names === '' ? 'no namespace' : `the namespaces ${names}`}`;
    return { allowed: false, reason };
  }
}

/**
 * Returns `rule` in a form that Kubernetes' rule matching supports: without groups like
 * `*.view.dcontroller.io`.
 */
function rulingOn(rule: PolicyRule, group: string): PolicyRule {
  const { apiGroups = [] } = rule;
  const covered = apiGroups.some((own) => own.startsWith('*.') && group.endsWith(own.slice(1)));
  return covered ? { ...rule, apiGroups: ['*'] } : rule;
}
