import type {
  V1IPBlock,
  V1NetworkPolicy,
  V1NetworkPolicyPeer,
  V1NetworkPolicyPort,
} from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { isStrictSubset, validateCidr } from '../validation/addresses.js';
import type { FieldErrors } from '../validation/field-errors.js';
import { validateLabelSelector } from '../validation/label-selector.js';
import { validatePort } from '../validation/numbers.js';
import type { KindRules } from './kind-rules.js';
import { specChanged } from './spec-changed.js';
import { typedRules } from './typed-rules.js';

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
  validateLabelSelector(spec.podSelector, 'spec.podSelector', errors);
  const { ingress = [], egress = [], policyTypes = [] } = spec;
  for (const [index, { ports = [], from = [] }] of ingress.entries()) {
    validatePorts(ports, `spec.ingress[${index}].ports`, errors);
    for (const [at, peer] of from.entries()) {
      validatePeer(peer, `spec.ingress[${index}].from[${at}]`, errors);
    }
  }
  for (const [index, { ports = [], to = [] }] of egress.entries()) {
    validatePorts(ports, `spec.egress[${index}].ports`, errors);
    for (const [at, peer] of to.entries()) {
      validatePeer(peer, `spec.egress[${index}].to[${at}]`, errors);
    }
  }
  const types = ['Ingress', 'Egress'];
  if (policyTypes.length > types.length) {
    errors.invalid('spec.policyTypes', policyTypes, 'may not specify more than two policyTypes');
    return;
  }
  for (const [index, type] of policyTypes.entries()) {
    if (!types.includes(type)) errors.notSupported(`spec.policyTypes[${index}]`, type, types);
  }
}

function validatePorts(
  ports: readonly Wire<V1NetworkPolicyPort>[],
  field: string,
  errors: FieldErrors,
): void {
  const protocols = ['TCP', 'UDP', 'SCTP'];
  for (const [index, { port, endPort, protocol = 'TCP' }] of ports.entries()) {
    const path = `${field}[${index}]`;
    if (!protocols.includes(protocol)) {
      errors.notSupported(`${path}.protocol`, protocol, protocols);
    }
    if (port !== undefined) validatePort(port, `${path}.port`, errors);
    if (endPort === undefined) continue;
    const why = endPortProblem(endPort, port);
    if (why !== undefined) errors.invalid(`${path}.endPort`, why.value, why.detail);
  }
}

function endPortProblem(
  endPort: number,
  port: number | string | undefined,
): { value: number; detail: string } | undefined {
  const said = (detail: string, value = endPort): { value: number; detail: string } => ({
    value,
    detail,
  });
  if (port === undefined) return said('may not be specified when `port` is not specified');
  if (typeof port === 'string') return said('may not be specified when `port` is non-numeric');
  // The real server shows the port here.
  return endPort < port ? said('must be greater than or equal to `port`', port) : undefined;
}

function validatePeer(peer: Wire<V1NetworkPolicyPeer>, field: string, errors: FieldErrors): void {
  const { ipBlock, podSelector, namespaceSelector } = peer;
  validateLabelSelector(podSelector, `${field}.podSelector`, errors);
  validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`, errors);
  if (ipBlock !== undefined) validateBlock(ipBlock, `${field}.ipBlock`, errors);
  const members = Object.keys(peer);
  if (members.length === 0) errors.required(field, 'must specify a peer');
  else if (ipBlock !== undefined && members.length > 1) {
    errors.forbidden(field, 'may not specify both ipBlock and another peer');
  }
}

function validateBlock(
  { cidr, except = [] }: Wire<V1IPBlock>,
  field: string,
  errors: FieldErrors,
): void {
  if (cidr === '') {
    errors.required(`${field}.cidr`);
    return;
  }
  if (!validateCidr(cidr, `${field}.cidr`, errors)) return;
  for (const [index, range] of except.entries()) {
    const path = `${field}.except[${index}]`;
    if (!validateCidr(range, path, errors)) continue;
    if (!isStrictSubset(range, cidr)) {
      errors.invalid(path, range, 'must be a strict subset of `cidr`');
    }
  }
}

/** The rules of NetworkPolicies. */
export const networkPolicyRules: KindRules = typedRules<NetworkPolicy>(
  { defaults: defaultNetworkPolicy, validate: validateNetworkPolicy },
  { specChanged },
);
