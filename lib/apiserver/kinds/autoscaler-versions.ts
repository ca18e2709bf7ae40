import upperFirst from 'lodash/upperFirst.js';
import { isJsonObject, withoutMembers } from '../../object/index.js';
import type { ObjectMeta, UnstructuredObject } from '../../object/index.js';
import { DecodeError, Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';

type Members = Readonly<Record<string, unknown>>;

/** The annotations that hold fields of an autoscaler for which v1 has no field. */
const annotationNames = {
  metrics: 'autoscaling.alpha.kubernetes.io/metrics',
  behavior: 'autoscaling.alpha.kubernetes.io/behavior',
  currentMetrics: 'autoscaling.alpha.kubernetes.io/current-metrics',
  conditions: 'autoscaling.alpha.kubernetes.io/conditions',
} as const;

/** Converts an autoscaler from v1 to v2. */
export function autoscalerToV2(object: UnstructuredObject): UnstructuredObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = membersOf(object['spec']);
  const { annotations, ...metadata } = metadataOf(object);
  const given = membersOf(annotations);
  const kept = withoutMembers(given, ...Object.values(annotationNames));
  const others = annotated(given[annotationNames.metrics], newMetrics(newSources));
  const all = [...listOf(others), ...(typeof target === 'number' ? [cpuMetric(target)] : [])];
  const behavior = annotated(given[annotationNames.behavior], newBehavior);
  return decoded('autoscaling/v2.HorizontalPodAutoscaler', {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: { ...metadata, ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }) },
    spec: { ...spec, metrics: all.length === 0 ? [cpuMetric(80)] : all, behavior },
    status: newStatus(membersOf(object['status']), given),
  });
}

/** Converts an autoscaler from v2 to v1. */
export function autoscalerToV1(object: UnstructuredObject): UnstructuredObject {
  const { metrics, behavior, ...spec } = membersOf(object['spec']);
  const list = listOf(metrics);
  const cpu = list.find((metric) => cpuTarget(metric) !== undefined);
  const others = list.filter((metric) => cpuTarget(metric) === undefined);
  const status = membersOf(object['status']);
  const { currentMetrics, conditions } = status;
  const metadata = metadataOf(object);
  const annotations = {
    ...metadata.annotations,
    ...annotation('metrics', others.map(convertedMetric(oldTargets))),
    ...annotation('currentMetrics', listOf(currentMetrics).map(convertedMetric(oldCurrents))),
    ...annotation('conditions', listOf(conditions)),
    ...(behavior === undefined ? {} : { [annotationNames.behavior]: behaviorText(behavior) }),
  };
  return decoded('autoscaling/v1.HorizontalPodAutoscaler', {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata: { ...metadata, annotations },
    spec: { ...spec, targetCPUUtilizationPercentage: cpuTarget(cpu) },
    status: { ...status, currentCPUUtilizationPercentage: currentCpu(listOf(currentMetrics)) },
  });
}

/** Returns an object in v1 in the form that the real server's conversions produce. */
export function convertedAutoscalerV1(object: UnstructuredObject): UnstructuredObject {
  return autoscalerToV1(autoscalerToV2(object));
}

function decoded(type: string, value: Members): UnstructuredObject {
  return goType(type).decode(value, new Decoding()) as UnstructuredObject;
}

// An apply converts its body before the body is checked. So each member may have a wrong type, such as a string in
// place of a list.

