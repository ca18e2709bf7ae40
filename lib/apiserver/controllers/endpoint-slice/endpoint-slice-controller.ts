import type { ObjectKey } from '../../../object/kubernetes-object.js';
import { EndpointSlice, Pod, Service } from '../../../object/kinds.js';
import type { LabelSelector } from '../../../object/label-selector.js';
import { keyOf } from '../../../object/object-key.js';
import { controllerOf, ownerReferenceTo } from '../../../object/owner-reference.js';
import type { ControllerHost } from '../controller-host.js';
import { deepEqual } from '../../../object/deep-equal.js';
import { manager } from '../manager-name.js';
import { ObjectIndex, labelWords, selectorWords } from '../object-index.js';
import type { ObjectWriter } from '../object-writer.js';
import { timestamp } from '../timestamp.js';
import type { WorkQueue } from '../work-queue.js';
import { serviceEndpoints } from './service-endpoints.js';
import type { EndpointGroup } from './service-endpoints.js';

/** Keeps the EndpointSlices of each Service with a selector up to date. */
export function startEndpointSliceController(host: ControllerHost): void {
  new EndpointSliceController(host).start();
}

// The real controller's default.
const endpointsPerSlice = 100;
const triggerAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
const managedBy = 'endpointslice-controller.k8s.io';

class EndpointSliceController {
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
  }

  start(): void {
    this.#host.watch(Pod, ({ type, object, previous }) => {
      if (type === 'MODIFIED' && previous && !concernsEndpoints(previous, object)) return;
      for (const pod of previous === undefined ? [object] : [object, previous]) {
        const { namespace, labels } = pod.metadata;
        for (const service of this.#services.find(namespace, labelWords(labels))) {
          if (selects(service, pod)) this.#queue.add(keyOf(service));
        }
      }
    });
    this.#host.watch(EndpointSlice, ({ type, object }) => {
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
    if (live === undefined) {
      const made = sliceFor(service, { ports, endpoints });
      const annotations = this.#triggered();
      await this.#writer.create({ ...made, metadata: { ...made.metadata, annotations } });
      return;
    }
    if (sameList(live.endpoints, endpoints) && sameList(live.ports, ports)) return;
    const annotations = { ...live.metadata.annotations, ...this.#triggered() };
    const metadata = { ...live.metadata, annotations };
    const content = { ports: [...ports], endpoints: [...endpoints] };
    await this.#writer.update({ ...live, metadata, ...content });
  }

  #triggered(): Record<string, string> {
    return { [triggerAnnotation]: timestamp(this.#host.now()) };
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
