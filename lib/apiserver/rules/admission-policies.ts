import type {
  V1ParamKind,
  V1ParamRef,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
  V1ValidatingAdmissionPolicySpec,
  V1Validation,
} from '@kubernetes/client-node';
import { label1035Problems, pathSegmentProblems, subdomainProblems } from '../../crd/internal.js';
import type { FieldErrors } from '../../crd/internal.js';
import { groupOf, versionOf } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { specChanged, typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import {
  defaultMatchResources,
  policyVariables,
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
    validate: ({ spec }, errors) => {
      if (spec !== undefined) validatePolicy(spec, errors);
    },
  },
  { specChanged, unconditionalUpdate: false, statusResets: ['metadata'] },
);

// Mutating policies and their bindings have the same defaults.
const mutatingPolicy = typedRules<Policy>({ defaults: defaultPolicy }, { specChanged });

const mutatingBinding = typedRules<Wire<V1ValidatingAdmissionPolicyBinding>>(
  { defaults: ({ spec }) => defaultMatchResources(spec?.matchResources) },
  { specChanged },
);

type PolicySpec = Wire<V1ValidatingAdmissionPolicySpec>;

const somethingToDo = 'validations or auditAnnotations must contain at least one item';

function validatePolicy(spec: PolicySpec, errors: FieldErrors): void {
  const { paramKind, matchConstraints, matchConditions = [], validations = [] } = spec;
  errors.oneOf('spec.failurePolicy', spec.failurePolicy, ['Fail', 'Ignore']);
  if (paramKind !== undefined) validateParamKind(paramKind, errors);
  if (matchConstraints === undefined) errors.required('spec.matchConstraints');
  else {
    validateMatchResources(matchConstraints, 'spec.matchConstraints', errors);
    if ((matchConstraints.resourceRules ?? []).length === 0) {
      errors.required('spec.matchConstraints.resourceRules');
    }
  }
  validateMatchConditions(matchConditions, 'spec.matchConditions', errors);
  validateVariables(spec, errors);
  if (validations.length === 0 && (spec.auditAnnotations ?? []).length === 0) {
    errors.required('spec.validations', somethingToDo);
    errors.required('spec.auditAnnotations', somethingToDo);
  }
  for (const [index, validation] of validations.entries()) {
    validateValidation(validation, `spec.validations[${index}]`, errors);
  }
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

function validateVariables({ variables = [] }: PolicySpec, errors: FieldErrors): void {
  for (const [index, { name, expression }] of variables.entries()) {
    const field = `spec.variables[${index}]`;
    if (name.trim() === '') errors.required(`${field}.name`, 'name is not specified');
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name)) {
      errors.invalid(`${field}.name`, name, 'must be a valid CEL identifier');
    }
    if (expression.trim() === '') {
      errors.required(`${field}.expression`, 'expression is not specified');
    }
  }
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

function validateValidation(
  { expression, message = '', messageExpression = '', reason }: Wire<V1Validation>,
  field: string,
  errors: FieldErrors,
): void {
  const check = { variables: policyVariables, errors };
  if (expression.trim() === '') {
    errors.required(`${field}.expression`, 'expression is not specified');
  } else validateExpression(expression, `${field}.expression`, { type: 'bool', ...check });
  const path = `${field}.messageExpression`;
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.invalid(path, messageExpression, 'must be non-empty if specified');
  } else if (messageExpression !== '') {
    validateExpression(messageExpression, path, { type: 'string', ...check });
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
      const { policyName = '', paramRef, matchResources, validationActions = [] } = spec;
      if (policyName === '') errors.required('spec.policyName');
      else errors.invalidEach('spec.policyName', policyName, subdomainProblems(policyName));
      if (paramRef !== undefined) validateParamRef(paramRef, errors);
      if (matchResources !== undefined) {
        validateMatchResources(matchResources, 'spec.matchResources', errors);
      }
      validateActions(validationActions, errors);
    },
  },
  { specChanged, unconditionalUpdate: false },
);

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
  if (action === '') errors.required(`${field}.parameterNotFoundAction`);
  else errors.oneOf(`${field}.parameterNotFoundAction`, action, ['Deny', 'Allow']);
}

function validateActions(actions: readonly string[], errors: FieldErrors): void {
  const field = 'spec.validationActions';
  const seen = new Set<string>();
  for (const [index, action] of actions.entries()) {
    errors.oneOf(`${field}[${index}]`, action, ['Audit', 'Deny', 'Warn']);
    if (seen.has(action)) errors.duplicate(`${field}[${index}]`, action);
    seen.add(action);
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
