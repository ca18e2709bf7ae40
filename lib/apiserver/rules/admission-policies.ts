import type {
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

const policy = typedRules<Policy>({
  defaults: defaultPolicy,
  validate: (object, errors) => {
    validatePolicy(object, errors);
  },
  specChanged,
  unconditionalUpdate: false,
  resets: { status: ['spec', 'metadata'] },
});

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

const mutatingPolicy = typedRules<MutatingPolicy>({
  defaults: defaultPolicy,
  validate: ({ spec }, errors) => {
    if (spec !== undefined) validateMutatingPolicy(spec, errors);
  },
  specChanged,
  unconditionalUpdate: false,
});

type PolicySpec = Wire<V1ValidatingAdmissionPolicySpec>;

/** Checks the fields that validating and mutating policies share. @returns the types of the variables of expressions */
function validateCommon(spec: PolicySpec, errors: FieldErrors): Variables {
  const { paramKind, matchConstraints, matchConditions = [] } = spec;
  errors.oneOf('spec.failurePolicy', spec.failurePolicy, ['Fail', 'Ignore']);
  if (paramKind !== undefined) validateParamKind(paramKind, errors);
  if (matchConstraints === undefined) errors.required('spec.matchConstraints');
  else {
    validateMatchResources(matchConstraints, errors.at('spec.matchConstraints'));
    if ((matchConstraints.resourceRules ?? []).length === 0) {
      errors.required('spec.matchConstraints.resourceRules');
    }
  }
  const params = new Map(paramKind === undefined ? [] : [['params', dynType] as const]);
  validateMatchConditions(matchConditions, errors.at('spec.matchConditions'), params);
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
  errors.each('spec.validations', validations, (validation, errors) => {
    validateValidation(validation, variables, errors);
  });
  if (auditAnnotations.length > mostAnnotations) {
    const why = `must not have more than ${mostAnnotations} auditAnnotations`;
    errors.invalid('spec.auditAnnotations', auditAnnotations, why);
  }
  const keys = new Set<string>();
  errors.each('spec.auditAnnotations', auditAnnotations, ({ key, valueExpression }, errors) => {
    const name = `${metadata?.name ?? ''}/${key}`;
    errors.invalidEach('key', name, qualifiedNameProblems(name));
    validateAnnotation(valueExpression, variables, errors.at('valueExpression'));
    errors.unique('key', key, keys);
  });
}

const mostAnnotations = 20;
const longestAnnotation = 5 * 1024;

function validateAnnotation(expression: string, variables: Variables, errors: FieldErrors): void {
  const { length } = Buffer.from(expression.trim());
  if (length === 0) errors.required('', 'valueExpression is not specified');
  else if (length > longestAnnotation) {
    errors.required('', `must not exceed ${longestAnnotation} bytes in length`);
  } else validateExpression(expression, { types: ['string', 'null_type'], variables }, errors);
}

function validateMutatingPolicy(spec: PolicySpec & MutatingSpec, errors: FieldErrors): void {
  const variables = validateCommon(spec, errors);
  validateMutableOperations(spec.matchConstraints, errors.at('spec.matchConstraints'));
  const { mutations = [], reinvocationPolicy = '' } = spec;
  if (mutations.length === 0) {
    errors.required('spec.mutations', 'mutations must contain at least one item');
  }
  errors.each('spec.mutations', mutations, (mutation, errors) => {
    validateMutation(mutation, variables, errors);
  });
  errors.requiredOneOf('spec.reinvocationPolicy', reinvocationPolicy, ['IfNeeded', 'Never']);
}

const mutableOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** Refuses operations that a mutating policy cannot match: a deletion has no object to change. */
function validateMutableOperations(
  resources: Wire<V1MatchResources> | undefined,
  errors: FieldErrors,
): void {
  for (const { operations = [] } of resources?.resourceRules ?? []) {
    for (const operation of operations) {
      errors.oneOf('resourceRules.operations', operation, mutableOperations);
    }
  }
}

const patchMembers = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const;

function validateMutation(mutation: Mutation, variables: Variables, errors: FieldErrors): void {
  const { patchType: type = '' } = mutation;
  errors.requiredOneOf('patchType', type, Object.keys(patchMembers));
  if (type !== 'ApplyConfiguration' && type !== 'JSONPatch') return;
  const own = patchMembers[type];
  const other = own === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch';
  const given = mutation[own];
  if (given === undefined) {
    errors.required(own, `must be specified when patchType is ${type}`);
  } else {
    const path = `${own}.expression`;
    const expression = (given.expression ?? '').trim();
    if (expression === '') errors.required(path);
    else {
      const types = [typeText(mutationTypes[type])];
      const check = { types, extension: mutationExtension, variables };
      validateExpression(expression, check, errors.at(path));
    }
  }
  if (mutation[other] !== undefined) {
    errors.invalid(other, `{${other}}`, `must not be specified when patchType is ${type}`);
  }
}

/** The types of the variables of a policy's expressions. */
type Variables = ReadonlyMap<string, CelType>;

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

/** @returns the types of all variables. A variable may use the variables before it */
function validateVariables(
  { variables = [] }: PolicySpec,
  params: Variables,
  errors: FieldErrors,
): Variables {
  const types = new Map<string, CelType>();
  const all = (): Variables =>
    new Map([...params, ['variables', structType('kubernetes.variables', new Map(types))]]);
  errors.each('spec.variables', variables, ({ name, expression }, errors) => {
    if (name.trim() === '') errors.required('name', 'name is not specified');
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name)) {
      errors.invalid('name', name, 'must be a valid CEL identifier');
    }
    if (expression.trim() === '') {
      errors.required('expression', 'expression is not specified');
      return;
    }
    try {
      const functions = authorizerFunctions;
      types.set(name, compileCel(expression, declaredWith(all()), { functions }).type);
    } catch (error) {
      if (!(error instanceof CelCompileError)) throw error;
      errors.invalid('expression', expression, `compilation failed: ${error.message}`);
      types.set(name, dynType);
    }
  });
  return all();
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

