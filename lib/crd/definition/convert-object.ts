import mapValues from 'lodash/mapValues.js';
import {
  deepEqual,
  describeObject,
  copyJson,
  isJsonObject,
  withoutMember,
  groupOf,
  versionOf,
} from '../../object/index.js';
import type { KubernetesObject, Schema, UnstructuredObject } from '../../object/index.js';
import { errorMessage, OperatorError } from '../../system/index.js';
import { convertKeeping } from './kept-fields.js';
import type { ResolvedDefinition } from './resource-definition.js';

/** The object, the target version, and a function that describes the object's problems. */
interface ConversionInput {
  readonly object: UnstructuredObject;
  readonly desiredApiVersion: string;
  /** Returns the reasons for which the API server would reject an object that `stored` has returned. */
  readonly problems: (stored: UnstructuredObject) => readonly string[];
  /** Returns an object as the API server stores it. */
  readonly stored: (object: UnstructuredObject) => UnstructuredObject;
  readonly schema: (version: string) => Schema;
}

/**
 * Converts an object to another version through the hub. Fields that the other version cannot express are kept.
 * @throws OperatorError `InvalidObject`
 */
export function convertObject(
  definition: ResolvedDefinition,
  { object, desiredApiVersion, ...server }: ConversionInput,
): UnstructuredObject {
  const { group, kind, versions, conversion } = definition;
  const names = versions.map(({ name }) => name);
  for (const apiVersion of [object.apiVersion, desiredApiVersion]) {
    if (groupOf(apiVersion) === group && names.includes(versionOf(apiVersion))) continue;
    const known = names.map((name) => `${group}/${name}`).join(', ');
    throw invalid(object, `${apiVersion} is not a version of ${kind}; want ${known}`);
  }
  if (object.kind !== kind) throw invalid(object, `is not a ${kind}`);
  if (object.apiVersion === desiredApiVersion) return copyJson(object);
  if (conversion === undefined || conversion === 'prune') {
    return { ...copyJson(object), apiVersion: desiredApiVersion };
  }
  const [from, to] = [versionOf(object.apiVersion), versionOf(desiredApiVersion)];
  const { hub, spokes } = conversion;
  const convert = (name: string, way: Way, given: UnstructuredObject): UnstructuredObject => {
    const converter = spokes[name]?.[way];
    if (converter === undefined) throw invalid(object, `version ${name} has no ${way}`);
    const next = way === 'toHub' ? hub : name;
    const schema = versions.find((version) => version.name === versionOf(given.apiVersion))?.schema;
    const converted = attempt({ object, ...server }, name, () =>
      tolerant(schema, given, converter),
    );
    checkMetadata(given, converted);
    return { ...converted, apiVersion: `${group}/${next}`, kind };
  };
  const toHub = (given: UnstructuredObject): UnstructuredObject =>
    convertKeeping(given, {
      ...{ from, to: hub, ...server },
      convert: (plain) => convert(from, 'toHub', plain),
      convertBack: (converted) => convert(from, 'fromHub', converted),
    });
  const fromHub = (given: UnstructuredObject): UnstructuredObject =>
    convertKeeping(given, {
      ...{ from: hub, to, ...server },
      convert: (plain) => convert(to, 'fromHub', plain),
      convertBack: (converted) => convert(to, 'toHub', converted),
    });
  const atHub = from === hub ? object : toHub(object);
  return to === hub ? atHub : fromHub(atHub);
}

type Way = 'toHub' | 'fromHub';

/**
 * Calls a converter. If it throws, calls it again with the missing objects and lists that its type promises: API
 * servers also convert objects that are not validated yet and, for server-side apply, objects that lack the fields of
 * other managers.
 */
function tolerant<T>(
  schema: Schema | undefined,
  given: KubernetesObject,
  convert: (object: KubernetesObject) => T,
): T {
  try {
    return convert(copyJson(given));
  } catch (error) {
    const filled = withContainers(schema, copyJson(given)) as KubernetesObject;
    if (deepEqual(filled, given)) throw error;
    return convert(filled);
  }
}

