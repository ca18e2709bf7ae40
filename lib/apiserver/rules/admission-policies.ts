import type {
  V1AuditAnnotation,
  V1MatchResources,
  V1ParamKind,
  V1ParamRef,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
  V1ValidatingAdmissionPolicyBindingSpec,
  V1ValidatingAdmissionPolicySpec,
  V1Validation,
} from '@kubernetes/client-node';
import { CelCompileError, compileCel, dynType, structType, typeText } from '../../crd/internal.js';
import type { CelType, FieldErrors } from '../../crd/internal.js';
import {
  groupOf,
  versionOf,
  label1035Problems,
  pathSegmentProblems,
  qualifiedNameProblems,
  subdomainProblems,
} from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { authorizerFunctions } from '../admission/authorizer-expressions.js';
import { mutationExtension, mutationTypes } from '../admission/mutation-expressions.js';
import { specChanged, typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import {
  declaredWith,
  defaultMatchResources,
  validateExpression,
  validateMatchConditions,
  validateMatchResources,
} from './match-resources.js';
import { validateLabelSelector } from './metadata.js';

type Policy = Wire<V1ValidatingAdmissionPolicy>;

function defaultPolicy({ spec }: Policy): void {
  if (spec === undefined) return;
  spec.failurePolicy ??= 'Fail';
  defaultMatchResources(spec.matchConstraints);
}

const policy = typedRules<Policy>(
  {
    defaults: defaultPolicy,
    validate: (object, errors) => {
      validatePolicy(object, errors);
    },
  },
  { specChanged, unconditionalUpdate: false, resets: { status: ['spec', 'metadata'] } },
);

/** A MutatingAdmissionPolicy. */
interface MutatingPolicy extends Omit<Policy, 'spec'> {
  spec?: PolicySpec & MutatingSpec;
}

interface MutatingSpec {
  readonly mutations?: readonly Mutation[];
  readonly reinvocationPolicy?: string;
}

interface Mutation {
  readonly patchType?: string;
  readonly jsonPatch?: { readonly expression?: string };
  readonly applyConfiguration?: { readonly expression?: string };
}

const mutatingPolicy = typedRules<MutatingPolicy>(
  {
    defaults: defaultPolicy,
    validate: ({ spec }, errors) => {
      if (spec !== undefined) validateMutatingPolicy(spec, errors);
    },
  },
  { specChanged, unconditionalUpdate: false },
);

type PolicySpec = Wire<V1ValidatingAdmissionPolicySpec>;

/** Checks what both types of policies have. @returns the types of the variables of expressions */
function validateCommon(spec: PolicySpec, errors: FieldErrors): ReadonlyMap<string, CelType> {
  const { paramKind, matchConstraints, matchConditions = [] } = spec;
  errors.oneOf('spec.failurePolicy', spec.failurePolicy, ['Fail', 'Ignore']);
  if (paramKind !== undefined) validateParamKind(paramKind, errors);
  if (matchConstraints === undefined) errors.required('spec.matchConstraints');
  else {
    validateMatchResources(matchConstraints, 'spec.matchConstraints', errors);
    if ((matchConstraints.resourceRules ?? []).length === 0) {
      errors.required('spec.matchConstraints.resourceRules');
    }
  }
  const params = new Map(paramKind === undefined ? [] : [['params', dynType] as const]);
  validateMatchConditions(matchConditions, 'spec.matchConditions', errors, params);
  return validateVariables(spec, params, errors);
}

const somethingToDo = 'validations or auditAnnotations must contain at least one item';

function validatePolicy({ metadata, spec }: Policy, errors: FieldErrors): void {
  if (spec === undefined) return;
  const variables = validateCommon(spec, errors);
  const { validations = [], auditAnnotations = [] } = spec;
  if (validations.length === 0 && auditAnnotations.length === 0) {
    errors.required('spec.validations', somethingToDo);
    errors.required('spec.auditAnnotations', somethingToDo);
  }
  for (const [index, validation] of validations.entries()) {
    validateValidation(validation, `spec.validations[${index}]`, { variables, errors });
  }
  validateAuditAnnotations(auditAnnotations, metadata?.name ?? '', { variables, errors });
}

const mostAnnotations = 20;
const longestAnnotation = 5 * 1024;

function validateAuditAnnotations(
  annotations: readonly Wire<V1AuditAnnotation>[],
  policyName: string,
  check: PolicyCheck,
): void {
  const { errors } = check;
  const field = 'spec.auditAnnotations';
  if (annotations.length > mostAnnotations) {
    const why = `must not have more than ${mostAnnotations} auditAnnotations`;
    errors.invalid(field, annotations, why);
  }
  const keys = new Set<string>();
  for (const [index, { key, valueExpression }] of annotations.entries()) {
    const path = `${field}[${index}].key`;
    const name = `${policyName}/${key}`;
    errors.invalidEach(path, name, qualifiedNameProblems(name));
    const valueField = `${field}[${index}].valueExpression`;
    const { length } = Buffer.from(valueExpression.trim());
    if (length === 0) errors.required(valueField, 'valueExpression is not specified');
    else if (length > longestAnnotation) {
      errors.required(valueField, `must not exceed ${longestAnnotation} bytes in length`);
    } else
      validateExpression(valueExpression, valueField, { types: ['string', 'null_type'], ...check });
    errors.unique(path, key, keys);
  }
}

function validateMutatingPolicy(spec: PolicySpec & MutatingSpec, errors: FieldErrors): void {
  const variables = validateCommon(spec, errors);
  validateMutableOperations(spec.matchConstraints, 'spec.matchConstraints', errors);
  const { mutations = [], reinvocationPolicy = '' } = spec;
  if (mutations.length === 0) {
    errors.required('spec.mutations', 'mutations must contain at least one item');
  }
  for (const [index, mutation] of mutations.entries()) {
    validateMutation(mutation, `spec.mutations[${index}]`, { variables, errors });
  }
  errors.requiredOneOf('spec.reinvocationPolicy', reinvocationPolicy, ['IfNeeded', 'Never']);
}

const mutableOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** Deletions cannot be mutated. */
function validateMutableOperations(
  resources: Wire<V1MatchResources> | undefined,
  path: string,
  errors: FieldErrors,
): void {
  for (const { operations = [] } of resources?.resourceRules ?? []) {
    for (const operation of operations) {
      errors.oneOf(`${path}.resourceRules.operations`, operation, mutableOperations);
    }
  }
}

const patchMembers = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const;

function validateMutation(mutation: Mutation, field: string, check: PolicyCheck): void {
  const { errors } = check;
  const { patchType: type = '' } = mutation;
  errors.requiredOneOf(`${field}.patchType`, type, Object.keys(patchMembers));
  if (type !== 'ApplyConfiguration' && type !== 'JSONPatch') return;
  const own = patchMembers[type];
  const other = own === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch';
  const given = mutation[own];
  if (given === undefined) {
    errors.required(`${field}.${own}`, `must be specified when patchType is ${type}`);
  } else {
    const path = `${field}.${own}.expression`;
    const expression = (given.expression ?? '').trim();
    if (expression === '') errors.required(path);
    else {
      const types = [typeText(mutationTypes[type])];
      validateExpression(expression, path, { types, extension: mutationExtension, ...check });
    }
  }
  if (mutation[other] !== undefined) {
    const why = `must not be specified when patchType is ${type}`;
    errors.invalid(`${field}.${other}`, `{${other}}`, why);
  }
}

/** The context of checks of a policy's expressions. */
interface PolicyCheck {
  readonly variables: ReadonlyMap<string, CelType>;
  readonly errors: FieldErrors;
}

/** Checks the kind of a policy's parameters. */
function validateParamKind(
  { apiVersion = '', kind = '' }: Wire<V1ParamKind>,
  errors: FieldErrors,
): void {
  const path = 'spec.paramKind.apiVersion';
  const [group, version] = [groupOf(apiVersion), versionOf(apiVersion)];
  if (apiVersion === '') errors.required(path);
  else if (apiVersion.split('/').length > 2) {
    errors.invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  } else {
    const problems = group === '' ? [] : subdomainProblems(group);
    if (problems.length > 0) errors.invalid(path, group, problems.join(','));
    const wrong = label1035Problems(version);
    if (version === '') errors.invalid(path, apiVersion, 'version must be specified');
    else if (wrong.length > 0) errors.invalid(path, version, wrong.join(','));
  }
  const problems = label1035Problems(kind.toLowerCase());
  if (kind === '') errors.required('spec.paramKind.kind');
  else if (problems.length > 0) {
    const why = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    errors.invalid('spec.paramKind.kind', kind, why);
  }
}

/** @returns the types of all variables of expressions, which may use the variables before them */
function validateVariables(
  { variables = [] }: PolicySpec,
  params: ReadonlyMap<string, CelType>,
  errors: FieldErrors,
): ReadonlyMap<string, CelType> {
  const types = new Map<string, CelType>();
  const all = (): ReadonlyMap<string, CelType> =>
    new Map([...params, ['variables', structType('kubernetes.variables', new Map(types))]]);
  for (const [index, { name, expression }] of variables.entries()) {
    const field = `spec.variables[${index}]`;
    if (name.trim() === '') errors.required(`${field}.name`, 'name is not specified');
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name)) {
      errors.invalid(`${field}.name`, name, 'must be a valid CEL identifier');
    }
    if (expression.trim() === '') {
      errors.required(`${field}.expression`, 'expression is not specified');
      continue;
    }
    try {
      const functions = authorizerFunctions;
      types.set(name, compileCel(expression, declaredWith(all()), { functions }).type);
    } catch (error) {
      if (!(error instanceof CelCompileError)) throw error;
      const why = `compilation failed: ${error.message}`;
      errors.invalid(`${field}.expression`, expression, why);
      types.set(name, dynType);
    }
  }
  return all();
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

