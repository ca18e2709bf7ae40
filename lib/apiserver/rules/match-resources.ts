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
  field: string,
  errors: FieldErrors,
): void {
  errors.oneOf(`${field}.matchPolicy`, resources.matchPolicy, ['Equivalent', 'Exact']);
  validateLabelSelector(resources.namespaceSelector, `${field}.namespaceSelector`, errors);
  validateLabelSelector(resources.objectSelector, `${field}.objectSelector`, errors);
  for (const member of ['resourceRules', 'excludeResourceRules'] as const) {
    errors.each(`${field}.${member}`, resources[member], validateNamedRule);
  }
}

function validateNamedRule(
  rule: Wire<V1NamedRuleWithOperations>,
  field: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [index, name] of (rule.resourceNames ?? []).entries()) {
    const path = `${field}.resourceNames[${index}]`;
    errors.invalidEach(path, name, pathSegmentProblems(name));
    errors.unique(path, name, seen);
  }
  validateRule(rule, field, errors);
}

const operationNames = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

/** Checks the requests that a webhook or a policy matches. */
export function validateRule(
  rule: Wire<V1RuleWithOperations>,
  field: string,
  errors: FieldErrors,
): void {
  const lists = { apiGroups: 'API groups', apiVersions: 'API versions' } as const;
  for (const member of ['apiGroups', 'apiVersions'] as const) {
    const values = rule[member] ?? [];
    if (values.length === 0) errors.required(`${field}.${member}`);
    else if (values.length > 1 && values.includes('*')) {
      const why = `if '*' is present, must not specify other ${lists[member]}`;
      errors.invalid(`${field}.${member}`, values, why);
    }
  }
  for (const [index, version] of (rule.apiVersions ?? []).entries()) {
    if (version === '') errors.required(`${field}.apiVersions[${index}]`);
  }
  validateResourceNames(rule.resources ?? [], `${field}.resources`, errors);
  const { operations = [] } = rule;
  if (operations.length === 0) errors.required(`${field}.operations`);
  if (operations.length > 1 && operations.includes('*')) {
    const why = "if '*' is present, must not specify other operations";
    errors.invalid(`${field}.operations`, operations, why);
  }
  for (const [index, operation] of operations.entries()) {
    errors.oneOf(`${field}.operations[${index}]`, operation, operationNames);
  }
  const { scope } = rule;
  errors.oneOf(`${field}.scope`, scope, ['*', 'Cluster', 'Namespaced']);
}

/** Checks resources such as `pods`, `pods/log`, `pods/*`, `*` and `*` with a subresource. */
function validateResourceNames(names: readonly string[], field: string, errors: FieldErrors): void {
  if (names.length === 0) errors.required(field);
  const wild: string[] = [];
  for (const [index, name] of names.entries()) {
    const path = `${field}[${index}]`;
    if (name === '') errors.required(path);
    const slash = name.indexOf('/');
    if (slash < 0) continue;
    const [resource, subresource] = [name.slice(0, slash), name.slice(slash + 1)];
    for (const other of [`${resource}/*`, `*/${subresource}`]) {
      if (!wild.includes(other)) continue;
      errors.invalid(path, name, `if '${other}' is present, must not specify ${name}`);
    }
    if (resource === '*' || subresource === '*') wild.push(name);
  }
  if (names.length > 1 && names.includes('*/*')) {
    errors.invalid(field, names, "if '*/*' is present, must not specify other resources");
  }
  const plain = names.filter((name) => name !== '' && !name.includes('/'));
  if (!plain.includes('*') || plain.at(-1) === '*') return;
  const why = "if '*' is present, must not specify other resources without subresources";
  errors.invalid(field, names, why);
}

const mostConditions = 64;

/**
 * Checks the expressions that a request must fulfil to be matched.
 * @param variables - the types of variables besides those of every request
 */
export function validateMatchConditions(
  conditions: readonly Wire<V1MatchCondition>[],
  path: string,
  errors: FieldErrors,
  variables?: ReadonlyMap<string, CelType>,
): void {
  if (conditions.length > mostConditions) errors.tooMany(path, conditions.length, mostConditions);
  const names = new Set<string>();
  for (const [index, { name, expression }] of conditions.entries()) {
    const field = `${path}[${index}]`;
    if (expression.trim() === '') errors.required(`${field}.expression`);
    else {
      const check = { types: ['bool'], variables, errors } as const;
      validateExpression(expression.trim(), `${field}.expression`, check);
    }
    errors.requiredText(`${field}.name`, name, qualifiedNameProblems);
    if (name !== '' && names.has(name)) errors.duplicate(`${field}.name`, name);
    names.add(name);
  }
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
  readonly errors: FieldErrors;
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

/** Checks that an admission expression compiles to one of its types. */
export function validateExpression(
  expression: string,
  field: string,
  { types, variables = new Map(), extension = rights, checksRights, errors }: ExpressionCheck,
): void {
  try {
    const all = declaredWith(variables, checksRights);
    const { type } = compileCel(expression.trim(), all, extension);
    // The real server names this type otherwise here.
    const given = type.kind === 'null' ? 'null_type' : typeText(type);
    if (types.includes(given)) return;
    const wanted = types.length === 1 ? types.join() : `one of [${types.join(' ')}]`;
    errors.invalid(field, expression, `must evaluate to ${wanted} but got ${given}`);
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    errors.invalid(field, expression, `compilation failed: ${error.message}`);
  }
}
