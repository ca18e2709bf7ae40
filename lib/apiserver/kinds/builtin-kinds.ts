import type { Schema, UnstructuredObject } from '../../object/index.js';
import { Decoding } from '../go-json/decoding.js';
import { goType } from '../go-json/go-types.js';
import { builtinRules } from '../rules/index.js';
import type { KindRules } from '../rules/kind-rules.js';
import { autoscalerToV1, autoscalerToV2, convertedAutoscalerV1 } from './autoscaler-versions.js';
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
  const typeName = goTypeName(name);
  let schema: Schema | undefined;
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
    rules: withConversion(builtinRules(group, version, kind), shared?.converted),
    custom: undefined,
    schema: () => (schema ??= rawDefinition(name) && definition(name)),
    decode: (value, fromStorage) =>
      decodeTyped(typeName, { ...value, kind, apiVersion }, fromStorage),
    inOrder: (object) => (goType(typeName).inOrder?.(object) ?? object) as UnstructuredObject,
    toStorage: shared?.toStorage ?? same,
    fromStorage: shared?.fromStorage ?? same,
  };
}

const same = (object: UnstructuredObject): UnstructuredObject => object;

/**
 * As the real server does before it updates `managedFields`: fills in defaults, then converts the object to the version
 * that validation uses.
 */
function withConversion(rules: KindRules, converted: SharedStorage['converted']): KindRules {
  if (converted === undefined) return rules;
  const defaults = (object: UnstructuredObject): void => {
    rules.defaults?.(object);
    Object.assign(object, converted(object));
  };
  return { ...rules, defaults };
}

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
    // Discovery omits group and version of a subresource if they equal the group and version of the resource.
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
  /** Returns an object with defaults in the form of the real server's conversions. @defaultValue the same object */
  readonly converted?: (object: UnstructuredObject) => UnstructuredObject;
  readonly toStorage: (object: UnstructuredObject) => UnstructuredObject;
  readonly fromStorage: (object: UnstructuredObject) => UnstructuredObject;
}

/** Returns how objects of this version are stored if the kind is stored in another version. */
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
    converted: convertedAutoscalerV1,
    toStorage: autoscalerToV2,
    fromStorage: cached(autoscalerToV1),
  },
};