/**
 * Returns a value with empty objects and lists where required ones, or ones with a default, are missing or null.
 * Server-side apply leaves null where it has removed all members.
 */
function withContainers(schema: Schema | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withContainers(schema?.items, item));
  if (!isJsonObject(value)) return value;
  const { properties = {}, required = [], additionalProperties: others } = schema ?? {};
  const filled: Record<string, unknown> = mapValues(value, (member, name) =>
    withContainers(properties[name] ?? (isJsonObject(others) ? others : undefined), member),
  );
  for (const [name, property] of Object.entries(properties)) {
    const isExpected = required.includes(name) || 'default' in property;
    if (!isExpected || (value[name] ?? undefined) !== undefined) continue;
    if (value[name] === null && property.nullable === true) continue;
    if (property.type === 'object') filled[name] = withContainers(property, {});
    else if (property.type === 'array') filled[name] = [];
  }
  return filled;
}

function attempt<T extends object>(
  { object, problems, stored }: Pick<ConversionInput, 'object' | 'problems' | 'stored'>,
  version: string,
  convert: () => T,
): T {
  let converted: T;
  try {
    converted = convert();
  } catch (cause) {
    // The API server sends objects to conversion webhooks before it validates them against their schema.
    const found = problems(stored(object));
    const why =
      found.length === 0
        ? ''
        : ` (the object is invalid: ${found.join('; ')}; API servers also convert invalid objects and, for server-side apply, incomplete ones: accept them in the conversion)`;
    const problem = `its conversion of ${version} failed: ${errorMessage(cause)}${why}`;
    throw invalid(object, problem, cause);
  }
  // TypeScript refuses a converter that is async or returns nothing, but plain JavaScript does not.
  if (isJsonObject(converted) && !(converted instanceof Promise)) return converted;
  throw invalid(
    object,
    `its conversion of ${version} returned no object; return the converted object, not a Promise`,
  );
}

/** The API server rejects a conversion that changes any metadata except labels and annotations. */
function checkMetadata(before: KubernetesObject, after: KubernetesObject): void {
  const fixed = ({ metadata }: KubernetesObject): object =>
    withoutMember(withoutMember({ ...metadata }, 'labels'), 'annotations');
  const [was, is] = [fixed(before), fixed(after)] as Record<string, unknown>[];
  const names = [...new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})])];
  const changed = names.filter((name) => !deepEqual(was?.[name], is?.[name]));
  if (changed.length === 0) return;
  throw invalid(
    before,
    `its conversion changed the metadata (${changed.join(', ')}); change only labels and annotations`,
  );
}

function invalid(object: KubernetesObject, why: string, cause?: unknown): OperatorError {
  return new OperatorError('InvalidObject', `${describeObject(object)}: ${why}`, { cause });
}

/**
 * A custom resource that converts objects between its versions, as the conversion webhook of a CRD needs.
 * `defineResource` returns one.
 */
export interface Convertible {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** The names of all versions. */
  readonly versions: readonly string[];
  /**
   * Converts an object to another version through the hub. Returns a new object with the same `metadata`, except labels
   * and annotations, which converters may change. Annotations with the prefix `kept-fields.operator-builder.io` keep
   * the fields that a conversion back would lose. The conversion back sets these fields again, unless the converted
   * object has been changed there, or the schema refuses the value. Fields of the status are not kept. All annotations
   * of an object together have at most 200 KiB: fields beyond this limit are not kept either.
   * @param desiredApiVersion - group and version, for example `example.com/v1`
   * @throws OperatorError `InvalidObject`: the object has another kind or an unknown version, or a converter
   * threw (`cause`) or changed forbidden metadata
   */
  convert(object: UnstructuredObject, desiredApiVersion: string): UnstructuredObject;
}

/** A custom resource whose functions convert its objects, so that it needs a conversion webhook. */
export interface ConvertedResource extends Convertible {
  readonly isConverted: true;
}

/** Returns whether a value is a resource of `defineResource` whose functions convert its objects. */
export function isConvertedResource(value: object): value is ConvertedResource {
  // Don't use instanceof: the resource may come from another copy of the package.
  return 'isConverted' in value && value.isConverted === true;
}
