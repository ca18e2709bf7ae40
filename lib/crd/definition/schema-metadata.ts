import { isJsonObject, propertyOf } from '../../object/index.js';
import type { Schema } from '../../object/index.js';
import type { FieldErrors } from '../validation/field-errors.js';

/** The fields whose types the API server defines itself. */
export const metaFields: readonly string[] = ['apiVersion', 'kind', 'metadata'];

/** Place of a schema relative to apiVersion, kind and metadata, which the API server restricts. */
export interface MetaPlace {
  /** Whether the schema is within apiVersion, kind or metadata. */
  readonly insideMeta: boolean;
  /** Why the schema must not have a default; undefined if it may. */
  readonly noDefaults: string | undefined;
}

/** The place of a schema outside of apiVersion, kind and metadata. */
export const outsideMeta: MetaPlace = { insideMeta: false, noDefaults: undefined };

export function placeOfProperty(
  schema: Schema,
  name: string,
  place: MetaPlace,
  isRoot: boolean,
): MetaPlace {
  const isObject = isRoot || schema['x-kubernetes-embedded-resource'] === true;
  if (!isObject || !metaFields.includes(name)) return place;
  return { insideMeta: true, noDefaults: isRoot ? `in top-level ${name}` : place.noDefaults };
}

/** Returns the place of the values of a map. */
export function placeOfValues(place: MetaPlace): MetaPlace {
  if (!place.insideMeta) return place;
  return { ...place, noDefaults: 'inside additionalProperties applying to object metadata' };
}

/** Reports keywords that are not allowed at the place of a schema. */
export function validatePlace(
  schema: Schema,
  { insideMeta, noDefaults }: MetaPlace,
  field: string,
  errors: FieldErrors,
): void {
  if (noDefaults !== undefined && (schema.default ?? null) !== null) {
    errors.forbidden(`${field}.default`, `must not be set ${noDefaults}`);
  }
  if (insideMeta && schema['x-kubernetes-embedded-resource'] === true) {
    const why = 'must not be used inside of resource meta';
    errors.forbidden(`${field}.x-kubernetes-embedded-resource`, why);
  }
}

/** Checks the schemas of apiVersion, kind and metadata, either of the whole object or of an object inside it. */
export function validateMetaFields(
  object: Schema,
  isWhole: boolean,
  field: string,
  errors: FieldErrors,
): void {
  for (const name of metaFields) {
    const schema = propertyOf(object, name);
    if (schema === undefined) continue;
    const at = `${field}.properties[${name}]`;
    const wanted = name === 'metadata' ? 'object' : 'string';
    const { type = '' } = schema as { readonly type?: string };
    if (type !== wanted) errors.invalid(`${at}.type`, type, `must be ${wanted}`);
    if (!isWhole || name !== 'metadata' || !restrictsMore(schema)) continue;
    const why =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.forbidden(at, why);
  }
}

/** Returns whether a schema of metadata restricts anything but the names of the object. */
function restrictsMore(metadata: Schema): boolean {
  return Object.entries(metadata).some(([keyword, value]) => {
    if (keyword === 'type' || keyword === 'default') return false;
    if (keyword === 'properties' && isJsonObject(value)) {
      return Object.keys(value).some((name) => name !== 'name' && name !== 'generateName');
    }
    return isGiven(value);
  });
}

/** Returns whether a keyword has another value than Go's zero value. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

/** Keywords that the root of a schema may have if there is a status subresource. */
const besideStatus = [
  ...['description', 'type', 'format', 'title', 'maximum', 'exclusiveMaximum', 'minimum'],
  ...['exclusiveMinimum', 'maxLength', 'minLength', 'pattern', 'maxItems', 'minItems'],
  ...['uniqueItems', 'multipleOf', 'required', 'items', 'properties', 'externalDocs', 'example'],
  ...['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-validations'],
];

/** Returns the keywords that the root of a schema must not have if there is a status subresource. */
export function keywordsWithoutStatus(root: Schema): string[] {
  return Object.entries(root)
    .filter(([keyword, value]) => !besideStatus.includes(keyword) && isGiven(value))
    .map(([keyword]) => keyword);
}
