// What Kubernetes lets names be; see "Object Names and IDs" in its documentation. All patterns are
// linear: a name may come from outside.
const dns1123Label = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const dns1123Subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const dns1035Label = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;
const qualifiedPart = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** The most characters that a DNS label, a label value and a label key's name may have. */
export const maxLabelLength = 63;

/** The most characters that the name of most kinds, and a label key's prefix, may have. */
export const maxSubdomainLength = 253;

/**
 * Says what keeps `text` from being a DNS label (RFC 1123): what a namespace is named by.
 * @returns undefined when nothing does
 */
export function dns1123LabelProblem(text: string): string | undefined {
  const rule = "lower case letters, digits and '-', with a letter or digit at both ends";
  return problem(text, { pattern: dns1123Label, maxLength: maxLabelLength, rule });
}

/**
 * Says what keeps `text` from being a DNS subdomain (RFC 1123): what most kinds are named by.
 * @returns undefined when nothing does
 */
export function dns1123SubdomainProblem(text: string): string | undefined {
  const rule =
    "lower case letters, digits, '-' and '.', with a letter or digit at the ends of each part";
  return problem(text, { pattern: dns1123Subdomain, maxLength: maxSubdomainLength, rule });
}

/**
 * Says what keeps `text` from being a DNS label (RFC 1035): what a Service is named by.
 * @returns undefined when nothing does
 */
export function dns1035LabelProblem(text: string): string | undefined {
  const rule = "lower case letters, digits and '-', beginning with a letter, ending with no '-'";
  return problem(text, { pattern: dns1035Label, maxLength: maxLabelLength, rule });
}

/**
 * Says what keeps `text` from being a qualified name, `name` or `example.com/name`: a label or
 * annotation key, a finalizer, the name of a reporting controller. (Annotation keys may have capitals
 * in the prefix: pass them in lower case, as the API server does.)
 * @returns undefined when nothing does
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
 * Says what keeps `text` from being a label's value. Empty is one.
 * @returns undefined when nothing does
 */
export function labelValueProblem(text: string): string | undefined {
  if (text === '') return undefined;
  const rule = "letters, digits, '-', '_' and '.', with a letter or digit at both ends";
  return problem(text, { pattern: qualifiedPart, maxLength: maxLabelLength, rule });
}

/**
 * Says what keeps `labels` from being an object's labels: the first bad key or value.
 * @returns undefined when nothing does
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
 * Says what keeps `text` from being a segment of a path: what RBAC's objects are named by, as
 * `system:node`.
 * @returns undefined when nothing does
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
  // Length first: no pattern runs over a text of any size.
  if (text.length > maxLength)
    return `has ${text.length} characters, at most ${maxLength} are allowed`;
  return pattern.test(text) ? undefined : `${JSON.stringify(text)} must be ${rule}`;
}
