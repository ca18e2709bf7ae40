import type { V1Service } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';

/** Fills in the defaults of a Service, in place. Addresses are allocated later. */
export function defaultService({ spec, status }: Wire<V1Service>): void {
  if (spec === undefined) return;
  spec.sessionAffinity ??= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    const timeoutSeconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10_800;
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds } };
  }
  spec.type ??= 'ClusterIP';
  for (const port of spec.ports ?? []) {
    port.protocol ??= 'TCP';
    const { targetPort } = port;
    if (targetPort === undefined || targetPort === 0 || targetPort === '') {
      port.targetPort = port.port;
    }
  }
  const external =
    spec.type === 'NodePort' ||
    spec.type === 'LoadBalancer' ||
    (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);
  if (external) spec.externalTrafficPolicy ??= 'Cluster';
  if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type !== 'LoadBalancer') return;
  spec.allocateLoadBalancerNodePorts ??= true;
  for (const ingress of status?.loadBalancer?.ingress ?? []) {
    if ((ingress.ip ?? '') !== '') ingress.ipMode ??= 'VIP';
  }
}