function validateValidation(
  { expression, message = '', messageExpression = '', reason }: Wire<V1Validation>,
  field: string,
  check: PolicyCheck,
): void {
  const { errors } = check;
  if (expression.trim() === '') {
    errors.required(`${field}.expression`, 'expression is not specified');
  } else validateExpression(expression, `${field}.expression`, { types: ['bool'], ...check });
  const path = `${field}.messageExpression`;
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.invalid(path, messageExpression, 'must be non-empty if specified');
  } else if (messageExpression !== '') {
    validateExpression(messageExpression, path, {
      ...{ types: ['string'], checksRights: false },
      ...check,
    });
  }
  if (message !== '' && message.trim() === '') {
    errors.invalid(`${field}.message`, message, 'must be non-empty if specified');
  } else if (/[\n\r]/.test(message.trim())) {
    errors.invalid(`${field}.message`, message, 'must not contain line breaks');
  }
  errors.oneOf(`${field}.reason`, reason, reasons);
}

const binding = typedRules<Wire<V1ValidatingAdmissionPolicyBinding>>(
  {
    defaults: ({ spec }) => defaultMatchResources(spec?.matchResources),
    validate: ({ spec = {} }, errors) => {
      validateBinding(spec, errors);
      validateActions(spec.validationActions ?? [], errors);
    },
  },
  { specChanged, unconditionalUpdate: false },
);

