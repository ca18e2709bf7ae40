import {
  formatTime,
  deepEqual,
  EndpointSlice,
  Pod,
  Service,
  keyOf,
  controllerOf,
  ownerReferenceTo,
} from '../../object/index.js';
import type { ObjectKey, LabelSelector } from '../../object/index.js';
import { ObjectIndex, labelWords, manager, selectorWords } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { isPodFinished, isPodReady, isPodTerminating } from './pod-state.js';
import type { WorkQueue } from './work-queue.js';

// The real controller's default.
const endpointsPerSlice = 100;
const triggerAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
const managedBy = 'endpointslice-controller.k8s.io';

/** Keeps the EndpointSlices of each Service with a selector up to date. */
export class EndpointSliceController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #queue: WorkQueue<ObjectKey>;
  readonly #pods: ObjectIndex<Pod>;
  readonly #services: ObjectIndex<Service>;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#pods = host.podsByLabel;
    this.#services = new ObjectIndex(host, Service, (service) =>
      selectorWords(selectorOf(service)),
    );
    this.#queue = host.objectQueue(Service, 'endpoint-slices', (key) => this.#reconcile(key));
    host.watch(Pod, ({ type, object, previous }) => {
      if (type === 'MODIFIED' && previous && !concernsEndpoints(previous, object)) return;
      for (const pod of previous === undefined ? [object] : [object, previous]) {
        const { namespace, labels } = pod.metadata;
        for (const service of this.#services.find(namespace, labelWords(labels))) {
          if (selects(service, pod)) this.#queue.add(keyOf(service));
        }
      }
    });
    host.watch(EndpointSlice, ({ type, object }) => {
      const controller = controllerOf(object);
      if (type === 'ADDED' || controller?.kind !== 'Service') return;
      this.#queue.add({ namespace: object.metadata.namespace, name: controller.name });
    });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const service = this.#host.get(Service, key);
    if (service === undefined || service.metadata.deletionTimestamp !== undefined) return;
    if (service.spec?.selector === undefined || service.spec.type === 'ExternalName') return;
    const candidates = this.#pods.find(key.namespace, selectorWords(selectorOf(service)));
    const pods = candidates.filter((pod) => selects(service, pod));
    const wanted = serviceEndpoints(service, pods).flatMap(chunked);
    const live = this.#host.controlled(EndpointSlice, service);
    const surplus = live.slice(wanted.length);
    for (const [index, group] of wanted.entries()) {
      await this.#write(service, group, live[index]);
    }
    for (const slice of surplus) await this.#writer.delete(EndpointSlice, slice);
  }

  async #write(
    service: Service,
    { ports, endpoints }: EndpointGroup,
    live: EndpointSlice | undefined,
  ): Promise<void> {
    const made = sliceFor(service, { ports, endpoints });
    if (live === undefined) {
      const annotations = this.#triggered();
      await this.#writer.create({ ...made, metadata: { ...made.metadata, annotations } });
      return;
    }
    const { labels = {} } = made.metadata;
    const sameLabels = deepEqual(live.metadata.labels, labels);
    if (sameLabels && sameList(live.endpoints, endpoints) && sameList(live.ports, ports)) return;
    const annotations = { ...live.metadata.annotations, ...this.#triggered() };
    const metadata = { ...live.metadata, labels, annotations };
    const content = { ports: [...ports], endpoints: [...endpoints] };
    await this.#writer.update({ ...live, metadata, ...content });
  }

  #triggered(): Record<string, string> {
    return { [triggerAnnotation]: formatTime(this.#host.now()) };
  }
}

function selects({ spec }: Service, { metadata }: Pod): boolean {
  const wanted = Object.entries(spec?.selector ?? {});
  return wanted.length > 0 && wanted.every(([key, value]) => metadata.labels?.[key] === value);
}

function selectorOf({ spec }: Service): LabelSelector | undefined {
  return spec?.selector && { matchLabels: spec.selector };
}

/** Returns true if both lists are equal; Go writes an empty list as null. */
function sameList(
  live: readonly unknown[] | null | undefined,
  wanted: readonly unknown[],
): boolean {
  return deepEqual(live ?? [], wanted);
}

function chunked({ ports, endpoints }: EndpointGroup): EndpointGroup[] {
  const count = Math.max(1, Math.ceil(endpoints.length / endpointsPerSlice));
  return Array.from({ length: count }, (_, index) => {
    const from = index * endpointsPerSlice;
    return { ports, endpoints: endpoints.slice(from, from + endpointsPerSlice) };
  });
}

function sliceFor(service: Service, { ports, endpoints }: EndpointGroup): EndpointSlice {
  const { name = '', namespace = '', labels } = service.metadata;
  const headless =
    service.spec?.clusterIP === 'None' ? { 'service.kubernetes.io/headless': '' } : {};
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels: {
        ...labels,
        ...headless,
        'endpointslice.kubernetes.io/managed-by': managedBy,
        'kubernetes.io/service-name': name,
      },
      ownerReferences: [ownerReferenceTo(service, { controller: true, blockOwnerDeletion: true })],
    },
    addressType: 'IPv4',
    ports: [...ports],
    endpoints: [...endpoints],
  };
}

function concernsEndpoints(before: Pod, after: Pod): boolean {
  const facts = ({ metadata, spec, status }: Pod): unknown => [
    metadata.labels,
    metadata.deletionTimestamp,
    spec?.nodeName,
    status?.podIP,
    status?.phase,
    status?.conditions?.find(({ type }) => type === 'Ready')?.status,
  ];
  return !deepEqual(facts(before), facts(after));
}

type Endpoint = EndpointSlice['endpoints'][number];
type EndpointPort = NonNullable<EndpointSlice['ports']>[number];

/** Endpoints with the same ports, which can share a slice. */
interface EndpointGroup {
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
  // The pod's hostname has a DNS name under the Service only if the subdomain is the name of the Service.
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
    const { name = '', protocol = 'TCP', appProtocol } = port;
    const number = targetPort(pod, port.targetPort || port.port, protocol);
    if (number === undefined) return [];
    return { name, port: number, protocol, ...(appProtocol !== undefined && { appProtocol }) };
  });
}

function targetPort({ spec }: Pod, target: number | string, wanted: string): number | undefined {
  if (typeof target === 'number') return target;
  const sidecars = (spec?.initContainers ?? []).filter((one) => one.restartPolicy === 'Always');
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((one) => one.ports ?? []);
  const isTarget = ({ name, protocol = 'TCP' }: (typeof ports)[number]): boolean =>
    name === target && protocol === wanted;
  return ports.find(isTarget)?.containerPort;
}
