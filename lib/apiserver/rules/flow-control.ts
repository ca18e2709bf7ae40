import type {
  FlowcontrolV1Subject,
  V1FlowSchema,
  V1FlowSchemaSpec,
  V1LimitResponse,
  V1NonResourcePolicyRule,
  V1PolicyRulesWithSubjects,
  V1PriorityLevelConfiguration,
  V1PriorityLevelConfigurationSpec,
  V1QueuingConfiguration,
  V1ResourcePolicyRule,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { labelProblems, subdomainProblems } from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { specChanged, typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { validateWildcard } from './match-resources.js';

/** A list of a decoded object: null if the field is required and absent. */
type List<T> = readonly T[] | null | undefined;

const highestPrecedence = 10_000;
const verbNames = [
  ...['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'],
];
const subjectKinds = ['Group', 'ServiceAccount', 'User'];

const common = {
  specChanged,
  resets: { status: ['spec', 'metadata'] },
  validateStatusUpdate: validateStatus,
};

const flowSchema = typedRules<Wire<V1FlowSchema>>({
  defaults: ({ spec }) => {
    // The server cannot distinguish 0 from an absent number.
    if (spec !== undefined) spec.matchingPrecedence ||= 1_000;
  },
  validate: ({ metadata, spec, status }, errors) => {
    if (spec !== undefined) validateFlow(spec, metadata.name, errors);
    validateConditions(status?.conditions ?? [], errors);
  },
  ...common,
});

const priorityLevel = typedRules<Wire<V1PriorityLevelConfiguration>>({
  defaults: ({ spec }) => {
    const { limited, exempt } = spec ?? {};
    if (exempt !== undefined) {
      exempt.nominalConcurrencyShares ??= 0;
      exempt.lendablePercent ??= 0;
    }
    if (limited === undefined) return;
    limited.nominalConcurrencyShares ??= 30;
    limited.lendablePercent ??= 0;
    const { queuing } = limited.limitResponse ?? {};
    if (queuing === undefined) return;
    queuing.queues ||= 64;
    queuing.handSize ||= 8;
    queuing.queueLengthLimit ||= 50;
  },
  validate: ({ metadata, spec, status }, errors) => {
    if (spec !== undefined) validateLevel(spec, metadata.name, errors);
    validateConditions(status?.conditions ?? [], errors);
  },
  ...common,
});

/** The rules of the kinds that divide the server's capacity among requests. */
export const flowControlRules: Readonly<Record<string, KindRules>> = {
  'flowcontrol.apiserver.k8s.io/v1/FlowSchema': flowSchema,
  'flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration': priorityLevel,
};

interface Condition {
  readonly type?: string;
}

function validateStatus(
  { status }: UnstructuredObject,
  _old: UnstructuredObject,
  errors: FieldErrors,
): void {
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly Condition[] };
  validateConditions(conditions, errors);
}

function validateConditions(conditions: readonly Condition[], errors: FieldErrors): void {
  const types = new Set<string>();
  errors.each('status.conditions', conditions, ({ type = '' }, errors) => {
    const field = 'type';
    errors.unique(field, type, types);
    if (type === '') errors.required(field);
  });
}

function validateFlow(
  spec: Wire<V1FlowSchemaSpec>,
  name: string | undefined,
  errors: FieldErrors,
): void {
  validatePrecedence(spec.matchingPrecedence ?? 0, name, errors);
  const { distinguisherMethod: method, priorityLevelConfiguration: level } = spec;
  if (method !== undefined && !['ByNamespace', 'ByUser'].includes(method.type)) {
    errors.notSupported('spec.distinguisherMethod.type', method, ['ByNamespace', 'ByUser']);
  }
  const field = 'spec.priorityLevelConfiguration.name';
  if (level.name === '') errors.required(field, 'must reference a priority level');
  else errors.invalidEach(field, level.name, subdomainProblems(level.name));
  errors.each('spec.rules', spec.rules, validateFlowRules);
}

function validatePrecedence(
  precedence: number,
  name: string | undefined,
  errors: FieldErrors,
): void {
  const field = 'spec.matchingPrecedence';
  if (precedence <= 0) errors.invalid(field, precedence, 'must be a positive value');
  if (precedence > highestPrecedence) {
    errors.invalid(field, precedence, `must not be greater than ${highestPrecedence}`);
  }
  if (precedence === 1 && name !== 'exempt') {
    const why = "only the schema named 'exempt' may have matchingPrecedence 1";
    errors.invalid(field, precedence, why);
  }
}

function validateFlowRules(rules: Wire<V1PolicyRulesWithSubjects>, errors: FieldErrors): void {
  const subjects = (rules.subjects as List<Wire<FlowcontrolV1Subject>>) ?? [];
  const { resourceRules = [], nonResourceRules = [] } = rules;
  errors.each('subjects', subjects, validateSubject);
  if (subjects.length === 0) {
    errors.required('subjects', 'subjects must contain at least one value');
  }
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    errors.required('', 'at least one of resourceRules and nonResourceRules has to be non-empty');
  }
  errors.each('resourceRules', resourceRules, validateResourceRule);
  errors.each('nonResourceRules', nonResourceRules, validateNonResourceRule);
}

