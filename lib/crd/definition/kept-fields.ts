import {
  deepEqual,
  isJsonObject,
  memberOf,
  withMember,
  withoutMember,
} from '../../object/index.js';
import type { ObjectMeta, UnstructuredObject } from '../../object/index.js';

/** The annotation of a converted object with the fields that its version cannot express. */
export const keptFieldsAnnotation = 'operator-builder.io/kept-fields';

/** A field that a conversion and the way back lose, change or add. */
interface KeptField {
  readonly path: readonly string[];
  /** The value before; undefined if the conversion adds the field. */
  readonly value?: unknown;
  /** The value after the conversion and back; undefined if the field is lost. */
  readonly converted?: unknown;
}

/** The kept fields by the version that has them. */
type KeptFields = Readonly<Record<string, readonly KeptField[] | undefined>>;

type Convert = (object: UnstructuredObject) => UnstructuredObject;

/** A conversion of an object from one version to another. */
export interface KeepingStep {
  readonly from: string;
  readonly to: string;
  readonly convert: Convert;
  readonly convertBack: Convert;
  /** Returns an object as the API server stores it: with defaults, without unknown fields. */
  readonly stored: Convert;
}

/**
 * Converts an object so that no field is lost when a client writes the converted object: fields that do not
 * survive the way back are kept in an annotation. The way back sets each of them again, unless the converted
 * object has been changed there. A list is kept as a whole, since its items may have moved.
 */
export function convertKeeping(object: UnstructuredObject, step: KeepingStep): UnstructuredObject {
  const { from, to, stored } = step;
  const { kept, plain } = withoutKeptFields(object);
  const converted = restored(step.convert(plain), kept[to], stored);
  const lost = lostFields(plain, converted, step);
  const others = Object.entries(kept).filter(([version]) => version !== to && version !== from);
  const entries = lost.length === 0 ? others : [...others, [from, lost] as const];
  return entries.length === 0 ? converted : annotated(converted, Object.fromEntries(entries));
}

/** Returns the fields that differ after the way back; none if that fails, which must not fail this conversion. */
function lostFields(
  object: UnstructuredObject,
  converted: UnstructuredObject,
  { convertBack, stored }: KeepingStep,
): readonly KeptField[] {
  try {
    const after = convertBack(stored(converted));
    // Usually nothing is lost, and most of the time would go into the rest.
    if (deepEqual(object, after)) return [];
    const before = stored(object);
    return differences([], before, { ...stored(after), metadata: before.metadata });
  } catch {
    return [];
  }
}

function differences(path: readonly string[], value: unknown, converted: unknown): KeptField[] {
  if (deepEqual(value, converted)) return [];
  if (!isJsonObject(value) || !isJsonObject(converted)) return [{ path, value, converted }];
  const names = new Set([...Object.keys(value), ...Object.keys(converted)]);
  return [...names].flatMap((name) =>
    differences([...path, name], memberOf(value, name), memberOf(converted, name)),
  );
}

/** Sets the kept fields again, except where a client has changed what the conversion made of them. */
function restored(
  converted: UnstructuredObject,
  fields: readonly KeptField[] = [],
  stored: Convert,
): UnstructuredObject {
  if (fields.length === 0) return converted;
  const present = stored(converted);
  return fields
    .filter((field) => deepEqual(valueAt(present, field.path), field.converted))
    .reduce((object, { path, value }) => withValueAt(object, path, value), converted);
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isJsonObject(value) ? memberOf(value, name) : undefined),
    object,
  );
}

/** Returns a copy with another value at a path, or as it is if the parent is gone. */
function withValueAt<T extends Readonly<Record<string, unknown>>>(
  object: T,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): T {
  if (rest.length === 0) {
    return value === undefined ? withoutMember(object, name) : withMember(object, name, value);
  }
  const member = memberOf(object, name);
  return isJsonObject(member) ? withMember(object, name, withValueAt(member, rest, value)) : object;
}

/** Takes the annotation away. One that users have damaged keeps nothing. */
function withoutKeptFields(object: UnstructuredObject): {
  readonly kept: KeptFields;
  readonly plain: UnstructuredObject;
} {
  const { annotations, ...metadata } = metadataOf(object);
  const text = annotations?.[keptFieldsAnnotation];
  if (annotations === undefined || text === undefined) return { kept: {}, plain: object };
  const others = withoutMember(annotations, keptFieldsAnnotation);
  const isEmpty = Object.keys(others).length === 0;
  const plain = { ...object, metadata: isEmpty ? metadata : { ...metadata, annotations: others } };
  return { kept: parsed(text), plain };
}

function parsed(text: string): KeptFields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {};
  }
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).map(([version, fields]) => [
      version,
      Array.isArray(fields) ? fields.filter(isKeptField) : [],
    ]),
  );
}

function isKeptField(field: unknown): field is KeptField {
  const path: unknown = isJsonObject(field) ? field['path'] : undefined;
  return Array.isArray(path) && path.length > 0 && path.every((name) => typeof name === 'string');
}

function annotated(object: UnstructuredObject, kept: KeptFields): UnstructuredObject {
  const metadata = metadataOf(object);
  const annotations = { ...metadata.annotations, [keptFieldsAnnotation]: JSON.stringify(kept) };
  return { ...object, metadata: { ...metadata, annotations } };
}

/** Callers in plain JavaScript may leave the metadata out. */
function metadataOf({ metadata }: { readonly metadata?: ObjectMeta }): ObjectMeta {
  return metadata ?? {};
}
