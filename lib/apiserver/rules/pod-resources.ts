import type { V1Container, V1PodSpec, V1ResourceRequirements } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { addQuantities, compareQuantities, formatQuantity } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { hadEmptyMember } from '../go-json/go-types.js';
import { quantityOf, validateRequirements, validateResourceName } from './resources.js';

type PodSpec = Wire<V1PodSpec>;
type Container = Wire<V1Container>;
type Amounts = Readonly<Record<string, string>>;
type List = 'requests' | 'limits';

const qosResources = ['cpu', 'memory'];

/** Returns the regular containers of a pod. The decoder sets a missing list to null, as Go does. */
function regularContainers({
  containers,
}: {
  readonly containers: readonly Container[] | null;
}): readonly Container[] {
  return containers ?? [];
}

export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}

/** Returns the quality of service class from the requests and limits of a pod, or those of its containers. */
export function qosClassOf(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const all: readonly Pick<Container, 'resources'>[] =
    spec.resources === undefined
      ? [...regularContainers(spec), ...(spec.initContainers ?? [])]
      : [{ resources: spec.resources }];
  const sum = (list: List): Amounts => sumOf(all.map(({ resources }) => counted(resources, list)));
  const [requests, limits] = [sum('requests'), sum('limits')];
  const names = Object.keys({ ...requests, ...limits });
  if (names.length === 0) return 'BestEffort';
  const isLimited = all.every(({ resources }) => {
    const own = counted(resources, 'limits');
    const isWhole =
      spec.resources !== undefined && Object.keys(resources?.limits ?? {}).length === 0;
    return isWhole || qosResources.every((name) => own[name] !== undefined);
  });
  const isGuaranteed = names.every((name) => {
    const [request, limit] = [requests[name], limits[name]];
    return request !== undefined && limit !== undefined && compareQuantities(request, limit) === 0;
  });
  return isLimited && isGuaranteed ? 'Guaranteed' : 'Burstable';
}

/** Returns the amounts of CPU and memory, without zeros. */
function counted(resources: Container['resources'], list: List): Amounts {
  const amounts = Object.entries(resources?.[list] ?? {});
  return Object.fromEntries(
    amounts.filter(
      ([name, amount]) => qosResources.includes(name) && compareQuantities(amount, 0) > 0,
    ),
  );
}

function sumOf(lists: readonly Amounts[]): Amounts {
  const sum = new Map<string, string>();
  for (const [name, amount] of lists.flatMap((list) => Object.entries(list))) {
    sum.set(name, formatQuantity(addQuantities(amount, sum.get(name) ?? 0)));
  }
  return Object.fromEntries(sum);
}

export function largestOf(...all: readonly (Amounts | undefined)[]): Amounts {
  const largest = new Map<string, string>();
  for (const [name, amount] of all.flatMap((amounts = {}) => Object.entries(amounts))) {
    const known = largest.get(name);
    if (known === undefined || compareQuantities(amount, known) > 0) largest.set(name, amount);
  }
  return Object.fromEntries(largest);
}

/**
 * Returns the resources that the containers of a pod need together. Sidecars run along with the regular containers, and
 * with the init containers after them.
 */
function aggregateOf(spec: PodSpec, list: List): Amounts {
  const { initContainers = [] } = spec;
  const of = ({ resources }: Container): Amounts => resources?.[list] ?? {};
  let sidecars: Amounts = {};
  let starting: Amounts = {};
  for (const container of initContainers) {
    const together = sumOf([sidecars, of(container)]);
    if (isSidecar(container)) sidecars = together;
    starting = largestOf(starting, together);
  }
  return largestOf(sumOf([...regularContainers(spec).map(of), sidecars]), starting);
}

/** Returns the requests or limits of a pod without its overhead: the pod's own, or else those of its containers. */
export function podAmounts(spec: PodSpec, list: List): Amounts {
  return { ...aggregateOf(spec, list), ...spec.resources?.[list] };
}

