import type { EndpointSlice, Pod, Service } from '../../../object/kinds.js';
import { isPodFinished, isPodReady, isPodTerminating } from '../pod-state.js';

/** One of the `endpoints` of an EndpointSlice. */
export type Endpoint = EndpointSlice['endpoints'][number];
/** One of the `ports` of an EndpointSlice. */
export type EndpointPort = NonNullable<EndpointSlice['ports']>[number];

/** Endpoints with the same ports, which can share a slice. */
export interface EndpointGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

/** Returns the endpoints of a Service, grouped by ports: a named target port may differ between pods. */
export function serviceEndpoints(service: Service, pods: readonly Pod[]): EndpointGroup[] {
  const groups = new Map<string, { ports: EndpointPort[]; endpoints: Endpoint[] }>();
  for (const pod of pods) {
    if (pod.status?.podIP === undefined || isPodFinished(pod)) continue;
    const ports = portsOn(pod, service);
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    groups.set(key, group);
    group.endpoints.push(endpointOf(pod, service));
  }
  // As in the real controller, a Service without pods has one empty slice.
  return groups.size === 0 ? [{ ports: [], endpoints: [] }] : [...groups.values()];
}

function endpointOf(pod: Pod, service: Service): Endpoint {
  const terminating = isPodTerminating(pod);
  const publishes = service.spec?.publishNotReadyAddresses === true;
  const serving = isPodReady(pod);
  const { name, namespace, uid } = pod.metadata;
  const { hostname, subdomain, nodeName } = pod.spec ?? {};
  // Only this subdomain gives the pod's hostname a DNS name under the Service.
  const named = hostname && subdomain === service.metadata.name;
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: { ready: publishes || (serving && !terminating), serving, terminating },
    ...(named ? { hostname } : {}),
    ...(nodeName !== undefined && { nodeName }),
    targetRef: {
      kind: 'Pod',
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      ...(uid !== undefined && { uid }),
    },
  };
}

function portsOn(pod: Pod, service: Service): EndpointPort[] {
  return (service.spec?.ports ?? []).flatMap((port) => {
    const number = targetPort(pod, port.targetPort || port.port);
    if (number === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = port;
    return { name, port: number, protocol, ...(appProtocol !== undefined && { appProtocol }) };
  });
}

function targetPort(pod: Pod, target: number | string): number | undefined {
  if (typeof target === 'number') return target;
  const ports = (pod.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  return ports.find(({ name }) => name === target)?.containerPort;
}