/** The member of a subject for each of its kinds. */
const subjectMembers = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const;

function validateSubject(subject: Wire<FlowcontrolV1Subject>, errors: FieldErrors): void {
  if (!subjectKinds.includes(subject.kind)) {
    errors.notSupported('kind', subject.kind, subjectKinds);
    return;
  }
  for (const kind of ['ServiceAccount', 'User', 'Group'] as const) {
    const member = subjectMembers[kind];
    const own = subject[member];
    if (subject.kind !== kind) {
      if (own === undefined) continue;
      errors.forbidden(member, `${member} is forbidden when subject kind is not '${kind}'`);
    } else if (own === undefined) {
      errors.required(member, `${member} is required when subject kind is '${kind}'`);
    } else {
      validateSubjectName(own, errors.at(member));
    }
  }
}

function validateSubjectName(
  subject: { readonly name: string; readonly namespace?: string },
  errors: FieldErrors,
): void {
  const { name, namespace } = subject;
  if (name === '') errors.required('name');
  if (namespace === undefined) return;
  if (name !== '' && name !== '*') errors.invalidEach('name', name, subdomainProblems(name));
  if (namespace === '') {
    errors.required('namespace', 'must specify namespace for service account');
  } else {
    errors.invalidEach('namespace', namespace, labelProblems(namespace));
  }
}

function validateVerbs(given: List<string>, errors: FieldErrors): void {
  const verbs = given ?? [];
  validateWildcard(verbs, 'verbs', errors, 'verbs must contain at least one value');
  if (verbs.includes('*') || verbs.every((verb) => verbNames.includes(verb))) return;
  errors.notSupported('', verbs, verbNames);
}

function validateResourceRule(rule: Wire<V1ResourcePolicyRule>, errors: FieldErrors): void {
  validateVerbs(rule.verbs, errors.at('verbs'));
  const lists = { apiGroups: 'api group', resources: 'resource' } as const;
  for (const member of ['apiGroups', 'resources'] as const) {
    const values = (rule[member] as List<string>) ?? [];
    const what = lists[member];
    const missing = `resource rules must supply at least one ${what}`;
    validateWildcard(values, `${what}s`, errors.at(member), missing);
  }
  validateNamespaces(rule, errors.at('namespaces'));
}

function validateNamespaces(rule: Wire<V1ResourcePolicyRule>, errors: FieldErrors): void {
  // The list has no `omitempty`, so that it is null if absent.
  const namespaces = (rule.namespaces as List<string>) ?? [];
  if (namespaces.length === 0 && rule.clusterScope !== true) {
    const why = 'resource rules that are not cluster scoped must supply at least one namespace';
    errors.required('', why);
  } else if (namespaces.includes('*')) {
    validateWildcard(namespaces, 'namespaces', errors);
  } else {
    errors.each('', namespaces, (namespace, errors) => {
      const problems = labelProblems(namespace).map(
        (problem) => `each member of this list must be '*' or a DNS-1123 label; ${problem}`,
      );
      errors.invalidEach('', namespace, problems);
    });
  }
}