function validateValidation(
  { expression, message = '', messageExpression = '', reason }: Wire<V1Validation>,
  variables: Variables,
  errors: FieldErrors,
): void {
  if (expression.trim() === '') {
    errors.required('expression', 'expression is not specified');
  } else validateExpression(expression, { types: ['bool'], variables }, errors.at('expression'));
  const path = 'messageExpression';
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.invalid(path, messageExpression, 'must be non-empty if specified');
  } else if (messageExpression !== '') {
    const check = { types: ['string'], checksRights: false, variables };
    validateExpression(messageExpression, check, errors.at(path));
  }
  if (message !== '' && message.trim() === '') {
    errors.invalid('message', message, 'must be non-empty if specified');
  } else if (/[\n\r]/.test(message.trim())) {
    errors.invalid('message', message, 'must not contain line breaks');
  }
  errors.oneOf('reason', reason, reasons);
}

const binding = typedRules<Wire<V1ValidatingAdmissionPolicyBinding>>({
  defaults: ({ spec }) => defaultMatchResources(spec?.matchResources),
  validate: ({ spec = {} }, errors) => {
    validateBinding(spec, errors);
    validateActions(spec.validationActions ?? [], errors);
  },
  specChanged,
  unconditionalUpdate: false,
});

const mutatingBinding = typedRules<Wire<V1ValidatingAdmissionPolicyBinding>>({
  defaults: ({ spec }) => defaultMatchResources(spec?.matchResources),
  validate: ({ spec = {} }, errors) => {
    validateBinding(spec, errors);
    validateMutableOperations(spec.matchResources, errors.at('spec.matchResources'));
  },
  specChanged,
  unconditionalUpdate: false,
});

/** Checks the fields that the bindings of validating and mutating policies share. */
function validateBinding(
  { policyName = '', paramRef, matchResources }: Wire<V1ValidatingAdmissionPolicyBindingSpec>,
  errors: FieldErrors,
): void {
  errors.requiredText('spec.policyName', policyName, subdomainProblems);
  if (paramRef !== undefined) validateParamRef(paramRef, errors);
  if (matchResources !== undefined) {
    validateMatchResources(matchResources, errors.at('spec.matchResources'));
  }
}

const exclusive = 'name and selector are mutually exclusive';

function validateParamRef(
  { name = '', selector, parameterNotFoundAction: action = '' }: Wire<V1ParamRef>,
  errors: FieldErrors,
): void {
  const field = 'spec.paramRef';
  errors.invalidEach(`${field}.name`, name, pathSegmentProblems(name));
  validateLabelSelector(selector, errors.at(`${field}.selector`));
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
  errors.each(field, actions, (action, errors) => {
    errors.oneOf('', action, ['Audit', 'Deny', 'Warn']);
    errors.unique('', action, seen);
  });
  if (seen.has('Deny') && seen.has('Warn')) {
    const why =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.invalid(field, actions, why);
  }
  if (seen.size === 0) errors.required(field, 'at least one validation action is required');
}

const group = 'admissionregistration.k8s.io/v1';

export const admissionPolicyRules: Readonly<Record<string, KindRules>> = {
  [`${group}/ValidatingAdmissionPolicy`]: policy,
  [`${group}/ValidatingAdmissionPolicyBinding`]: binding,
  [`${group}/MutatingAdmissionPolicy`]: mutatingPolicy,
  [`${group}/MutatingAdmissionPolicyBinding`]: mutatingBinding,
};
