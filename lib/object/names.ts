import { createHash } from 'node:crypto';
import { label, label1035, subdomain } from './name-problems.js';

// All patterns for names run in linear time, because a name may be untrusted input.
const qualifiedPart = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** The maximum length of a DNS label, a label value and a label key's name. */
const maxLabelLength = 63;

/** The maximum length of a name of most kinds, and of a label key's prefix. */
export const maxSubdomainLength = 253;

/**
 * Returns why `text` is not a DNS label (RFC 1123), the format of a namespace's name.
 * @returns undefined if `text` is valid
 */
export function dns1123LabelProblem(text: string): string | undefined {
  const rule = "lower case letters, digits and '-', with a letter or digit at both ends";
  return problem(text, { pattern: label, maxLength: maxLabelLength, rule });
}

/**
 * Returns why `text` is not a DNS subdomain (RFC 1123), the format of most kinds' names.
 * @returns undefined if `text` is valid
 */
export function dns1123SubdomainProblem(text: string): string | undefined {
  const rule =
    "lower case letters, digits, '-' and '.', with a letter or digit at the ends of each part";
  return problem(text, { pattern: subdomain, maxLength: maxSubdomainLength, rule });
}

/**
 * Returns why `text` is not a DNS label (RFC 1035), the format of a Service's name.
 * @returns undefined if `text` is valid
 */
export function dns1035LabelProblem(text: string): string | undefined {
  const rule = "lower case letters, digits and '-', beginning with a letter, ending with no '-'";
  return problem(text, { pattern: label1035, maxLength: maxLabelLength, rule });
}

/**
 * Returns why `text` is not a qualified name: `name` or `example.com/name`. Label and annotation keys,
 * finalizers and names of reporting controllers have this format. The prefix of an annotation key may have
 * capitals: pass the key in lower case, as the API server does.
 * @returns undefined if `text` is valid
 */
export function qualifiedNameProblem(text: string): string | undefined {
  const slash = text.indexOf('/');
  const prefix = slash < 0 ? undefined : text.slice(0, slash);
  const prefixProblem = prefix === undefined ? undefined : dns1123SubdomainProblem(prefix);
  if (prefixProblem !== undefined) return `its prefix: ${prefixProblem}`;
  const rule = "letters, digits, '-', '_' and '.', with a letter or digit at both ends";
  const name = text.slice(slash + 1);
  return problem(name, { pattern: qualifiedPart, maxLength: maxLabelLength, rule });
}

/**
 * Returns why `text` is not a label value. An empty string is valid.
 * @returns undefined if `text` is valid
 */
export function labelValueProblem(text: string): string | undefined {
  if (text === '') return undefined;
  const rule = "letters, digits, '-', '_' and '.', with a letter or digit at both ends";
  return problem(text, { pattern: qualifiedPart, maxLength: maxLabelLength, rule });
}

/**
 * Returns why `labels` are not an object's labels: the first invalid key or value.
 * @returns undefined if `labels` are valid
 */
export function labelsProblem(labels: Readonly<Record<string, string>>): string | undefined {
  for (const [key, value] of Object.entries(labels)) {
    const keyProblem = qualifiedNameProblem(key);
    if (keyProblem !== undefined) return `label key ${JSON.stringify(key)}: ${keyProblem}`;
    const valueProblem = labelValueProblem(value);
    if (valueProblem !== undefined) return `label ${key}: ${valueProblem}`;
  }
  return undefined;
}

/**
 * Returns why `text` is not a path segment, the format of RBAC names such as `system:node`.
 * @returns undefined if `text` is valid
 */
export function pathSegmentProblem(text: string): string | undefined {
  const allowed = text !== '' && text !== '.' && text !== '..' && !/[/%]/.test(text);
  return allowed ? undefined : `${JSON.stringify(text)} must be a path segment without / and %`;
}

interface NameRule {
  readonly pattern: RegExp;
  readonly maxLength: number;
  readonly rule: string;
}

function problem(text: string, { pattern, maxLength, rule }: NameRule): string | undefined {
  if (text === '') return 'must not be empty';
  // The length is checked first, so that no pattern runs over a huge text.
  if (text.length > maxLength)
    return `has ${text.length} characters, at most ${maxLength} are allowed`;
  return pattern.test(text) ? undefined : `${JSON.stringify(text)} must be ${rule}`;
}

const hashLength = 10;

/**
 * Returns a label value for `text`: `text` itself if valid. Otherwise invalid characters become `-`, and the
 * text is cut and extended by a hash of the whole text. The name of a custom resource may have 253
 * characters, a label value only 63. The result is the same in every release, and different for different
 * strings.
 */
export function labelValueOf(text: string): string {
  if (labelValueProblem(text) === undefined) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, hashLength);
  const kept = text
    .slice(0, maxLabelLength)
    .replaceAll(/[^-A-Za-z0-9_.]/g, '-')
    .slice(0, maxLabelLength - hashLength - 1)
    .replace(/^[-_.]+/, '');
  // The hash ends in a letter or digit, so any allowed character may precede it.
  return kept === '' ? hash : `${kept}-${hash}`;
}
