import lowerFirst from 'lodash/lowerFirst.js';
import upperFirst from 'lodash/upperFirst.js';
import { isJsonObject, withoutMembers } from '../../object/index.js';
import type { ObjectMeta, UnstructuredObject } from '../../object/index.js';
import { Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import { jsonProblem } from '../requests/json-text.js';
import { builtinRules } from '../rules/index.js';
import { badRequest } from '../status-error.js';
import {
  definitionName,
  goTypeName,
  definition,
  rawDefinition,
  discoveryData,
} from './documents.js';
import type { ResourceDiscovery } from './documents.js';
import type { Decoded, ServedKind, ServedSubresource } from './served-kind.js';

/** Returns all built-in kinds, in the order of the real server's discovery. */
export function builtinKinds(): readonly ServedKind[] {
  const { core, groups } = discoveryData();
  return [...core, ...groups].flatMap(({ metadata: { name: group = '' }, versions }) =>
    versions.flatMap(({ version, resources = [] }) =>
      resources.map((resource) => builtinKind(group, version, resource)),
    ),
  );
}

function builtinKind(group: string, version: string, resource: ResourceDiscovery): ServedKind {
  const { kind } = resource.responseKind;
  const plural = resource.resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const type = { group, version, kind, plural, namespaced: resource.scope === 'Namespaced' };
  const name = definitionName(
    resource.responseKind.group || group,
    resource.responseKind.version || version,
    kind,
  );
  const shared = sharedStorage(group, version, plural);
  return {
    type,
    singular: resource.singularResource,
    listKind: `${kind}List`,
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    verbs: resource.verbs,
    subresources: subresourcesOf(type, resource),
    collection: shared?.collection ?? (group === '' ? plural : `${group}/${plural}`),
    isStorageVersion: shared === undefined,
    rules: builtinRules(group, version, kind),
    custom: undefined,
    schema: () => (rawDefinition(name) === undefined ? undefined : definition(name)),
    decode: (value, fromStorage) =>
      decodeTyped(goTypeName(name), { ...value, kind, apiVersion }, fromStorage),
    toStorage: shared?.toStorage ?? same,
    fromStorage: shared?.fromStorage ?? same,
  };
}

const same = (object: UnstructuredObject): UnstructuredObject => object;

function decodeTyped(
  type: string,
  value: Readonly<Record<string, unknown>>,
  fromStorage?: boolean,
): Decoded {
  const at = new Decoding(fromStorage);
  const object = goType(type).decode(value, at) as UnstructuredObject;
  return { object, unknownFields: at.unknownFields };
}

function subresourcesOf(
  type: { readonly group: string; readonly version: string },
  resource: ResourceDiscovery,
): ReadonlyMap<string, ServedSubresource> {
  const served = (resource.subresources ?? []).map(({ subresource, responseKind, verbs }) => {
    const { group = '', version = '', kind = '' } = responseKind ?? {};
    // Discovery omits a group and version that equal those of the resource.
    const own = group === '' && version === '';
    const full = own
      ? { group: type.group, version: type.version, kind }
      : { group, version, kind };
    return [subresource, { name: subresource, kind: full, verbs }] as const;
  });
  return new Map(served);
}

/** A version of a kind whose objects are stored in another version. */
interface SharedStorage {
  readonly collection: string;
  readonly toStorage: (object: UnstructuredObject) => UnstructuredObject;
  readonly fromStorage: (object: UnstructuredObject) => UnstructuredObject;
}

/** Returns the storage of this version's objects if they are stored in another version. */
function sharedStorage(group: string, version: string, plural: string): SharedStorage | undefined {
  return shared[`${group}/${version}/${plural}`];
}

// Cache of conversions: frozen objects are converted once and read many times.
const converted = new WeakMap<UnstructuredObject, UnstructuredObject>();

function cached(
  convert: (object: UnstructuredObject) => UnstructuredObject,
): (object: UnstructuredObject) => UnstructuredObject {
  return (object) => {
    const known = converted.get(object);
    if (known !== undefined) return known;
    const result = convert(object);
    if (Object.isFrozen(object)) converted.set(object, result);
    return result;
  };
}

function decoded(type: string, value: Readonly<Record<string, unknown>>): UnstructuredObject {
  return goType(type).decode(value, new Decoding()) as UnstructuredObject;
}

/** The names of a core Event's fields in events.k8s.io. */
const eventFields: Readonly<Record<string, string>> = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  reportingComponent: 'reportingController',
};
const coreEventFields = Object.fromEntries(
  Object.entries(eventFields).map(([core, events]) => [events, core]),
);

function renamed(
  object: UnstructuredObject,
  names: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      Object.hasOwn(names, name) ? (names[name] ?? name) : name,
      value,
    ]),
  );
}

const cpuMetric = (target: unknown): object => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } },
});

