import type { V1Service, V1ServiceSpec } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { defaultService } from '../defaulting/service.js';
import { validateService, validateServiceUpdate } from '../validation/services.js';
import { deepEqual } from '../../object/deep-equal.js';
import type { KindRules } from './kind-rules.js';
import { allocateAddresses, needsClusterIp, needsNodePort } from './service-addresses.js';
import { typedRules } from './typed-rules.js';

type Service = Wire<V1Service>;
type ServiceSpec = Wire<V1ServiceSpec>;

/** Keeps the addresses that an update omits. */
function keepAddresses(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIp(old) && needsClusterIp(spec)) {
    if ((spec.clusterIP ?? '') === '' && old.clusterIP !== undefined) {
      spec.clusterIP = old.clusterIP;
    }
    if ((spec.clusterIPs ?? []).length === 0 && spec.clusterIP === old.clusterIP) {
      if (old.clusterIPs !== undefined) spec.clusterIPs = [...old.clusterIPs];
    }
    if (spec.ipFamilies === undefined && old.ipFamilies !== undefined) {
      spec.ipFamilies = [...old.ipFamilies];
    }
    if (spec.ipFamilyPolicy === undefined && old.ipFamilyPolicy !== undefined) {
      spec.ipFamilyPolicy = old.ipFamilyPolicy;
    }
    // If only one of the two fields changed, the other follows.
    if (spec.clusterIP !== old.clusterIP && deepEqual(spec.clusterIPs, old.clusterIPs)) {
      spec.clusterIPs = [spec.clusterIP ?? ''];
    }
  }
  if (needsNodePort(old) && needsNodePort(spec)) keepNodePorts(spec, old);
}

function keepNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const before = new Map((old.ports ?? []).map(({ name = '', nodePort }) => [name, nodePort]));
  const used = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
  for (const port of spec.ports ?? []) {
    const kept = before.get(port.name ?? '');
    if (port.nodePort !== undefined || kept === undefined || used.has(kept)) continue;
    port.nodePort = kept;
    used.add(kept);
  }
  if (old.healthCheckNodePort !== undefined) spec.healthCheckNodePort ??= old.healthCheckNodePort;
}

/** Drops unchanged fields that only the old type needs. */
function dropUnneeded(spec: ServiceSpec, old: ServiceSpec): void {
  if (spec.type === 'ExternalName') delete spec.internalTrafficPolicy;
  if (needsClusterIp(old) && !needsClusterIp(spec)) {
    if (spec.clusterIP === old.clusterIP) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (deepEqual(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies;
    if (spec.ipFamilyPolicy === old.ipFamilyPolicy) delete spec.ipFamilyPolicy;
  }
  if (needsNodePort(old) && !needsNodePort(spec)) {
    const portsOf = ({ ports = [] }: ServiceSpec): unknown => ports.map(({ nodePort }) => nodePort);
    if (deepEqual(portsOf(spec), portsOf(old))) {
      for (const port of spec.ports ?? []) delete port.nodePort;
    }
  }
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    delete spec.allocateLoadBalancerNodePorts;
    delete spec.loadBalancerClass;
    delete spec.healthCheckNodePort;
  }
  const external = ({ type, externalIPs = [] }: ServiceSpec): boolean =>
    type === 'NodePort' || type === 'LoadBalancer' || externalIPs.length > 0;
  if (
    external(old) &&
    !external(spec) &&
    spec.externalTrafficPolicy === old.externalTrafficPolicy
  ) {
    delete spec.externalTrafficPolicy;
  }
}

const preferCloseWarning =
  'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"';

/** The rules of Services: they allocate addresses, and keep those that an update omits. */
export const serviceRules: KindRules = typedRules<Service>(
  {
    defaults: defaultService,
    prepareForCreate: (service, server) => allocateAddresses(service, server),
    prepareForUpdate: (service, { spec: old }, server) => {
      if (service.spec === undefined || old === undefined) return;
      keepAddresses(service.spec, old);
      dropUnneeded(service.spec, old);
      const changed = !deepEqual(service.spec.clusterIPs, old.clusterIPs);
      // Validation refuses a changed address, whether it is free or not.
      if (!changed || service.spec.clusterIPs === undefined || !needsClusterIp(old)) {
        allocateAddresses(service, server);
      }
    },
    validate: validateService,
    validateUpdate: validateServiceUpdate,
    warnings: ({ spec }) =>
      spec?.trafficDistribution === 'PreferClose' ? [preferCloseWarning] : [],
    selectableFields: ({ spec }) => ({
      'spec.clusterIP': spec?.clusterIP ?? '',
      'spec.type': spec?.type ?? '',
    }),
  },
  { createOnUpdate: true, nameFormat: 'label', answersDeleted: true },
);
