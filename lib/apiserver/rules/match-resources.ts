import type {
  V1MatchCondition,
  V1MatchResources,
  V1NamedRuleWithOperations,
  V1RuleWithOperations,
} from '@kubernetes/client-node';
import { CelCompileError, compileCel, typeText } from '../../crd/internal.js';
import { pathSegmentProblems, qualifiedNameProblems } from '../../object/index.js';
import type { CelExtension, CelType, FieldErrors } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';
import { admissionVariables } from '../admission/admission-review.js';
import { authorizerFunctions, authorizerVariables } from '../admission/authorizer-expressions.js';
import { validateLabelSelector } from './metadata.js';

/** Fills in the defaults of the resources that a policy or a binding matches, in place. */
export function defaultMatchResources(resources: Wire<V1MatchResources> | undefined): void {
  if (resources === undefined) return;
  resources.matchPolicy ??= 'Equivalent';
  resources.namespaceSelector ??= {};
  resources.objectSelector ??= {};
  const { resourceRules = [], excludeResourceRules = [] } = resources;
  for (const rule of [...resourceRules, ...excludeResourceRules]) rule.scope ??= '*';
}

/** Checks the resources that a policy or a binding matches. */
export function validateMatchResources(
  resources: Wire<V1MatchResources>,
  errors: FieldErrors,
): void {
  errors.oneOf('matchPolicy', resources.matchPolicy, ['Equivalent', 'Exact']);
  validateLabelSelector(resources.namespaceSelector, errors.at('namespaceSelector'));
  validateLabelSelector(resources.objectSelector, errors.at('objectSelector'));
  for (const member of ['resourceRules', 'excludeResourceRules'] as const) {
    errors.each(member, resources[member], validateNamedRule);
  }
}

function validateNamedRule(rule: Wire<V1NamedRuleWithOperations>, errors: FieldErrors): void {
  const seen = new Set<string>();
  errors.each('resourceNames', rule.resourceNames, (name, errors) => {
    errors.invalidEach('', name, pathSegmentProblems(name));
    errors.unique('', name, seen);
  });
  validateRule(rule, errors);
}

const operationNames = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

/** Checks the requests that a webhook or a policy matches. */
export function validateRule(rule: Wire<V1RuleWithOperations>, errors: FieldErrors): void {
  const { apiGroups = [], apiVersions = [], operations = [] } = rule;
  validateWildcard(apiGroups, 'API groups', errors.at('apiGroups'));
  validateWildcard(apiVersions, 'API versions', errors.at('apiVersions'));
  errors.each('apiVersions', apiVersions, (version, errors) => {
    if (version === '') errors.required('');
  });
  validateResourceNames(rule.resources ?? [], errors.at('resources'));
  validateWildcard(operations, 'operations', errors.at('operations'));
  errors.each('operations', operations, (operation, errors) => {
    errors.oneOf('', operation, operationNames);
  });
  errors.oneOf('scope', rule.scope, ['*', 'Cluster', 'Namespaced']);
}

/**
 * Checks a list of names, in which `*` means all.
 * @param what - what the names stand for, in messages
 * @param missing - the detail of the error for an empty list
 */
export function validateWildcard(
  names: readonly string[],
  what: string,
  errors: FieldErrors,
  missing?: string,
): void {
  if (names.length === 0) errors.required('', missing);
  if (names.length < 2 || !names.includes('*')) return;
  errors.invalid('', names, `if '*' is present, must not specify other ${what}`);
}

/** Checks resources such as `pods`, `pods/log`, `pods/*`, `*` and `*` with a subresource. */
function validateResourceNames(names: readonly string[], errors: FieldErrors): void {
  if (names.length === 0) errors.required('');
  const wild: string[] = [];
  errors.each('', names, (name, errors) => {
    if (name === '') errors.required('');
    const slash = name.indexOf('/');
    if (slash < 0) return;
    const [resource, subresource] = [name.slice(0, slash), name.slice(slash + 1)];
    for (const other of [`${resource}/*`, `*/${subresource}`]) {
      if (!wild.includes(other)) continue;
      errors.invalid('', name, `if '${other}' is present, must not specify ${name}`);
    }
    if (resource === '*' || subresource === '*') wild.push(name);
  });
  if (names.length > 1 && names.includes('*/*')) {
    errors.invalid('', names, "if '*/*' is present, must not specify other resources");
  }
  const plain = names.filter((name) => name !== '' && !name.includes('/'));
  if (!plain.includes('*') || plain.at(-1) === '*') return;
  const why = "if '*' is present, must not specify other resources without subresources";
  errors.invalid('', names, why);
}

const mostConditions = 64;

/**
 * Checks the expressions that a request must fulfil to be matched.
 * @param variables - the types of variables besides those of every request
 */
export function validateMatchConditions(
  conditions: readonly Wire<V1MatchCondition>[],
  errors: FieldErrors,
  variables?: ReadonlyMap<string, CelType>,
): void {
  if (conditions.length > mostConditions) errors.tooMany('', conditions.length, mostConditions);
  const names = new Set<string>();
  errors.each('', conditions, ({ name, expression }, errors) => {
    if (expression.trim() === '') errors.required('expression');
    else {
      const check = { types: ['bool'], variables } as const;
      validateExpression(expression.trim(), check, errors.at('expression'));
    }
    errors.requiredText('name', name, qualifiedNameProblems);
    if (name !== '' && names.has(name)) errors.duplicate('name', name);
    names.add(name);
  });
}

interface ExpressionCheck {
  /** The types that the result may have. */
  readonly types: readonly string[];
  /** The types of further variables. @defaultValue none */
  readonly variables?: ReadonlyMap<string, CelType> | undefined;
  /** Functions and types besides those of CEL. @defaultValue the functions that check rights */
  readonly extension?: CelExtension;
  /** Whether the expression may check rights. @defaultValue true */
  readonly checksRights?: boolean;
}

/** Returns the types of the variables of an admission expression, which may check rights by default. */
export function declaredWith(
  variables: ReadonlyMap<string, CelType>,
  checksRights = true,
): Map<string, CelType> {
  const rights = checksRights ? authorizerVariables : [];
  return new Map([...admissionVariables, ...rights, ...variables]);
}

const rights: CelExtension = { functions: authorizerFunctions };

/** Checks that an admission expression compiles to one of the allowed types. */
export function validateExpression(
  expression: string,
  { types, variables = new Map(), extension = rights, checksRights }: ExpressionCheck,
  errors: FieldErrors,
): void {
  try {
    const all = declaredWith(variables, checksRights);
    const { type } = compileCel(expression.trim(), all, extension);
    // Here the real server has another name for the type of null.
    const given = type.kind === 'null' ? 'null_type' : typeText(type);
    if (types.includes(given)) return;
    const wanted = types.length === 1 ? types.join() : `one of [${types.join(' ')}]`;
    errors.invalid('', expression, `must evaluate to ${wanted} but got ${given}`);
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    errors.invalid('', expression, `compilation failed: ${error.message}`);
  }
}