const mutatingBinding = typedRules<Wire<V1ValidatingAdmissionPolicyBinding>>(
  {
    defaults: ({ spec }) => defaultMatchResources(spec?.matchResources),
    validate: ({ spec = {} }, errors) => {
      validateBinding(spec, errors);
      validateMutableOperations(spec.matchResources, 'spec.matchResources', errors);
    },
  },
  { specChanged, unconditionalUpdate: false },
);

/** Checks what bindings of both types of policies have. */
function validateBinding(
  { policyName = '', paramRef, matchResources }: Wire<V1ValidatingAdmissionPolicyBindingSpec>,
  errors: FieldErrors,
): void {
  errors.requiredText('spec.policyName', policyName, subdomainProblems);
  if (paramRef !== undefined) validateParamRef(paramRef, errors);
  if (matchResources !== undefined) {
    validateMatchResources(matchResources, 'spec.matchResources', errors);
  }
}

const exclusive = 'name and selector are mutually exclusive';

function validateParamRef(
  { name = '', selector, parameterNotFoundAction: action = '' }: Wire<V1ParamRef>,
  errors: FieldErrors,
): void {
  const field = 'spec.paramRef';
  errors.invalidEach(`${field}.name`, name, pathSegmentProblems(name));
  validateLabelSelector(selector, `${field}.selector`, errors);
  if (name !== '' && selector !== undefined) {
    errors.forbidden(`${field}.name`, exclusive);
    errors.forbidden(`${field}.selector`, exclusive);
  }
  if (name === '' && selector === undefined) {
    errors.required(field, 'one of name or selector must be specified');
  }
  errors.requiredOneOf(`${field}.parameterNotFoundAction`, action, ['Deny', 'Allow']);
}

function validateActions(actions: readonly string[], errors: FieldErrors): void {
  const field = 'spec.validationActions';
  const seen = new Set<string>();
  for (const [index, action] of actions.entries()) {
    errors.oneOf(`${field}[${index}]`, action, ['Audit', 'Deny', 'Warn']);
    errors.unique(`${field}[${index}]`, action, seen);
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const why =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.invalid(field, actions, why);
  }
  if (seen.size === 0) errors.required(field, 'at least one validation action is required');
}

const group = 'admissionregistration.k8s.io/v1';

/** The rules of admission policies and their bindings. */
export const admissionPolicyRules: Readonly<Record<string, KindRules>> = {
  [`${group}/ValidatingAdmissionPolicy`]: policy,
  [`${group}/ValidatingAdmissionPolicyBinding`]: binding,
  [`${group}/MutatingAdmissionPolicy`]: mutatingPolicy,
  [`${group}/MutatingAdmissionPolicyBinding`]: mutatingBinding,
};