const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics';
const behaviorAnnotation = 'autoscaling.alpha.kubernetes.io/behavior';

function specOf(object: UnstructuredObject): Readonly<Record<string, unknown>> {
  return isJsonObject(object['spec']) ? object['spec'] : {};
}

/** Returns the metadata of an object. An apply removes all of them before it adds back those of other managers. */
function metadataOf({ metadata }: Partial<UnstructuredObject>): ObjectMeta {
  return metadata ?? {};
}

/** Converts an autoscaler to v2. Fields that v1 lacks are in annotations. */
function autoscalerToV2(object: UnstructuredObject): UnstructuredObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = specOf(object);
  const { annotations, ...metadata } = metadataOf(object);
  // An apply may send null.
  const given = (annotations as typeof annotations | null) ?? {};
  const { [metricsAnnotation]: metrics, [behaviorAnnotation]: behavior, ...kept } = given;
  const others = parsedList(metrics);
  const all = [...others, ...(typeof target === 'number' ? [cpuMetric(target)] : [])];
  return decoded('autoscaling/v2.HorizontalPodAutoscaler', {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: { ...metadata, ...(Object.keys(kept).length === 0 ? {} : { annotations: kept }) },
    spec: {
      ...spec,
      metrics: all.length === 0 ? [cpuMetric(80)] : all,
      ...(behavior === undefined ? {} : { behavior: behaviorIn(behavior) }),
    },
    status: v2Status(object['status']),
  });
}

/** The members of scaling rules, in the order of Go's struct. */
const ruleMembers = ['stabilizationWindowSeconds', 'selectPolicy', 'policies', 'tolerance'];
const policyMembers = ['type', 'value', 'periodSeconds'];

/** Formats a behavior as Go formats its internal type: by the names of the struct's fields. */
function behaviorText(behavior: unknown): string {
  const listed = (value: unknown, names: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item) => listed(item, policyMembers));
    if (!isJsonObject(value)) return value ?? null;
    return Object.fromEntries(
      names.map((name) => [upperFirst(name), listed(value[name], ruleMembers)]),
    );
  };
  return JSON.stringify(listed(behavior, ['scaleUp', 'scaleDown']));
}

/** Parses {@link behaviorText}; Go accepts names in other cases. */
function behaviorIn(text: string): unknown {
  const lowered = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(lowered);
    if (!isJsonObject(value)) return value;
    const members = Object.entries(value).filter(([, member]) => member !== null);
    return Object.fromEntries(members.map(([name, member]) => [lowerFirst(name), lowered(member)]));
  };
  return lowered(parsedJson(text));
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest(jsonProblem(text));
  }
}

function parsedList(text: string | undefined): unknown[] {
  const list: unknown = text === undefined ? [] : parsedJson(text);
  return Array.isArray(list) ? (list as unknown[]) : [];
}

function v2Status(status: unknown): unknown {
  if (!isJsonObject(status)) return {};
  return withoutMembers(status, 'currentCPUUtilizationPercentage');
}

function autoscalerToV1(object: UnstructuredObject): UnstructuredObject {
  const { metrics, behavior, ...spec } = specOf(object);
  const list = Array.isArray(metrics) ? (metrics as unknown[]) : [];
  const cpu = list.find((metric) => cpuTarget(metric) !== undefined);
  const others = list.filter((metric) => cpuTarget(metric) === undefined);
  const metadata = metadataOf(object);
  const annotations = {
    ...metadata.annotations,
    ...(others.length === 0 ? {} : { [metricsAnnotation]: JSON.stringify(others) }),
    ...(behavior === undefined ? {} : { [behaviorAnnotation]: behaviorText(behavior) }),
  };
  return decoded('autoscaling/v1.HorizontalPodAutoscaler', {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata: { ...metadata, annotations },
    spec: { ...spec, targetCPUUtilizationPercentage: cpuTarget(cpu) },
  });
}

function cpuTarget(metric: unknown): number | undefined {
  const { resource } = (metric ?? {}) as { resource?: { name?: string; target?: object } };
  if (resource?.name !== 'cpu') return undefined;
  // An apply converts its body before checks.
  return (resource.target as { averageUtilization?: number } | undefined)?.averageUtilization;
}

const shared: Readonly<Partial<Record<string, SharedStorage>>> = {
  'events.k8s.io/v1/events': {
    collection: 'events',
    toStorage: (object) =>
      decoded('core/v1.Event', { ...renamed(object, coreEventFields), apiVersion: 'v1' }),
    fromStorage: cached((object) =>
      decoded('events/v1.Event', {
        ...renamed(object, eventFields),
        apiVersion: 'events.k8s.io/v1',
      }),
    ),
  },
  'autoscaling/v1/horizontalpodautoscalers': {
    collection: 'autoscaling/horizontalpodautoscalers',
    toStorage: autoscalerToV2,
    fromStorage: cached(autoscalerToV1),
  },
};
