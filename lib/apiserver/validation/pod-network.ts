import type { V1HostAlias, V1PodDNSConfig, V1PodSpec } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { validateIp } from './addresses.js';
import type { FieldErrors } from './field-errors.js';
import { labelProblems, searchDomainProblems, subdomainProblems } from './names.js';

type PodSpec = Wire<V1PodSpec>;

/** Checks the names, DNS settings, host aliases and host ports of a pod. */
export function validatePodNetwork(spec: PodSpec, field: string, errors: FieldErrors): void {
  const { dnsPolicy, dnsConfig, hostAliases = [] } = spec;
  for (const member of ['hostname', 'subdomain'] as const) {
    const { [member]: name = '' } = spec;
    for (const problem of name === '' ? [] : labelProblems(name)) {
      errors.invalid(`${field}.${member}`, name, problem);
    }
  }
  validateDns(dnsConfig, `${field}.dnsConfig`, { none: dnsPolicy === 'None', errors });
  validateHostAliases(hostAliases, `${field}.hostAliases`, errors);
  if (spec.hostNetwork === true) validateHostPorts(spec, field, errors);
}

const serverLimit = 3;
const searchLimit = 32;
const searchLength = 2048;

function validateDns(
  config: Wire<V1PodDNSConfig> | undefined,
  field: string,
  { none, errors }: { readonly none: boolean; readonly errors: FieldErrors },
): void {
  const { nameservers = [], searches = [], options = [] } = config ?? {};
  if (none && config === undefined) {
    errors.required(field, 'must provide `dnsConfig` when `dnsPolicy` is None');
  } else if (none && nameservers.length === 0) {
    const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    errors.required(`${field}.nameservers`, why);
  }
  if (nameservers.length > serverLimit) {
    const why = `must not have more than ${serverLimit} nameservers`;
    errors.invalid(`${field}.nameservers`, nameservers, why);
  }
  for (const [index, ip] of nameservers.entries()) {
    validateIp(ip, `${field}.nameservers[${index}]`, errors);
  }
  validateSearches(searches, `${field}.searches`, errors);
  for (const [index, { name = '' }] of options.entries()) {
    if (name === '') errors.required(`${field}.options[${index}]`, 'must not be empty');
  }
}

function validateSearches(searches: readonly string[], field: string, errors: FieldErrors): void {
  if (searches.length > searchLimit) {
    errors.invalid(field, searches, `must not have more than ${searchLimit} search paths`);
  }
  if (searches.join(' ').length > searchLength) {
    const why = `must not have more than ${searchLength} characters (including spaces) in the search list`;
    errors.invalid(field, searches, why);
  }
  for (const [index, search] of searches.entries()) {
    // A single dot is the root domain.
    for (const problem of search === '.' ? [] : searchDomainProblems(search.replace(/\.$/, ''))) {
      errors.invalid(`${field}[${index}]`, search, problem);
    }
  }
}

function validateHostAliases(
  aliases: readonly Wire<V1HostAlias>[],
  field: string,
  errors: FieldErrors,
): void {
  for (const [index, { ip, hostnames = [] }] of aliases.entries()) {
    validateIp(ip, `${field}[${index}].ip`, errors);
    for (const [at, name] of hostnames.entries()) {
      for (const problem of subdomainProblems(name)) {
        errors.invalid(`${field}[${index}].hostnames[${at}]`, name, problem);
      }
    }
  }
}

function validateHostPorts(spec: PodSpec, field: string, errors: FieldErrors): void {
  const containers = (spec.containers as PodSpec['containers'] | null) ?? [];
  for (const [index, { ports = [] }] of containers.entries()) {
    for (const [at, { containerPort, hostPort }] of ports.entries()) {
      if (hostPort === undefined || hostPort === containerPort) continue;
      const why = 'must match `containerPort` when `hostNetwork` is true';
      errors.invalid(`${field}.containers[${index}].ports[${at}].hostPort`, hostPort, why);
    }
  }
}
