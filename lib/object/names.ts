import { createHash } from 'node:crypto';
import {
  label1035Problems,
  labelProblems,
  labelValueProblems,
  qualifiedNameProblems,
  subdomainProblems,
} from './name-problems.js';

/** The maximum length of a DNS label, a label value and a label key's name. */
const maxLabelLength = 63;

/** The maximum length of a name of most kinds, and of a label key's prefix. */
export const maxSubdomainLength = 253;

/**
 * Returns why `text` is not a DNS label (RFC 1123), the format of a namespace's name.
 * @returns undefined if `text` is valid
 */
export function dns1123LabelProblem(text: string): string | undefined {
  return described(text, labelProblems(text));
}

/**
 * Returns why `text` is not a DNS subdomain (RFC 1123), the format of most kinds' names.
 * @returns undefined if `text` is valid
 */
export function dns1123SubdomainProblem(text: string): string | undefined {
  return described(text, subdomainProblems(text));
}

/**
 * Returns why `text` is not a DNS label (RFC 1035), the format of a Service's name.
 * @returns undefined if `text` is valid
 */
export function dns1035LabelProblem(text: string): string | undefined {
  return described(text, label1035Problems(text));
}

/**
 * Returns why `text` is not a qualified name: `name` or `example.com/name`. Label and annotation keys,
 * finalizers and names of reporting controllers have this format. The prefix of an annotation key may have
 * capitals: pass the key in lower case, as the API server does.
 * @returns undefined if `text` is valid
 */
export function qualifiedNameProblem(text: string): string | undefined {
  return described(text, qualifiedNameProblems(text));
}

/**
 * Returns why `text` is not a label value. An empty text is valid.
 * @returns undefined if `text` is valid
 */
export function labelValueProblem(text: string): string | undefined {
  return described(text, labelValueProblems(text));
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

/** Returns the first of the problems, with the start of the text, which may be long. */
function described(text: string, [problem]: readonly string[]): string | undefined {
  return problem === undefined ? undefined : `${JSON.stringify(text.slice(0, 100))}: ${problem}`;
}

const hashLength = 10;

/**
 * Returns a label value for `text`: `text` itself if valid. Otherwise invalid characters become `-`, and the
 * text is cut and extended by a hash of the whole text. The name of a custom resource may have 253
 * characters, a label value only 63. The result is the same in every release, and different for different
 * texts.
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