function membersOf(value: unknown): Members {
  return isJsonObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** Returns the metadata of an object. While an apply runs, its object may have no metadata. */
function metadataOf({ metadata }: Partial<UnstructuredObject>): ObjectMeta {
  return metadata ?? {};
}

const cpuMetric = (averageUtilization: number): object => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

function cpuTarget(metric: unknown): unknown {
  const { name, target } = membersOf(membersOf(metric)['resource']);
  return name === 'cpu' ? membersOf(target)['averageUtilization'] : undefined;
}

function currentCpu(metrics: readonly unknown[]): unknown {
  const resources = metrics.map((metric) => membersOf(membersOf(metric)['resource']));
  const cpu = resources.find(({ name }) => name === 'cpu');
  return membersOf(cpu?.['current'])['averageUtilization'];
}

function newStatus(status: Members, annotations: Members): object {
  const { currentCPUUtilizationPercentage: averageUtilization, ...kept } = status;
  const cpu = { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } };
  return {
    ...kept,
    currentMetrics:
      annotated(annotations[annotationNames.currentMetrics], newMetrics(newCurrents)) ??
      (averageUtilization === undefined ? undefined : [cpu]),
    conditions: annotated(annotations[annotationNames.conditions], newConditions),
  };
}

function annotation(name: keyof typeof annotationNames, list: readonly unknown[]): object {
  return list.length === 0 ? {} : { [annotationNames[name]]: JSON.stringify(list) };
}

/** Returns the value in an annotation; undefined if the value is invalid, because Go then ignores it. */
function annotated(text: unknown, read: (value: unknown) => unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return read(JSON.parse(text)) ?? undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DecodeError) return undefined;
    throw error;
  }
}

function newConditions(value: unknown): unknown {
  const type = '[]autoscaling/v2.HorizontalPodAutoscalerCondition';
  return value === null ? undefined : goType(type).decode(value, new Decoding());
}

/** Converts a metric of one version by its members, such as `pods`. */
type Sources = Readonly<Record<string, (source: Members) => object>>;

const convertedMetric =
  (sources: Sources) =>
  (metric: unknown): unknown => {
    // The decoder rejects a metric that is not an object.
    if (!isJsonObject(metric)) return metric;
    const { type, ...members } = metric;
    const converted = Object.entries(members)
      .filter(([name]) => Object.hasOwn(sources, name))
      .map(([name, source]) => [name, isJsonObject(source) ? sources[name]?.(source) : source]);
    return { type, ...(Object.fromEntries(converted) as object) };
  };

const newMetrics =
  (sources: Sources) =>
  (value: unknown): unknown => {
    if (value === null) return undefined;
    const type = sources === newSources ? 'MetricSpec' : 'MetricStatus';
    const list = Array.isArray(value) ? value.map(convertedMetric(sources)) : value;
    return goType(`[]autoscaling/v2.${type}`).decode(list, new Decoding());
  };

/**
 * Returns the conversions of metrics to v1, with the members in the order of Go's structs.
 * @param part - the member to convert: the targets, or the current values
 */
function oldSources(part: 'target' | 'current'): Sources {
  const absent = part === 'current' ? '0' : undefined;
  const ofResource = (values: unknown): object => {
    const { averageUtilization: use, averageValue = absent } = membersOf(values);
    return { [`${part}AverageUtilization`]: use, [`${part}AverageValue`]: averageValue };
  };
  return {
    object: ({ describedObject, metric, [part]: values }) => {
      const { value = '0', averageValue } = membersOf(values);
      const { name, selector } = membersOf(metric);
      const own = { [`${part}Value`]: value, selector, averageValue };
      return { target: describedObject, metricName: name, ...own };
    },
    pods: ({ metric, [part]: values }) => {
      const { name, selector } = membersOf(metric);
      const { averageValue = '0' } = membersOf(values);
      return { metricName: name, [`${part}AverageValue`]: averageValue, selector };
    },
    resource: ({ name, [part]: values }) => ({ name, ...ofResource(values) }),
    containerResource: ({ name, container, [part]: values }) => {
      return { name, ...ofResource(values), container };
    },
    external: ({ metric, [part]: values }) => {
      const { name, selector } = membersOf(metric);
      const { value = absent, averageValue } = membersOf(values);
      const own = { [`${part}Value`]: value, [`${part}AverageValue`]: averageValue };
      return { metricName: name, metricSelector: selector, ...own };
    },
  };
}

