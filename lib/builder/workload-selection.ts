import { isKind, kindKey, rollsPods } from '../apply/index.js';
import {
  describeObject,
  isJsonObject,
  HorizontalPodAutoscaler,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
} from '../object/index.js';
import type { KubernetesObject, UnstructuredObject, ResourceType } from '../object/index.js';
import { nearestName, OperatorError } from '../system/index.js';
import type { BuilderSettings } from './builder-options.js';
import { workloadLabel } from './kinds/workloads.js';
import type { Link, ScaleTarget } from './link.js';

/** The way in which objects of a kind select pods or a workload. */
interface SelectingKind {
  readonly type: ResourceType<KubernetesObject>;
  /** The field of `spec` with the selection. */
  readonly field: string;
  /** Returns the field's value that selects `workload`. */
  readonly valueFor: (workload: UnstructuredObject) => object;
  /** Returns the labels in the field's value; undefined for kinds that do not select pods. */
  readonly labelsIn?: (value: unknown) => unknown;
  /** Other ways to fill the field, for error messages. */
  readonly otherwise: string;
}

const selectorOf = (workload: UnstructuredObject): { readonly matchLabels?: object } =>
  (workload['spec'] as { readonly selector?: object }).selector ?? {};
const matchLabelsIn = (value: unknown): unknown => isJsonObject(value) && value['matchLabels'];

const selectingKinds: readonly SelectingKind[] = [
  {
    ...{ type: Service, field: 'selector', labelsIn: (value) => value },
    valueFor: (workload) => selectorOf(workload).matchLabels ?? {},
    otherwise: '{} for a Service without pods',
  },
  {
    ...{ type: PodDisruptionBudget, field: 'selector', labelsIn: matchLabelsIn },
    ...{ valueFor: selectorOf, otherwise: '{} for all pods of the namespace' },
  },
  {
    ...{ type: NetworkPolicy, field: 'podSelector', labelsIn: matchLabelsIn },
    ...{ valueFor: selectorOf, otherwise: '{} for all pods of the namespace' },
  },
  {
    ...{ type: HorizontalPodAutoscaler, field: 'scaleTargetRef' },
    valueFor: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, name: metadata.name }),
    otherwise: 'for a workload that is not in the chain',
  },
];

/**
 * Fills in the selectors and scale targets of `links` from the workloads chained in the same namespace.
 * @throws OperatorError `UnknownReference`: an object would select nothing.
 * @throws OperatorError `InvalidOption`: an object has both `workload` and a selection, or two workloads have
 * the name.
 */
export function withSelections(
  links: readonly Link[],
  { namespace }: Pick<BuilderSettings, 'namespace'>,
): readonly Link[] {
  const placeOf = ({ metadata }: UnstructuredObject): string | undefined =>
    metadata.namespace ?? namespace;
  const workloads = links.map(({ object }) => object).filter((object) => rollsPods(object));
  return links.map((link) => {
    const { object } = link;
    const kind = selectingKinds.find(({ type }) => isKind(object, type));
    if (kind === undefined) return link;
    const near = workloads.filter((workload) => placeOf(workload) === placeOf(object));
    return withSelection(link, kind, near);
  });
}

function withSelection(
  link: Link,
  kind: SelectingKind,
  workloads: readonly UnstructuredObject[],
): Link {
  const { object, selects } = link;
  const spec = isJsonObject(object['spec']) ? object['spec'] : {};
  const given = spec[kind.field];
  if (selects !== undefined && given !== undefined && selects.explicit) {
    const message = `${describeObject(object)}: workload and spec.${kind.field} are both set; set only one`;
    throw new OperatorError('InvalidOption', message);
  }
  if (given !== undefined) {
    checkLabels(object, kind.labelsIn?.(given), workloads);
    return isKind(object, HorizontalPodAutoscaler) ? withTarget(link, given, workloads) : link;
  }
  if (selects === undefined || spec['type'] === 'ExternalName') return link;
  const workload = workloadNamed(selects.name, { object, kind, workloads });
  const filled = { ...spec, [kind.field]: kind.valueFor(workload) };
  return { ...link, object: { ...object, spec: filled } };
}

interface Wanted {
  readonly object: UnstructuredObject;
  readonly kind: SelectingKind;
  readonly workloads: readonly UnstructuredObject[];
}

function workloadNamed(name: string, { object, kind, workloads }: Wanted): UnstructuredObject {
  const [found, ...more] = workloads.filter(({ metadata }) => metadata.name === name);
  const remedy = `set workload, or spec.${kind.field} (${kind.otherwise})`;
  if (found === undefined) {
    const problem = `it is for workload ${name}, which is not in the chain; ${whatThereIs(name, workloads)}`;
    throw new OperatorError('UnknownReference', `${describeObject(object)}: ${problem}; ${remedy}`);
  }
  if (more.length === 0) return found;
  const kinds = [found, ...more].map((each) => describeObject(each)).join(' and ');
  const message = `${describeObject(object)}: workload ${name} may be ${kinds}; set spec.${kind.field}`;
  throw new OperatorError('InvalidOption', message);
}

function whatThereIs(name: string, workloads: readonly UnstructuredObject[]): string {
  const nearest = nearestName(
    name,
    workloads.flatMap(({ metadata }) => metadata.name ?? []),
  );
  const names = workloads.map((each) => describeObject(each)).join(', ');
  const chained = names === '' ? 'the chain has no workloads' : `the chain has ${names}`;
  return nearest === undefined ? chained : `${chained}; did you mean ${nearest}?`;
}

// Checks only the builder's own label in a selector: with other labels, users may select pods outside the
// chain.
function checkLabels(
  object: UnstructuredObject,
  labels: unknown,
  workloads: readonly UnstructuredObject[],
): void {
  const value = isJsonObject(labels) ? labels[workloadLabel] : undefined;
  if (typeof value !== 'string') return;
  const values = workloads.flatMap((workload) => {
    const own = (selectorOf(workload).matchLabels ?? {}) as Readonly<Record<string, string>>;
    return own[workloadLabel] ?? [];
  });
  if (values.includes(value)) return;
  const nearest = nearestName(value, values);
  const hint = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
  const message = `${describeObject(object)}: selects pods with ${workloadLabel} ${value}, which no workload of the chain has; want ${values.join(' or ')}${hint}; set workload to the name of the workload`;
  throw new OperatorError('UnknownReference', message);
}

/**
 * Adds a scale target outside the chain; its existence in the cluster is checked before the object is
 * written.
 */
function withTarget(link: Link, given: unknown, workloads: readonly UnstructuredObject[]): Link {
  const { apiVersion = 'apps/v1', kind = '', name = '' } = given as Partial<ScaleTarget>;
  const wanted = kindKey({ apiVersion, kind });
  const isChained = workloads.some(
    (workload) => kindKey(workload) === wanted && workload.metadata.name === name,
  );
  if (isChained) return link;
  return {
    ...link,
    scaleTarget: { apiVersion, kind, name, hint: whatThereIs(name, workloads) },
  };
}
