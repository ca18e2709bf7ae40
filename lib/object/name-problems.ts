/** The name rule of a kind. */
export type NameFormat = 'subdomain' | 'label' | 'label1035' | 'path' | 'any';

const labelForm = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const label1035Form = '[a-z]([-a-z0-9]*[a-z0-9])?';
const subdomainForm = `${labelForm}(\\.${labelForm})*`;
export const label = new RegExp(`^${labelForm}$`);
export const label1035 = new RegExp(`^${label1035Form}$`);
export const subdomain = new RegExp(`^${subdomainForm}$`);

const subdomainMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '" +
  `${subdomainForm}')`;
const labelMessage =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '" +
  `${labelForm}')`;
const label1035Message =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '" +
  `${label1035Form}')`;

const tooLong = (limit: number, unit = 'characters'): string =>
  `must be no more than ${limit} ${unit}`;

/** Returns the problems of `name` as an RFC 1123 label. */
export function labelProblems(name: string): readonly string[] {
  const long = name.length > 63 ? [tooLong(63)] : [];
  if (label.test(name)) return long;
  return [...long, subdomain.test(name) ? 'must not contain dots' : labelMessage];
}

/** Returns the problems of `name` as an RFC 1035 label. */
export function label1035Problems(name: string): readonly string[] {
  return [
    ...(name.length > 63 ? [tooLong(63)] : []),
    ...(label1035.test(name) ? [] : [label1035Message]),
  ];
}

/** Returns the problems of `name` as an RFC 1123 subdomain. */
export function subdomainProblems(name: string): readonly string[] {
  return [
    ...(name.length > 253 ? [tooLong(253)] : []),
    ...(subdomain.test(name) ? [] : [subdomainMessage]),
  ];
}

const wildcardForm = `\\*\\.${subdomainForm}`;
const wildcard = new RegExp(`^${wildcardForm}$`);

/** Returns the problems of `name` as `*.` followed by a subdomain. */
export function wildcardProblems(name: string): readonly string[] {
  if (wildcard.test(name)) return [];
  return [
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '" +
      `${wildcardForm}')`,
  ];
}

export function pathSegmentProblems(name: string): readonly string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return pathPrefixProblems(name);
}

function pathPrefixProblems(name: string): readonly string[] {
  return ['/', '%']
    .filter((part) => name.includes(part))
    .map((part) => `may not contain '${part}'`);
}

const problemsByFormat: Readonly<Record<NameFormat, (name: string) => readonly string[]>> = {
  subdomain: subdomainProblems,
  label: labelProblems,
  label1035: label1035Problems,
  path: pathSegmentProblems,
  any: () => [],
};

/** Returns the problems of an object's name. */
export function nameProblems(name: string, format: NameFormat): readonly string[] {
  return problemsByFormat[format](name);
}

/** Returns the problems of `prefix` as a `generateName`, where a dash after other characters is valid. */
export function generateNameProblems(prefix: string, format: NameFormat): readonly string[] {
  if (format === 'path') return pathPrefixProblems(prefix);
  // Like Kubernetes, do not check the character before a dash at the end.
  return nameProblems(prefix.replace(/[^]-$/, 'a'), format);
}

const qualifiedForm = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const qualified = new RegExp(`^${qualifiedForm}$`);
const qualifiedMessage =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '" +
  `${qualifiedForm}')`;

/** Returns the problems of `name` as a label key, finalizer or other qualified name. */
export function qualifiedNameProblems(name: string): readonly string[] {
  const parts = name.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2) {
    const example = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a valid label key ${qualifiedMessage.slice('name part '.length)} ${example}`];
  }
  const problems: string[] = [];
  const own = second ?? first;
  if (second !== undefined) {
    if (first === '') problems.push('prefix part must be non-empty');
    else problems.push(...subdomainProblems(first).map((problem) => `prefix part ${problem}`));
  }
  if (own === '') problems.push('name part must be non-empty');
  else if (own.length > 63) problems.push(`name part ${tooLong(63, 'bytes')}`);
  if (!qualified.test(own)) problems.push(qualifiedMessage);
  return problems;
}

const labelValueForm = '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?';
const labelValue = new RegExp(`^${labelValueForm}$`);

export function labelValueProblems(value: string): readonly string[] {
  const problems: string[] = [];
  if (value.length > 63) problems.push(tooLong(63, 'bytes'));
  if (!labelValue.test(value)) {
    problems.push(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '" +
        `${labelValueForm}')`,
    );
  }
  return problems;
}

const domainPath = 'must be a domain-prefixed path (such as "acme.io/foo")';

/** Returns the problems of a domain-prefixed path, such as a controller name. `value` is the part with the problem. */
export function domainPathProblems(
  name: string,
): readonly { readonly value: string; readonly problem: string }[] {
  const slash = name.indexOf('/');
  const [domain, path] = [name.slice(0, slash), name.slice(slash + 1)];
  if (slash < 1 || path === '') return [{ value: name, problem: domainPath }];
  const problems = subdomainProblems(domain).map((problem) => ({ value: domain, problem }));
  if (/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path)) return problems;
  const problem = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
  return [...problems, { value: path, problem }];
}

const underscoredForm = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const underscored = new RegExp(`^${underscoredForm}(\\.${underscoredForm})*$`);

/** Returns the problems of `name` as a search domain, where underscores are valid. */
export function searchDomainProblems(name: string): readonly string[] {
  if (name.length > 253) return [tooLong(253)];
  if (underscored.test(name)) return [];
  return [
    `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${underscoredForm}(\\.${underscoredForm})*')`,
  ];
}

const configKeyForm = '[-._a-zA-Z0-9]+';
const configKey = new RegExp(`^${configKeyForm}$`);

/** Returns the problems of `key` as a key of a ConfigMap or Secret. */
export function configKeyProblems(key: string): readonly string[] {
  const problems: string[] = [];
  if (key.length > 253) problems.push(tooLong(253));
  if (!configKey.test(key)) {
    problems.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '" +
        `${configKeyForm}')`,
    );
  }
  if (key === '.') problems.push("must not be '.'");
  else if (key === '..') problems.push("must not be '..'");
  else if (key.startsWith('..')) problems.push("must not start with '..'");
  return problems;
}

const portNameForm = /^[-a-z0-9]+$/;

/** Returns the problems of `name` as a port name (IANA_SVC_NAME). */
export function portNameProblems(name: string): readonly string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push('must be no more than 15 characters');
  if (!portNameForm.test(name)) {
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)');
  if (name.includes('--')) problems.push('must not contain consecutive hyphens');
  if (/^-|-$/.test(name)) problems.push('must not begin or end with a hyphen');
  return problems;
}
