import type { V1APIService, V1APIServiceSpec } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  formatTime,
  label1035Problems,
  pathSegmentProblems,
  subdomainProblems,
} from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { validateServicePort } from './field-values.js';
import { typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';

const highestGroupPriority = 20_000;
const highestVersionPriority = 1_000;

/** The condition of an APIService without a Service. */
export const localCondition = {
  ...{ type: 'Available', status: 'True', lastTransitionTime: '', reason: 'Local' },
  message: 'Local APIServices are always available',
};

const apiService = typedRules<Wire<V1APIService>>({
  defaults: ({ spec }) => {
    if (spec?.service !== undefined) spec.service.port ??= 443;
  },
  validate: ({ metadata, spec }, errors) => {
    if (spec === undefined) return;
    validateName(metadata.name ?? '', spec, errors);
    validateSpec(spec, errors);
  },
  ...{ nameFormat: 'path', unconditionalUpdate: false, resets: { status: ['spec', 'metadata'] } },
  initialStatus: ({ spec }, { clock }) => {
    if (spec?.service !== undefined) return {};
    return { conditions: [{ ...localCondition, lastTransitionTime: formatTime(clock.now()) }] };
  },
});

export const apiServiceRules: Readonly<Record<string, KindRules>> = {
  'apiregistration.k8s.io/v1/APIService': apiService,
};

type Spec = Wire<V1APIServiceSpec>;

/** Checks that the name is made of the version and the group. */
function validateName(name: string, { version = '', group = '' }: Spec, errors: FieldErrors): void {
  const wanted = `${version}.${group}`;
  if (name === '' || name === wanted || pathSegmentProblems(name).length > 0) return;
  const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`;
  errors.invalid('metadata.name', name, why);
}

function validateSpec(spec: Spec, errors: FieldErrors): void {
  const { group = '', version = '', service, caBundle = '', insecureSkipTLSVerify = false } = spec;
  if (group !== '') errors.invalidEach('spec.group', group, subdomainProblems(group));
  else if (version !== 'v1') {
    errors.required('spec.group', 'only v1 may have an empty group and it better be legacy kube');
  }
  errors.invalidEach('spec.version', version, label1035Problems(version));
  validatePriority(
    spec.groupPriorityMinimum,
    highestGroupPriority,
    errors.at('spec.groupPriorityMinimum'),
  );
  validatePriority(spec.versionPriority, highestVersionPriority, errors.at('spec.versionPriority'));
  if (service !== undefined) {
    validateService(service, errors);
    if (!insecureSkipTLSVerify || caBundle === '') return;
    const why = 'may not be true if caBundle is present';
    errors.invalid('spec.insecureSkipTLSVerify', insecureSkipTLSVerify, why);
    return;
  }
  if (caBundle !== '') {
    const size = `${Buffer.byteLength(caBundle, 'base64')} bytes`;
    errors.invalid('spec.caBundle', size, 'local APIServices may not have a caBundle');
  }
  if (insecureSkipTLSVerify) {
    const why = 'local APIServices may not have insecureSkipTLSVerify';
    errors.invalid('spec.insecureSkipTLSVerify', insecureSkipTLSVerify, why);
  }
}

function validatePriority(priority: number, highest: number, errors: FieldErrors): void {
  if (priority > 0 && priority <= highest) return;
  errors.invalid('', priority, `must be positive and less than ${highest}`);
}

function validateService(
  { namespace = '', name = '', port = 0 }: NonNullable<Spec['service']>,
  errors: FieldErrors,
): void {
  const field = 'spec.service';
  if (namespace === '') errors.required(`${field}.namespace`);
  if (name === '') errors.required(`${field}.name`);
  validateServicePort(port, errors.at(`${field}.port`));
}
