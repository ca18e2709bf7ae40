import { CelError } from '../../crd/internal.js';
import type { CelValue } from '../../crd/internal.js';
import type { UnstructuredObject } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { aggregated, failure, forbidden } from '../status-error.js';
import type { AdmissionAttributes } from './admission-review.js';
import { jsonValue, admissionReview, rightsOf } from './admission-review.js';
import { paramsOf } from './admission-policies.js';
import type {
  CompiledBinding,
  CompiledPolicy,
  CompiledPrograms,
  PolicyValidation,
  PolicyValues,
} from './admission-policies.js';
import { matchedKind } from './match-webhook.js';

/** The refusal of a policy. */
interface Denial {
  readonly message: string;
  readonly reason: string | undefined;
  /** True if the binding cannot be used: the write is denied whatever the actions of the binding. */
  readonly isMisconfigured?: boolean;
}

/** The HTTP status codes of the reasons that a policy may give, other than `Invalid`. */
const codes: Readonly<Partial<Record<string, number>>> = {
  Forbidden: 403,
  RequestEntityTooLarge: 413,
};

/**
 * Evaluates all bound ValidatingAdmissionPolicies for a write.
 * @throws StatusError 422 (or the reason in the policy): a policy refuses the write.
 */
export function checkPolicies(core: ServerCore, attributes: AdmissionAttributes): void {
  const denials: Denial[] = [];
  for (const policy of core.policies.all()) {
    const kind = matchedKind(core, policy.constraints, attributes);
    if (kind === undefined) continue;
    for (const binding of policy.bindings) {
      if (!bindingMatches(core, binding, attributes)) continue;
      for (const denial of denialsOf(core, { policy, binding, kind }, attributes)) {
        const { message, reason, isMisconfigured = false } = denial;
        const where = `'${policy.name}' with binding '${binding.name}'`;
        if (binding.actions.includes('Warn') && !isMisconfigured) {
          attributes.warn(`Validation failed for ValidatingAdmissionPolicy ${where}: ${message}`);
        }
        if (!binding.actions.includes('Deny') && !isMisconfigured) continue;
        denials.push({
          message: `ValidatingAdmissionPolicy ${where} denied request: ${message}`,
          reason,
        });
      }
    }
  }
  const [first] = denials;
  if (first !== undefined) throw refusal(attributes, first);
}

function refusal(
  { kind, name, object, old }: AdmissionAttributes,
  { message, reason = 'Invalid' }: Denial,
): Error {
  const own = name || (object ?? old)?.metadata.name || '';
  const { group, plural } = kind.type;
  const { body } = forbidden({ group, plural, name: own }, message);
  const details = { ...body.details, causes: [{ message }] };
  return failure(codes[reason] ?? 422, reason, body.message ?? '', details);
}

/** Returns true if a binding applies to a write. */
export function bindingMatches(
  core: ServerCore,
  { resources }: CompiledBinding,
  attributes: AdmissionAttributes,
): boolean {
  const everything = {
    apiGroups: ['*'],
    apiVersions: ['*'],
    resources: ['*', '*/*'],
    operations: ['*'],
  };
  const { resourceRules = [] } = resources;
  const rules = resourceRules.length === 0 ? [everything] : resourceRules;
  return matchedKind(core, { ...resources, resourceRules: rules }, attributes) !== undefined;
}

interface Judged {
  readonly policy: CompiledPolicy;
  readonly binding: CompiledBinding;
  readonly kind: ServedKind;
}

function denialsOf(core: ServerCore, judged: Judged, attributes: AdmissionAttributes): Denial[] {
  const { policy, binding, kind } = judged;
  const failed = (message: string): Denial[] =>
    policy.ignoresFailures ? [] : [{ message, reason: undefined }];
  if (typeof policy.programs === 'string') return failed(policy.programs);
  const { programs } = policy;
  const { paramRef } = binding;
  const params = paramsOf(core, policy, { paramRef, namespace: attributes.namespace });
  if (typeof params === 'string') {
    return failed(params).map((denial) => ({ ...denial, isMisconfigured: true }));
  }
  const seen = valuesOf(core, kind, attributes);
  return params.flatMap((param) => {
    const values = programs.policy.withVariables({ ...seen, params: jsonValue(param) });
    const unmet = conditionsOf(programs, values);
    if (unmet === 'unmet') return [];
    if (unmet !== undefined) return failed(unmet);
    return programs.validations.flatMap((validation) => denialOf(validation, values, failed));
  });
}

/** Returns the values of the variables of a policy's expressions. */
export function valuesOf(
  core: ServerCore,
  kind: ServedKind,
  attributes: AdmissionAttributes,
): PolicyValues {
  const { request } = admissionReview(attributes, {
    webhook: { admissionReviewVersions: ['v1'] },
    kind,
  });
  const { object, oldObject, ...rest } = request;
  const { namespace } = attributes;
  const own = attributes.kind.type.group === '' && attributes.kind.type.plural === 'namespaces';
  const found: UnstructuredObject | undefined =
    namespace === '' || own ? undefined : core.log.collection('namespaces').get(namespace);
  return {
    object: jsonValue(object),
    oldObject: jsonValue(oldObject),
    request: jsonValue(rest),
    namespaceObject: jsonValue(found),
    ...rightsOf(attributes),
  };
}

/**
 * Evaluates the match conditions of a policy.
 * @returns undefined if all are true, `unmet` if one is false, else the evaluation errors
 */
export function conditionsOf(
  { conditions }: CompiledPrograms,
  values: PolicyValues,
): string | undefined {
  const problems: string[] = [];
  for (const { expression, program } of conditions) {
    const result = evaluated(() => program.evaluate(values));
    if (result instanceof CelError) problems.push(failedExpression(expression, result));
    else if (result === false) return 'unmet';
  }
  return problems.length === 0 ? undefined : aggregated(problems);
}

function denialOf(
  { expression, program, message, messageProgram, reason }: PolicyValidation,
  values: PolicyValues,
  failed: (message: string) => Denial[],
): Denial[] {
  const result = evaluated(() => program.evaluate(values));
  if (result instanceof CelError) return failed(failedExpression(expression, result));
  if (result === true) return [];
  const computed = messageProgram && evaluated(() => messageProgram.evaluate(values));
  const said = typeof computed === 'string' ? computed.trim() : '';
  const own = said.includes('\n') ? '' : said;
  const text = own || (message ?? '').trim() || `failed expression: ${expression.trim()}`;
  return [{ message: text, reason }];
}

function failedExpression(expression: string, { message }: CelError): string {
  return `expression '${expression}' resulted in error: ${message}`;
}

/** Returns the value of an expression, or the error of its evaluation. */
export function evaluated(run: () => CelValue): CelValue | CelError {
  try {
    return run();
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}
