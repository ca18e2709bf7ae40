import type { V1Service, V1ServiceSpec } from '@kubernetes/client-node';
import { deepEqual } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import {
  allocatesNodePorts,
  needsClusterIp,
  needsHealthCheck,
  needsNodePort,
} from './service-addresses.js';

type ServiceSpec = Wire<V1ServiceSpec>;

/** Keeps the addresses that an update omits. */
export function keepAddresses(spec: ServiceSpec, old: ServiceSpec): void {
  const { clusterIPs: before = [] } = old;
  if (needsClusterIp(old) && needsClusterIp(spec)) {
    if ((spec.clusterIP ?? '') === '' && old.clusterIP !== undefined) {
      spec.clusterIP = old.clusterIP;
    }
    if ((spec.clusterIPs ?? []).length === 0 && before.length > 0) spec.clusterIPs = [...before];
  }
  matchClusterIps(spec, old);
  if (allocatesNodePorts(old) && allocatesNodePorts(spec)) keepNodePorts(spec, old);
  const { healthCheckNodePort } = old;
  if (needsHealthCheck(old) && needsHealthCheck(spec) && healthCheckNodePort !== undefined) {
    spec.healthCheckNodePort ??= healthCheckNodePort;
  }
}

/** If an update changes `clusterIP` but not `clusterIPs`, adapts `clusterIPs`. */
function matchClusterIps(spec: ServiceSpec, old: ServiceSpec): void {
  const { clusterIP = '', clusterIPs = [] } = spec;
  if (clusterIP === (old.clusterIP ?? '') || !deepEqual(clusterIPs, old.clusterIPs ?? [])) return;
  if (clusterIP === '') delete spec.clusterIPs;
  else spec.clusterIPs = [clusterIP];
}

function keepNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const before = new Map((old.ports ?? []).map(({ name = '', nodePort }) => [name, nodePort]));
  const used = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
  for (const port of spec.ports ?? []) {
    const kept = before.get(port.name ?? '');
    if (port.nodePort !== undefined || kept === undefined || used.has(kept)) continue;
    port.nodePort = kept;
  }
}

/** Drops unchanged fields that only the old type needs. */
export function dropUnneeded(service: Wire<V1Service>, old: ServiceSpec): void {
  const { spec = {}, status } = service;
  if (needsClusterIp(old) && !needsClusterIp(spec)) dropClusterIps(spec, old);
  if (needsNodePort(old) && !needsNodePort(spec)) dropNodePorts(spec, old);
  if (needsHealthCheck(old) && !needsHealthCheck(spec)) dropSame(spec, old, 'healthCheckNodePort');
  if (isExternal(old) && !isExternal(spec)) dropSame(spec, old, 'externalTrafficPolicy');
  if (spec.type === 'LoadBalancer') return;
  if (old.type === 'LoadBalancer') {
    dropSame(spec, old, 'allocateLoadBalancerNodePorts');
    dropSame(spec, old, 'loadBalancerClass');
  }
  if (status?.loadBalancer?.ingress !== undefined) service.status = { ...status, loadBalancer: {} };
}

function dropSame(spec: ServiceSpec, old: ServiceSpec, member: keyof ServiceSpec): void {
  if (deepEqual(spec[member], old[member])) Reflect.deleteProperty(spec, member);
}

function dropClusterIps(spec: ServiceSpec, old: ServiceSpec): void {
  if (spec.clusterIP === old.clusterIP && deepEqual(spec.clusterIPs, old.clusterIPs)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  dropSame(spec, old, 'ipFamilies');
  dropSame(spec, old, 'ipFamilyPolicy');
}

/** Drops the node ports, unless the update names new ones. */
function dropNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const before = new Set((old.ports ?? []).map(({ nodePort }) => nodePort));
  const { ports = [] } = spec;
  if (ports.some(({ nodePort }) => nodePort !== undefined && !before.has(nodePort))) return;
  for (const port of ports) delete port.nodePort;
}

function isExternal({ type, externalIPs = [] }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer' || externalIPs.length > 0;
}
