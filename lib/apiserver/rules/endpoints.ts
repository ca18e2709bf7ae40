import { isIP } from 'node:net';
import type {
  V1Endpoint,
  V1EndpointSlice,
  V1EndpointSubset,
  V1Endpoints,
} from '@kubernetes/client-node';
import {
  deepEqual,
  labelProblems,
  labelValueProblems,
  qualifiedNameProblems,
  subdomainProblems,
} from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { validateEndpointIp, validatePortNumber } from './field-values.js';
import type { FieldErrors } from '../../crd/internal.js';
import { contentChanged, typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';

type Slice = Wire<V1EndpointSlice>;

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const addressLimit = 100;

function validateSlice({ addressType, endpoints, ports }: Slice, errors: FieldErrors): void {
  errors.requiredOneOf('addressType', addressType, addressTypes);
  const all = (endpoints as Slice['endpoints'] | null) ?? [];
  errors.each('endpoints', all, (endpoint, errors) => {
    validateEndpoint(endpoint, addressType, errors);
  });
  const names = new Set<string>();
  errors.each('ports', ports, ({ name = '', protocol = '', appProtocol }, errors) => {
    errors.text('appProtocol', appProtocol, qualifiedNameProblems);
    errors.optionalText('name', name, labelProblems);
    errors.unique('name', name, names);
    errors.oneOf('protocol', protocol, protocols);
  });
}

function validateEndpoint(
  { addresses, hostname, nodeName, hints }: Wire<V1Endpoint>,
  addressType: string,
  errors: FieldErrors,
): void {
  const given = (addresses as string[] | null) ?? [];
  if (given.length === 0) {
    errors.required('addresses', 'must contain at least 1 address');
  } else if (given.length > addressLimit) {
    errors.tooMany('addresses', given.length, addressLimit);
  }
  for (const [index, address] of given.entries()) {
    const at = `addresses[${index}]`;
    if (addressType === 'FQDN') {
      validateDomain(address, errors.at(at));
    } else if (addressType === 'IPv4' || addressType === 'IPv6') {
      const isValid = validateEndpointIp(address, errors.at(at));
      if (isValid) validateFamily(address, addressType, errors.at('addresses'));
    }
  }
  errors.text('nodeName', nodeName, subdomainProblems);
  errors.text('hostname', hostname, labelProblems);
  const { forZones = [], forNodes = [] } = hints ?? {};
  validateHints(forZones, labelValueProblems, errors.at('hints.forZones'));
  validateHints(forNodes, subdomainProblems, errors.at('hints.forNodes'));
}

const hintLimit = 8;

function validateHints(
  hints: readonly { readonly name: string }[],
  problemsOf: (name: string) => readonly string[],
  errors: FieldErrors,
): void {
  if (hints.length > hintLimit) {
    errors.tooMany('', hints.length, hintLimit);
    return;
  }
  const names = new Set<string>();
  errors.each('', hints, ({ name }, errors) => {
    const path = 'name';
    errors.unique(path, name, names);
    errors.invalidEach(path, name, problemsOf(name));
  });
}

function validateDomain(given: string, errors: FieldErrors): void {
  if (given === '') {
    errors.required('');
    return;
  }
  const name = given.replace(/\.$/, '');
  const labels = name.split('.');
  const few = 'should be a domain with at least two segments separated by dots';
  const checks = [
    { text: name, problems: subdomainProblems(name) },
    { text: name, problems: labels.length < 2 ? [few] : [] },
    ...labels.map((text) => ({ text, problems: labelProblems(text) })),
  ];
  const failed = checks.find(({ problems }) => problems.length > 0);
  if (failed !== undefined) errors.invalidEach('', failed.text, failed.problems);
}

/** Reports problems on the whole list, like the real server. */
function validateFamily(address: string, addressType: string, errors: FieldErrors): void {
  if (`IPv${isIP(address)}` === addressType) return;
  errors.invalid('', address, `must be an ${addressType} address`);
}

/** Drops `deprecatedTopology`, a field from the beta version: clients of this version can read it, but not set it. */
function dropTopology({ endpoints }: Slice): void {
  for (const endpoint of (endpoints as Slice['endpoints'] | null) ?? []) {
    delete endpoint.deprecatedTopology;
  }
}

export const endpointSliceRules: KindRules = typedRules<Slice>({
  defaults: ({ ports }) => {
    for (const port of ports ?? []) {
      port.name ??= '';
      port.protocol ??= 'TCP';
    }
  },
  prepareForCreate: dropTopology,
  prepareForUpdate: dropTopology,
  validate: validateSlice,
  validateUpdate: ({ addressType }, old, errors) =>
    errors.immutable('addressType', addressType, old.addressType),
  warnings: ({ addressType }) =>
    addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [],
  // A label names the Service of a slice, so a change of labels counts.
  specChanged: (object, old) =>
    contentChanged(object, old) || !deepEqual(object.metadata.labels, old.metadata.labels),
});

function validateSubset(
  { addresses = [], notReadyAddresses = [], ports = [] }: Wire<V1EndpointSubset>,
  errors: FieldErrors,
): void {
  if (addresses.length + notReadyAddresses.length === 0) {
    errors.required('', 'must specify `addresses` or `notReadyAddresses`');
  }
  for (const [list, given] of Object.entries({ addresses, notReadyAddresses })) {
    for (const [index, { ip, hostname, nodeName }] of given.entries()) {
      const address = `${list}[${index}]`;
      errors.optionalText(`${address}.hostname`, hostname, labelProblems);
      errors.text(`${address}.nodeName`, nodeName, subdomainProblems);
      const path = `${address}.ip`;
      const before = errors.causes.length;
      validateEndpointIp(ip, errors.at(path));
      const [problem] = errors.causes.slice(before);
      if (problem?.message?.includes('valid IP') === true) {
        errors.invalid(path, ip, 'must be a valid IP address');
      }
    }
  }
  errors.each('ports', ports, ({ name = '', port, protocol = '', appProtocol }, errors) => {
    errors.text('appProtocol', appProtocol, qualifiedNameProblems);
    if (name === '' && ports.length > 1) errors.required('name');
    errors.optionalText('name', name, labelProblems);
    validatePortNumber(port, errors.at('port'));
    errors.oneOf('protocol', protocol, protocols);
  });
}

const deprecation = 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice';

/** The rules of Endpoints, the predecessor of EndpointSlices. */
export const endpointsRules: KindRules = typedRules<Wire<V1Endpoints>>({
  defaults: ({ subsets }) => {
    for (const { ports } of subsets ?? []) {
      for (const port of ports ?? []) port.protocol ??= 'TCP';
    }
  },
  validate: ({ subsets = [] }, errors) => {
    errors.each('subsets', subsets, validateSubset);
  },
  createOnUpdate: true,
  deprecation,
});
