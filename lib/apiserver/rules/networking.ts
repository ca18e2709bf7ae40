import type {
  V1HTTPIngressPath,
  V1IPBlock,
  V1Ingress,
  V1IngressBackend,
  V1IngressClass,
  V1IngressRule,
  V1NetworkPolicy,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import {
  domainPathProblems,
  labelProblems,
  portNameProblems,
  pathSegmentProblems,
  subdomainProblems,
  wildcardProblems,
} from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { endpointSliceRules, endpointsRules } from './endpoints.js';
import {
  isReadableCidr,
  isStrictSubset,
  validateCidr,
  validatePort,
  validatePortNumber,
} from './field-values.js';
import { specChanged, typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { validateLabelSelector } from './metadata.js';

type Ingress = Wire<V1Ingress>;

function validateIngress({ spec }: Ingress, errors: FieldErrors): void {
  const { rules = [], defaultBackend, ingressClassName, tls = [] } = spec ?? {};
  if (rules.length === 0 && defaultBackend === undefined) {
    errors.invalid('spec', spec?.rules, 'either `defaultBackend` or `rules` must be specified');
  }
  if (defaultBackend !== undefined)
    validateBackend(defaultBackend, errors.at('spec.defaultBackend'));
  errors.each('spec.rules', rules, validateIngressRule);
  errors.each('spec.tls', tls, ({ hosts = [], secretName = '' }, errors) => {
    errors.each('hosts', hosts, validateName);
    if (secretName !== '') errors.text('secretName', secretName, subdomainProblems);
  });
  errors.text('spec.ingressClassName', ingressClassName, subdomainProblems);
}

function validateIngressRule({ host = '', http }: Wire<V1IngressRule>, errors: FieldErrors): void {
  if (host !== '') validateHost(host, errors.at('host'));
  if (http === undefined) return;
  const paths = (http.paths as Wire<V1HTTPIngressPath>[] | null) ?? [];
  if (paths.length === 0) errors.required('http.paths');
  errors.each('http.paths', paths, validatePath);
}

function validateHost(host: string, errors: FieldErrors): void {
  if (/^\d+(?:\.\d+){3}$/.test(host)) {
    errors.invalid('', host, 'must be a DNS name, not an IP address');
    return;
  }
  validateName(host, errors);
}

function validateName(host: string, errors: FieldErrors): void {
  const problems = host.includes('*') ? wildcardProblems(host) : subdomainProblems(host);
  errors.invalidEach('', host, problems);
}

const classAnnotation = 'kubernetes.io/ingress.class';

/** Permits legacy class annotations, but not together with a different class. */
function validateClassAnnotation({ metadata, spec }: Ingress, errors: FieldErrors): void {
  const annotated = metadata?.annotations?.[classAnnotation];
  const { ingressClassName } = spec ?? {};
  if (annotated === undefined || ingressClassName === undefined) return;
  if (annotated === ingressClassName) return;
  const why = 'must match `ingressClassName` when both are specified';
  errors.invalid(`annotations.${classAnnotation}`, annotated, why);
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];

function validatePath(
  { path = '', pathType, backend }: Wire<V1HTTPIngressPath>,
  errors: FieldErrors,
): void {
  // If `pathType` is missing, decoding has set it to null.
  const type = (pathType as string | null) ?? undefined;
  if (type === undefined) {
    errors.required('pathType', 'pathType must be specified');
    return;
  }
  if (!pathTypes.includes(type)) errors.notSupported('pathType', type, pathTypes);
  else if (!path.startsWith('/') && (path !== '' || type !== 'ImplementationSpecific')) {
    errors.invalid('path', path, 'must be an absolute path');
  }
  if (type === 'Exact' || type === 'Prefix') {
    for (const part of ['//', '/./', '/../', '%2f', '%2F']) {
      if (path.includes(part)) errors.invalid('path', path, `must not contain '${part}'`);
    }
  }
  validateBackend(backend, errors.at('backend'));
}

function validateBackend({ resource, service }: Wire<V1IngressBackend>, errors: FieldErrors): void {
  if (resource !== undefined && service !== undefined) {
    errors.invalid('', '', 'cannot set both resource and service backends');
    return;
  }
  if (service === undefined) {
    if (resource === undefined) errors.invalid('', '', 'resource or service backend is required');
    return;
  }
  const { name, port: { name: portName = '', number = 0 } = {} } = service;
  errors.requiredText('service.name', name, labelProblems);
  if (portName !== '' && number !== 0) {
    errors.invalid('', '', 'cannot set both port name & port number');
  } else if (portName !== '') {
    errors.invalidEach('service.port.name', portName, portNameProblems(portName));
  } else if (number !== 0) validatePortNumber(number, errors.at('service.port.number'));
  else errors.required('', 'port name or number is required');
}

const controllerLimit = 250;

function validateIngressClass({ spec }: Wire<V1IngressClass>, errors: FieldErrors): void {
  const { controller = '', parameters } = spec ?? {};
  if (Buffer.byteLength(controller) > controllerLimit) {
    errors.tooLong('spec.controller', controllerLimit);
  }
  if (controller === '') errors.required('spec.controller');
  else {
    for (const { value, problem } of domainPathProblems(controller)) {
      errors.invalid('spec.controller', value, problem);
    }
  }
  if (parameters === undefined) return;
  const { apiGroup, kind, name, scope, namespace } = parameters;
  errors.text('spec.parameters.apiGroup', apiGroup, subdomainProblems);
  for (const [member, value] of Object.entries({ kind, name })) {
    errors.requiredText(`spec.parameters.${member}`, value, pathSegmentProblems);
  }
  if (scope === 'Namespace') {
    const path = 'spec.parameters.namespace';
    if (namespace === undefined) errors.required(path, "`parameters.scope` is set to 'Namespace'");
    errors.text(path, namespace, labelProblems);
  } else if (scope === 'Cluster' && namespace !== undefined) {
    errors.forbidden('spec.parameters.namespace', "`parameters.scope` is set to 'Cluster'");
  } else errors.oneOf('spec.parameters.scope', scope, ['Cluster', 'Namespace']);
}

const ingressClass = typedRules<Wire<V1IngressClass>>({
  defaults: ({ spec }) => {
    if (spec?.parameters !== undefined) spec.parameters.scope ??= 'Cluster';
  },
  validate: validateIngressClass,
  validateUpdate: ({ spec }, old, errors) =>
    errors.immutable('spec.controller', spec?.controller ?? '', old.spec?.controller ?? ''),
  specChanged,
});

type NetworkPolicy = Wire<V1NetworkPolicy>;

function defaultNetworkPolicy({ spec }: NetworkPolicy): void {
  if (spec === undefined) return;
  for (const { ports } of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
    for (const port of ports ?? []) port.protocol ??= 'TCP';
  }
  if ((spec.policyTypes ?? []).length > 0) return;
  spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

function validateNetworkPolicy({ spec }: NetworkPolicy, errors: FieldErrors): void {
  if (spec === undefined) return;
  validateLabelSelector(spec.podSelector, errors.at('spec.podSelector'));
  const { ingress = [], egress = [], policyTypes = [] } = spec;
  errors.each('spec.ingress', ingress, ({ ports = [], from = [] }, errors) => {
    validatePorts(ports, errors.at('ports'));
    errors.each('from', from, validatePeer);
  });
  errors.each('spec.egress', egress, ({ ports = [], to = [] }, errors) => {
    validatePorts(ports, errors.at('ports'));
    errors.each('to', to, validatePeer);
  });
  const types = ['Ingress', 'Egress'];
  if (policyTypes.length > types.length) {
    errors.invalid('spec.policyTypes', policyTypes, 'may not specify more than two policyTypes');
    return;
  }
  errors.each('spec.policyTypes', policyTypes, (type, errors) => {
    errors.oneOf('', type, types);
  });
}

function validatePorts(ports: readonly Wire<V1NetworkPolicyPort>[], errors: FieldErrors): void {
  const protocols = ['TCP', 'UDP', 'SCTP'];
  errors.each('', ports, ({ port, endPort, protocol = 'TCP' }, errors) => {
    errors.oneOf('protocol', protocol, protocols);
    if (port !== undefined) validatePort(port, errors.at('port'));
    if (endPort !== undefined) validateEndPort(endPort, port, errors.at('endPort'));
  });
}

function validateEndPort(
  endPort: number,
  port: number | string | undefined,
  errors: FieldErrors,
): void {
  if (port === undefined) {
    errors.invalid('', endPort, 'may not be specified when `port` is not specified');
  } else if (typeof port === 'string') {
    errors.invalid('', endPort, 'may not be specified when `port` is non-numeric');
  } else {
    // The real server shows `port`, not `endPort`, in this error.
    if (endPort < port) errors.invalid('', port, 'must be greater than or equal to `port`');
    validatePortNumber(endPort, errors);
  }
}

function validatePeer(peer: Wire<V1NetworkPolicyPeer>, errors: FieldErrors): void {
  const { ipBlock, podSelector, namespaceSelector } = peer;
  validateLabelSelector(podSelector, errors.at('podSelector'));
  validateLabelSelector(namespaceSelector, errors.at('namespaceSelector'));
  if (ipBlock !== undefined) validateBlock(ipBlock, errors.at('ipBlock'));
  const members = Object.keys(peer);
  if (members.length === 0) errors.required('', 'must specify a peer');
  else if (ipBlock !== undefined && members.length > 1) {
    errors.forbidden('', 'may not specify both ipBlock and another peer');
  }
}

function validateBlock({ cidr, except = [] }: Wire<V1IPBlock>, errors: FieldErrors): void {
  if (cidr === '') {
    errors.required('cidr');
    return;
  }
  validateCidr(cidr, errors.at('cidr'));
  if (!isReadableCidr(cidr)) return;
  errors.each('except', except, (range, errors) => {
    validateCidr(range, errors);
    if (isReadableCidr(range) && !isStrictSubset(range, cidr)) {
      errors.invalid('', range, 'must be a strict subset of `cidr`');
    }
  });
}

const networkPolicyRules: KindRules = typedRules<NetworkPolicy>({
  defaults: defaultNetworkPolicy,
  validate: validateNetworkPolicy,
  specChanged,
  emptyListsCount: { member: 'spec', defaulted: ['policyTypes'] },
});

export const networkingRules: Readonly<Record<string, KindRules>> = {
  'networking.k8s.io/v1/Ingress': typedRules<Ingress>({
    validate: validateIngress,
    validateCreate: validateClassAnnotation,
    specChanged,
  }),
  'networking.k8s.io/v1/IngressClass': ingressClass,
  'networking.k8s.io/v1/NetworkPolicy': networkPolicyRules,
  'discovery.k8s.io/v1/EndpointSlice': endpointSliceRules,
  '/v1/Endpoints': endpointsRules,
};