function validateNonResourceRule(rule: Wire<V1NonResourcePolicyRule>, errors: FieldErrors): void {
  validateVerbs(rule.verbs, errors.at('verbs'));
  const urls = (rule.nonResourceURLs as List<string>) ?? [];
  const path = 'nonResourceURLs';
  const missing = 'nonResourceURLs must contain at least one value';
  validateWildcard(urls, 'non-resource URLs', errors.at(path), missing);
  if (urls.includes('*')) return;
  errors.each(path, urls, (url, errors) => {
    const problem = urlProblem(url);
    if (problem !== undefined) errors.invalid('', url, problem);
  });
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const wildcards = url.split('*').length - 1;
  if (wildcards > 1 || (wildcards === 1 && !url.endsWith('/*'))) {
    return 'wildcard can only do suffix matching';
  }
  return undefined;
}

function validateLevel(
  spec: Wire<V1PriorityLevelConfigurationSpec>,
  name: string | undefined,
  errors: FieldErrors,
): void {
  const { type, limited, exempt } = spec;
  if ((name === 'exempt') !== (type === 'Exempt')) {
    errors.invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'");
  }
  errors.requiredOneOf('spec.type', type, ['Exempt', 'Limited']);
  if (type === 'Exempt') {
    if (limited !== undefined) {
      errors.forbidden('spec.limited', 'must be nil if the type is not Limited');
    }
    if (exempt !== undefined) validateShares(exempt, errors.at('spec.exempt'));
  } else if (type === 'Limited') {
    if (exempt !== undefined) errors.forbidden('spec.exempt', 'must be nil if the type is Limited');
    if (limited === undefined) {
      errors.required('spec.limited', 'must not be empty when type is Limited');
      return;
    }
    validateShares(limited, errors.at('spec.limited'));
    validateLimitResponse(limited.limitResponse ?? { type: '' }, errors);
    const { borrowingLimitPercent: limit = 0 } = limited;
    if (limit < 0) {
      const why = 'if specified, must be a non-negative integer';
      errors.invalid('spec.limited.borrowingLimitPercent', limit, why);
    }
  }
}

function validateShares(
  shares: { readonly nominalConcurrencyShares?: number; readonly lendablePercent?: number },
  errors: FieldErrors,
): void {
  const { nominalConcurrencyShares: nominal = 0, lendablePercent: lendable = 0 } = shares;
  if (nominal < 0) {
    errors.invalid('nominalConcurrencyShares', nominal, 'must be a non-negative integer');
  }
  if (lendable < 0 || lendable > 100) {
    errors.invalid('lendablePercent', lendable, 'must be between 0 and 100, inclusive');
  }
}

function validateLimitResponse(
  { type, queuing }: Wire<V1LimitResponse>,
  errors: FieldErrors,
): void {
  const field = 'spec.limited.limitResponse';
  if (type === 'Reject') {
    if (queuing === undefined) return;
    const why = 'must be nil if limited.limitResponse.type is not Limited';
    errors.forbidden(`${field}.queuing`, why);
  } else if (type === 'Queue') {
    const why = 'must not be empty if limited.limitResponse.type is Limited';
    if (queuing === undefined) errors.required(`${field}.queuing`, why);
    else validateQueuing(queuing, errors.at(`${field}.queuing`));
  } else if (type === '') errors.required(`${field}.type`);
  else errors.notSupported(`${field}.type`, type, ['Queue', 'Reject']);
}

const mostQueues = 10_000_000;
/** Number of bits in the hash of a request that selects its queues. */
const hashBits = 60;

function validateQueuing(
  { queueLengthLimit: length = 0, queues = 0, handSize = 0 }: Wire<V1QueuingConfiguration>,
  errors: FieldErrors,
): void {
  if (length <= 0) errors.invalid('queueLengthLimit', length, 'must be positive');
  if (queues <= 0) errors.invalid('queues', queues, 'must be positive');
  else if (queues > mostQueues) {
    errors.invalid('queues', queues, `must not be greater than ${mostQueues}`);
  }
  const hand = 'handSize';
  if (handSize <= 0) errors.invalid(hand, handSize, 'must be positive');
  else if (handSize > queues) {
    errors.invalid(hand, handSize, `should not be greater than queues (${queues})`);
  } else if (Math.ceil(Math.log2(queues) * handSize) > hashBits) {
    const what = `required entropy bits of deckSize ${queues} and handSize ${handSize}`;
    errors.invalid(hand, handSize, `${what} should not be greater than ${hashBits}`);
  }
}