export function podRequests(spec: PodSpec): Amounts {
  return sumOf([podAmounts(spec, 'requests'), spec.overhead ?? {}]);
}

/** Returns the limits of a pod. The overhead is added only to resources that have a limit. */
export function podLimits(spec: PodSpec): Amounts {
  const limits = podAmounts(spec, 'limits');
  const overhead = Object.entries(spec.overhead ?? {}).filter(
    ([name]) => compareQuantities(limits[name] ?? 0, 0) > 0,
  );
  return sumOf([limits, Object.fromEntries(overhead)]);
}

function isPodResource(name: string): boolean {
  return qosResources.includes(name) || isHugePage(name);
}

function isHugePage(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** If a pod has its own requests or limits, adds missing ones from those of its containers. */
export function defaultPodResources(spec: PodSpec): void {
  const { resources } = spec;
  if (resources === undefined) return;
  const limits = limitsWithPages(spec, resources);
  if (Object.keys(limits).length === 0) return;
  const wanted = Object.entries(aggregateOf(spec, 'requests')).filter(([name]) =>
    qosResources.includes(name),
  );
  const own = Object.entries(limits).filter(([name]) => isPodResource(name));
  const requests = { ...Object.fromEntries([...own, ...wanted]), ...resources.requests };
  resources.limits = limits;
  if (Object.keys(requests).length > 0) resources.requests = requests;
}

/** Returns the limits of a pod. Huge pages that the pod itself does not request get the limit of its containers. */
function limitsWithPages(
  spec: PodSpec,
  { limits, requests }: Wire<V1ResourceRequirements>,
): Amounts {
  if (Object.keys({ ...limits, ...requests }).length === 0) return {};
  const pages = Object.entries(aggregateOf(spec, 'limits')).filter(
    ([name]) => isHugePage(name) && requests?.[name] === undefined,
  );
  return { ...Object.fromEntries(pages), ...limits };
}

export function validatePodResources(
  spec: PodSpec,
  claims: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  const { resources, os } = spec;
  if (resources === undefined) return;
  if (os?.name === 'windows') {
    errors.forbidden('', 'may not be set for a windows pod');
    return;
  }
  if (resources.claims !== undefined || hadEmptyMember(resources, 'claims')) {
    errors.forbidden('claims', 'claims may not be set for Resources at pod-level');
  }
  validateRequirements(resources, { claims, validateName: validatePodResourceName }, errors);
  validateConsistency(spec, resources, errors);
}

function validatePodResourceName(name: string, errors: FieldErrors): void {
  const before = errors.causes.length;
  validateResourceName(name, errors);
  if (errors.causes.length > before || isPodResource(name)) return;
  errors.notSupported('', name, ['cpu', 'hugepages-', 'memory']);
}

/** Checks that a pod requests and limits no less than its containers. */
function validateConsistency(
  spec: PodSpec,
  { requests = {}, limits = {} }: Wire<V1ResourceRequirements>,
  errors: FieldErrors,
): void {
  const atLeast = (list: List, amounts: Amounts, needed: Amounts): void => {
    for (const [name, amount] of Object.entries(needed)) {
      const own = quantityOf(amounts, name);
      if (own === undefined || compareQuantities(amount, own) <= 0) continue;
      const why = `must be greater than or equal to aggregate container ${list} of ${amount}`;
      errors.invalid(`${list}[${name}]`, own, why);
    }
  };
  atLeast('requests', requests, aggregateOf(spec, 'requests'));
  const pages = Object.entries(aggregateOf(spec, 'limits')).filter(([name]) => isHugePage(name));
  atLeast('limits', limits, Object.fromEntries(pages));
  errors.each('containers', regularContainers(spec), ({ resources }, errors) => {
    for (const [name, amount] of Object.entries(resources?.limits ?? {})) {
      const own = quantityOf(limits, name);
      if (own === undefined || compareQuantities(amount, own) <= 0) continue;
      const why = `must be less than or equal to pod limits of ${own}`;
      errors.invalid(`[${name}].limits`, amount, why);
    }
  });
}
