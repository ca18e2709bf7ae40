import { isSelfReview, selfReviews } from '../../apiserver/auth/access-attributes.js';
import { ruleAllows } from '../../apiserver/auth/policy-rule.js';
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

/** What everybody may read who is known: the paths of the roles `system:discovery` and `system:public-info-viewer`. */
const discoveryPath = /^\/(api|apis|openapi)(\/|$)|^\/(healthz|livez|readyz|version)$/;

/** {@link discoveryPath} and {@link isSelfReview}, as reviews show them. */
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

/** Decides by the claims of one token, as Kubernetes does by Roles and their bindings. */
export class TokenAuthorizer implements Authorizer {
  readonly #claims: TokenClaims;

  constructor(claims: TokenClaims) {
    this.#claims = claims;
  }

  authorize(_user: UserInfo, attributes: AccessAttributes): Decision {
    const { verb, path, group } = attributes;
    // Rules of tokens are about views: nobody may stand for somebody else, whatever `*` says.
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
    // All namespaces, and views that are in none, have the name '', which no claim has.
    return namespaces.includes('*') || namespaces.includes(namespace);
  }

  #elsewhere(): Decision {
    const { namespaces } = this.#claims;
    const names = namespaces.map((name) => JSON.stringify(name)).join(', ');
    const reason = `the token is for ${names === '' ? 'no namespace' : `the namespaces ${names}`}`;
    return { allowed: false, reason };
  }
}

/** `rule` as one of Kubernetes' own, which know no `*.view.dcontroller.io`. */
function rulingOn(rule: PolicyRule, group: string): PolicyRule {
  const { apiGroups = [] } = rule;
  const covered = apiGroups.some((own) => own.startsWith('*.') && group.endsWith(own.slice(1)));
  return covered ? { ...rule, apiGroups: ['*'] } : rule;
}
