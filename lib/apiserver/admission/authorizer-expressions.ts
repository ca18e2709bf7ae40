import { CelError, CelOpaque, declare, opaqueType, overloadsOf } from '../../crd/internal.js';
import type { CelType, CelValue, Declaration } from '../../crd/internal.js';
import { labelProblems, subdomainProblems } from '../../object/index.js';
import { serviceAccountGroups } from '../auth/authenticator.js';
import type { UserInfo } from '../auth/authenticator.js';
import type { Authorizer, Decision } from '../auth/authorizer.js';
import { pathAttributes } from '../auth/policy-rule.js';
import type { AccessAttributes } from '../auth/policy-rule.js';

/*
 * The variables `authorizer` and `authorizer.requestResource` of admission expressions. They check the rights of the
 * user of the request: `authorizer.group('apps').resource('deployments').check('create').allowed()`.
 */

/** A user, and the authorizer that decides about its requests. */
interface Asker {
  readonly user: UserInfo;
  readonly authorizer: Authorizer;
}

/** A request for which an expression checks the rights of the user, without the verb. */
interface Check {
  readonly asker: Asker;
  readonly attributes: Omit<AccessAttributes, 'verb'>;
}

const typeNames = {
  authorizer: 'kubernetes.authorization.Authorizer',
  path: 'kubernetes.authorization.PathCheck',
  group: 'kubernetes.authorization.GroupCheck',
  resource: 'kubernetes.authorization.ResourceCheck',
  decision: 'kubernetes.authorization.Decision',
} as const;

export const authorizerVariables: ReadonlyMap<string, CelType> = new Map([
  ['authorizer', opaqueType(typeNames.authorizer)],
  ['authorizer.requestResource', opaqueType(typeNames.resource)],
]);

/** Returns the values of the variables for a request. */
export function authorizerValues(
  asker: Asker,
  attributes: Check['attributes'],
): Readonly<Record<string, CelValue>> {
  return {
    authorizer: opaque('authorizer', asker),
    'authorizer.requestResource': opaque('resource', { asker, attributes }),
  };
}

function opaque<T>(type: keyof typeof typeNames, value: T): CelOpaque<T> {
  return new CelOpaque(typeNames[type], value, (other) => other === value);
}

type CheckValue = CelOpaque<Check>;

/** Declares a CEL method that adds an attribute, such as the namespace, to the check of a resource. */
function narrowing(
  name: 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector',
  narrowed: (text: string) => Partial<AccessAttributes>,
): Declaration {
  return declare(`ResourceCheck.${name}(string): ResourceCheck`, (on: CheckValue, text: string) => {
    const { asker, attributes } = on.value;
    return opaque('resource', { asker, attributes: { ...attributes, ...narrowed(text) } });
  });
}

function check({ value: { asker, attributes } }: CheckValue, verb: string): CelValue {
  return opaque('decision', asker.authorizer.authorize(asker.user, { ...attributes, verb }));
}

const nowhere = { group: '', resource: '', subresource: '', namespace: '', name: '' };

const declarations: readonly Declaration[] = [
  declare('Authorizer.path(string): PathCheck', (on: CelOpaque<Asker>, path: string) => {
    if (path.trim() === '') throw new CelError('path must not be empty');
    return opaque('path', { asker: on.value, attributes: pathAttributes('', path) });
  }),
  declare('Authorizer.group(string): GroupCheck', (on: CelOpaque<Asker>, group: string) =>
    opaque('group', { asker: on.value, attributes: { ...nowhere, group } }),
  ),
  declare(
    'Authorizer.serviceAccount(string, string): Authorizer',
    (on: CelOpaque<Asker>, namespace: string, name: string) => {
      if (subdomainProblems(name).length > 0) throw new CelError('Invalid service account name');
      if (labelProblems(namespace).length > 0) {
        throw new CelError('Invalid service account namespace');
      }
      const username = `system:serviceaccount:${namespace}:${name}`;
      const user = { username, groups: serviceAccountGroups(namespace) };
      return opaque('authorizer', { ...on.value, user });
    },
  ),
  declare('GroupCheck.resource(string): ResourceCheck', (on: CheckValue, resource: string) => {
    if (resource.trim() === '') throw new CelError('resource must not be empty');
    const { asker, attributes } = on.value;
    return opaque('resource', { asker, attributes: { ...attributes, resource } });
  }),
  narrowing('subresource', (subresource) => ({ subresource })),
  narrowing('namespace', (namespace) => ({ namespace })),
  narrowing('name', (name) => ({ name })),
  // RBAC ignores selectors.
  narrowing('fieldSelector', () => ({})),
  narrowing('labelSelector', () => ({})),
  declare('PathCheck.check(string): Decision', check),
  declare('ResourceCheck.check(string): Decision', check),
  declare('Decision.allowed(): bool', ({ value }: CelOpaque<Decision>) => value.allowed),
  declare('Decision.reason(): string', ({ value }: CelOpaque<Decision>) => value.reason),
  // Authorizers of this server never fail.
  declare('Decision.errored(): bool', () => false),
  declare('Decision.error(): string', () => ''),
];

export const authorizerFunctions = overloadsOf(declarations);
