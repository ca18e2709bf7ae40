import type {
  V1CertificateSigningRequest,
  V1CertificateSigningRequestCondition,
  V1CertificateSigningRequestSpec,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { formatTime, labelProblems, subdomainProblems, quoted } from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import type { UserInfo } from '../auth/authenticator.js';
import { typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';

type SigningRequest = Wire<V1CertificateSigningRequest>;
type Spec = Wire<V1CertificateSigningRequestSpec>;
type Condition = Wire<V1CertificateSigningRequestCondition>;

const usageNames = [
  ...['any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign'],
  ...['data encipherment', 'decipher only', 'digital signature', 'email protection'],
  ...['encipher only', 'ipsec end system', 'ipsec tunnel', 'ipsec user', 'key agreement'],
  ...['key encipherment', 'microsoft sgc', 'netscape sgc', 'ocsp signing', 's/mime'],
  ...['server auth', 'signing', 'timestamping'],
];

const signingRequest = typedRules<SigningRequest>({
  prepareForUpdate: (object, { spec }) => {
    object.spec = spec;
  },
  validate: ({ spec, status }, errors) => {
    validateSpec(spec, errors);
    validateConditions(status?.conditions ?? [], errors);
  },
  nameFormat: 'any',
  setUser,
  initialStatus: () => ({}),
  resets: {
    '': ['spec', 'status'],
    status: ['spec', 'status.conditions'],
    approval: ['spec', 'status.certificate'],
  },
  prepareForStatusUpdate: (object, old, { clock }, subresource) => {
    const isStatus = subresource === 'status';
    const conditions = (object.status?.conditions ?? []).slice();
    if (isStatus) keepDecisions(conditions, old.status?.conditions ?? []);
    setTimes(conditions, old.status?.conditions ?? [], formatTime(clock.now()));
    const { status } = isStatus ? object : old;
    object.status = { ...status, conditions };
    if (conditions.length === 0) delete object.status.conditions;
  },
  validateStatusUpdate: validateDecision,
});

export const certificateRules: Readonly<Record<string, KindRules>> = {
  'certificates.k8s.io/v1/CertificateSigningRequest': signingRequest,
};

/** Records the user of the request. Clients cannot name another user. */
function setUser(object: UnstructuredObject, user: UserInfo): void {
  const { username, uid = '', groups, extra = {} } = user;
  const { request, signerName, expirationSeconds, usages } = object['spec'] as Spec;
  // The order of the members is that of the real server.
  const given = { request, signerName, expirationSeconds, usages };
  const shown = Object.entries(given).filter(([, value]) => value !== undefined);
  object['spec'] = {
    ...Object.fromEntries(shown),
    ...(username !== '' && { username }),
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

const shortestSeconds = 600;

function validateSpec(spec: Spec, errors: FieldErrors): void {
  const { request, signerName, expirationSeconds: seconds } = spec;
  if (!hasBlock(request, 'CERTIFICATE REQUEST')) {
    errors.invalid('spec.request', request, 'PEM block type must be CERTIFICATE REQUEST');
  }
  const usages = spec.usages ?? [];
  if (usages.length === 0) errors.required('spec.usages');
  const seen = new Set<string>();
  errors.each('spec.usages', usages, (usage, errors) => {
    errors.oneOf('', usage, usageNames);
    errors.unique('', usage, seen);
  });
  if (signerName === 'kubernetes.io/legacy-unknown') {
    const why = 'the legacy signerName is not allowed via this API version';
    errors.invalid('spec.signerName', signerName, why);
  } else validateSignerName(signerName, errors.at('spec.signerName'));
  if (seconds !== undefined && seconds < shortestSeconds) {
    const why = `may not specify a duration less than ${shortestSeconds} seconds (10 minutes)`;
    errors.invalid('spec.expirationSeconds', seconds, why);
  }
}

/** Returns whether the decoded text has a PEM block of a type. The signer checks its content. */
function hasBlock(base64: string | null, type: string): boolean {
  const text = Buffer.from(base64 ?? '', 'base64').toString();
  const begin = `-----BEGIN ${type}-----`;
  // Not a regular expression, which would take quadratic time for repeated beginnings.
  const start = text.indexOf(begin);
  return start >= 0 && text.includes(`-----END ${type}-----`, start + begin.length + 1);
}

/** Checks the name of a signer: a domain and a path. */
export function validateSignerName(name: string, errors: FieldErrors): void {
  if (name === '') {
    errors.required('');
    return;
  }
  const [domain = '', path = '', ...rest] = name.split('/');
  if (!name.includes('/') || rest.length > 0) {
    const form = "a fully qualified domain and path of the form 'example.com/signer-name'";
    errors.invalid('', name, `must be ${form}`);
    return;
  }
  if (domain.length > 253) errors.tooLong('', 253);
  validateParts(domain, labelProblems, errors);
  if (!domain.includes('.')) {
    errors.invalid('', domain, 'should be a domain with at least two segments separated by dots');
  }
  validateParts(path, subdomainProblems, errors);
}

/** Reports the problems of the first wrong part between dots. */
function validateParts(
  text: string,
  problemsOf: (part: string) => readonly string[],
  errors: FieldErrors,
): void {
  const wrong = text.split('.').find((part) => problemsOf(part).length > 0);
  if (wrong === undefined) return;
  const problems = problemsOf(wrong).map(
    (problem) => `validating label ${quoted(wrong)}: ${problem}`,
  );
  errors.invalidEach('', text, problems);
}

/**
 * Restores the approvals and denials of `old`, because a write of the status cannot change them. If their number
 * differs, they stay as sent, for the validation to decide.
 */
function keepDecisions(conditions: Condition[], old: readonly Condition[]): void {
  for (const type of ['Approved', 'Denied']) {
    const kept = old.filter((condition) => condition.type === type);
    if (kept.length !== conditions.filter((condition) => condition.type === type).length) continue;
    for (const [index, condition] of conditions.entries()) {
      if (condition.type === type) conditions[index] = kept.shift() ?? condition;
    }
  }
}

/** Sets the missing times of conditions. Unchanged conditions keep their transition time. */
function setTimes(conditions: Condition[], old: readonly Condition[], now: string): void {
  for (const [index, condition] of conditions.entries()) {
    const { type, status, lastUpdateTime, lastTransitionTime } = condition;
    const before = old.find((one) => one.type === type && one.status === status);
    const times = {
      lastUpdateTime: lastUpdateTime ?? now,
      lastTransitionTime: lastTransitionTime ?? before?.lastTransitionTime ?? now,
    };
    conditions[index] = { ...condition, ...times };
  }
}

const conditionsField = 'status.conditions';
const decided = ['Approved', 'Denied', 'Failed'];

function validateConditions(conditions: readonly Condition[], errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, { type, status }] of conditions.entries()) {
    const field = `${conditionsField}[${index}]`;
    if (type === '') errors.required(`${field}.type`);
    const allowed = decided.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    errors.requiredOneOf(`${field}.status`, status, allowed);
    const opposite = { Approved: 'Denied', Denied: 'Approved' }[type];
    if (opposite !== undefined && seen.has(opposite)) {
      const why = 'Approved and Denied conditions are mutually exclusive';
      errors.invalid(conditionsField, type, why);
    }
    errors.unique(`${field}.type`, type, seen);
  }
}

/** Checks an update of the status or the approval: decisions stay, and only the approval adds them. */
function validateDecision(
  { spec, status }: SigningRequest,
  { status: before }: SigningRequest,
  errors: FieldErrors,
  subresource: string,
): void {
  validateSpec(spec, errors);
  const conditions = status?.conditions ?? [];
  validateConditions(conditions, errors);
  for (const type of decided) {
    const [now, then] = [conditions, before?.conditions ?? []].map(
      (list) => list.filter((condition) => condition.type === type).length,
    ) as [number, number];
    const isFixed = subresource === 'status' && type !== 'Failed';
    const change = now < then ? 'remove' : isFixed && now > then ? 'add' : undefined;
    if (change === undefined) continue;
    errors.forbidden(conditionsField, `updates may not ${change} a condition of type "${type}"`);
  }
  const [certificate = '', old = ''] = [status?.certificate, before?.certificate];
  if (certificate === old) return;
  const field = 'status.certificate';
  if (old !== '') errors.forbidden(field, 'updates may not modify existing certificate content');
  if (certificate !== '' && !hasBlock(certificate, 'CERTIFICATE')) {
    const why = 'must contain at least one CERTIFICATE PEM block';
    errors.invalid(field, '<certificate data>', why);
  }
}
