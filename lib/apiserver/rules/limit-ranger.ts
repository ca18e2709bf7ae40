import type {
  V1Container,
  V1LimitRange,
  V1LimitRangeItem,
  V1PersistentVolumeClaim,
  V1Pod,
} from '@kubernetes/client-node';
import { canonicalQuantity, compareQuantities } from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { aggregated, forbidden } from '../status-error.js';
import type { ServerView } from './kind-rules.js';
import { podAmounts } from './pod-resources.js';
import { quantityNumber } from './resources.js';

type Item = Wire<V1LimitRangeItem>;
type Container = Wire<V1Container>;
type Amounts = Readonly<Record<string, string>>;

interface Resources {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** Names the fields that LimitRanges filled in. */
const filledAnnotation = 'kubernetes.io/limit-ranger';

/** Fills in the requests and limits of containers without them, from the LimitRanges of the namespace. */
export function fillFromLimitRanges(
  { metadata = {}, spec }: Wire<V1Pod>,
  server: ServerView,
): void {
  for (const item of itemsOf(metadata.namespace, server)) {
    if (item.type !== 'Container') continue;
    const filled = [
      ...(spec?.containers ?? []).flatMap((one) => fill(one, item, `container ${one.name}`)),
      ...(spec?.initContainers ?? []).flatMap((one) =>
        fill(one, item, `init container ${one.name}`),
      ),
    ];
    if (filled.length === 0) continue;
    const note = `LimitRanger plugin set: ${filled.join('; ')}`;
    metadata.annotations = { ...metadata.annotations, [filledAnnotation]: note };
  }
}

/** Fills in the default requests and limits of a container. Returns a description of each that it filled in. */
function fill(container: Container, item: Item, shown: string): string[] {
  const resources = (container.resources ??= {});
  return (['requests', 'limits'] as const).flatMap((member) => {
    const defaults = (member === 'requests' ? item.defaultRequest : item.default) ?? {};
    const given = resources[member] ?? {};
    const missing = Object.keys(defaults).filter((name) => given[name] === undefined);
    if (missing.length === 0) return [];
    resources[member] = { ...defaults, ...given };
    return [`${missing.toSorted().join(', ')} ${member.slice(0, -1)} for ${shown}`];
  });
}

/**
 * Checks a new Pod or claim against the LimitRanges of its namespace.
 * @throws StatusError 403: an amount is outside the limits.
 */
export function checkLimitRanges(
  collection: string,
  object: UnstructuredObject,
  server: ServerView,
): void {
  if (collection !== 'pods' && collection !== 'persistentvolumeclaims') return;
  const { namespace, name } = object.metadata;
  const problems = itemsOf(namespace, server).flatMap((item) =>
    collection === 'pods'
      ? podProblems(object as Wire<V1Pod>, item)
      : claimProblems(object as Wire<V1PersistentVolumeClaim>, item),
  );
  if (problems.length === 0) return;
  throw forbidden({ group: '', plural: collection, name }, aggregated(problems));
}

function podProblems({ spec }: Wire<V1Pod>, item: Item): string[] {
  if (spec === undefined) return [];
  const { containers, initContainers = [] } = spec;
  if (item.type === 'Pod') {
    const [requests, limits] = [podAmounts(spec, 'requests'), podAmounts(spec, 'limits')];
    return problemsOf({ requests, limits }, item);
  }
  if (item.type !== 'Container') return [];
  return [...containers, ...initContainers].flatMap(({ resources }) =>
    problemsOf({ requests: resources?.requests ?? {}, limits: resources?.limits ?? {} }, item),
  );
}

function claimProblems({ spec }: Wire<V1PersistentVolumeClaim>, item: Item): string[] {
  if (item.type !== 'PersistentVolumeClaim') return [];
  const { requests = {} } = spec?.resources ?? {};
  return [
    ...boundProblems(item, 'min', { request: requests }),
    ...boundProblems(item, 'max', { request: requests }),
  ];
}

function problemsOf({ requests, limits }: Resources, item: Item): string[] {
  return [
    ...boundProblems(item, 'min', { request: requests, limit: limits }),
    ...boundProblems(item, 'max', { limit: limits, request: requests }),
    ...ratioProblems({ requests, limits }, item),
  ];
}

/** @param amounts - requests or limits, by their names in messages; each bounded resource must be in the first entry */
function boundProblems(
  item: Item,
  member: 'min' | 'max',
  amounts: Readonly<Record<string, Amounts>>,
): string[] {
  const [sign, shown] = member === 'min' ? [-1, 'minimum'] : [1, 'maximum'];
  const [required = ''] = Object.keys(amounts);
  return Object.entries(item[member] ?? {}).flatMap(([name, limit]) => {
    const bound = `${shown} ${name} usage per ${item.type} is ${canonicalQuantity(limit)}`;
    if (amounts[required]?.[name] === undefined) return [`${bound}.  No ${required} is specified`];
    for (const [what, { [name]: amount }] of Object.entries(amounts)) {
      if (amount === undefined || compareQuantities(amount, limit) * sign <= 0) continue;
      return [`${bound}, but ${what} is ${canonicalQuantity(amount)}`];
    }
    return [];
  });
}

function ratioProblems({ requests, limits }: Resources, item: Item): string[] {
  return Object.entries(item.maxLimitRequestRatio ?? {}).flatMap(([name, most]) => {
    const shown = `${name} max limit to request ratio per ${item.type} is ${canonicalQuantity(most)}`;
    const [request = 0, limit = 0] = [requests[name], limits[name]];
    if (compareQuantities(request, 0) === 0) {
      return [`${shown}, but no request is specified or request is 0`];
    }
    if (compareQuantities(limit, 0) === 0) {
      return [`${shown}, but no limit is specified or limit is 0`];
    }
    const ratio = quantityNumber(limit) / quantityNumber(request);
    return ratio > quantityNumber(most)
      ? [`${shown}, but provided ratio is ${ratio.toFixed(6)}`]
      : [];
  });
}

function itemsOf(namespace: string | undefined, server: ServerView): Item[] {
  const items: Item[] = [];
  for (const object of server.all('limitranges')) {
    if (object.metadata.namespace !== namespace) continue;
    items.push(...((object as Wire<V1LimitRange>).spec?.limits ?? []));
  }
  return items;
}