const oldTargets = oldSources('target');
const oldCurrents = oldSources('current');

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * Converts metrics of v1 to v2. In v2 a target has a type; v1 has none, so the type is derived from the value that is
 * set.
 */
const newSources: Sources = {
  object: ({ target, metricName: name, selector, targetValue: value, averageValue }) => ({
    ...{ describedObject: target, metric: { name, selector } },
    target: isGiven(averageValue)
      ? { type: 'AverageValue', averageValue }
      : { type: 'Value', value },
  }),
  pods: ({ metricName: name, selector, targetAverageValue: averageValue }) => ({
    metric: { name, selector },
    target: { type: 'AverageValue', averageValue },
  }),
  resource: (source) => ({ name: source['name'], target: newTarget(source) }),
  containerResource: (source) => {
    const { name, container } = source;
    return { name, container, target: newTarget(source) };
  },
  external: ({ metricName: name, metricSelector: selector, targetValue: value, ...rest }) => {
    const { targetAverageValue: averageValue } = rest;
    const type = isGiven(value) ? 'Value' : 'AverageValue';
    return { metric: { name, selector }, target: { type, value, averageValue } };
  },
};

function newTarget(source: Members): object {
  const { targetAverageUtilization: averageUtilization, targetAverageValue: averageValue } = source;
  const type = isGiven(averageUtilization) ? 'Utilization' : 'AverageValue';
  return { type, averageUtilization, averageValue };
}

/** Current values of metrics in v2. */
const newCurrents: Sources = {
  object: ({ target, metricName: name, selector, currentValue: value, averageValue }) => ({
    ...{ describedObject: target, metric: { name, selector } },
    current: { value, averageValue },
  }),
  pods: ({ metricName: name, selector, currentAverageValue: averageValue }) => ({
    metric: { name, selector },
    current: { averageValue },
  }),
  resource: (source) => ({ name: source['name'], current: newCurrent(source) }),
  containerResource: (source) => {
    const { name, container } = source;
    return { name, container, current: newCurrent(source) };
  },
  external: ({ metricName: name, metricSelector: selector, currentValue: value, ...rest }) => ({
    metric: { name, selector },
    current: { value, averageValue: rest['currentAverageValue'] },
  }),
};

function newCurrent(source: Members): object {
  const { currentAverageUtilization, currentAverageValue } = source;
  return { averageUtilization: currentAverageUtilization, averageValue: currentAverageValue };
}

/** The members of scaling rules, in the order of Go's struct. */
const ruleMembers = ['stabilizationWindowSeconds', 'selectPolicy', 'policies', 'tolerance'];
const policyMembers = ['type', 'value', 'periodSeconds'];
const directions = ['scaleUp', 'scaleDown'];

/** Formats a behavior as Go formats its internal type: by the names of the struct's fields. */
function behaviorText(behavior: unknown): string {
  const listed = (value: unknown, names: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item) => listed(item, policyMembers));
    if (!isJsonObject(value)) return value ?? null;
    return Object.fromEntries(
      names.map((name) => [upperFirst(name), listed(value[name], ruleMembers)]),
    );
  };
  return JSON.stringify(listed(behavior, directions));
}

/**
 * Reads the text of {@link behaviorText}. Like Go, ignores the case of names. Returns undefined for a behavior without
 * rules.
 */
function newBehavior(value: unknown): unknown {
  const lowered = withOwnNames(value);
  if (lowered === null) return undefined;
  const type = 'autoscaling/v2.HorizontalPodAutoscalerBehavior';
  const behavior = membersOf(goType(type).decode(lowered, new Decoding()));
  return Object.keys(behavior).length === 0 ? undefined : behavior;
}

const ownNames: ReadonlyMap<string, string> = new Map(
  [...directions, ...ruleMembers, ...policyMembers].map((name) => [name.toLowerCase(), name]),
);

function withOwnNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOwnNames);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    ownNames.get(name.toLowerCase()) ?? name,
    withOwnNames(member),
  ]);
  return Object.fromEntries(members);
}
