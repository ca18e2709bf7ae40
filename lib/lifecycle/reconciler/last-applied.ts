import { isJsonObject } from '../../object/json.js';
import type { FieldsV1, KubernetesObject } from '../../object/kubernetes-object.js';
import type { Schema } from '../../object/schema.js';
import { setFieldsOf } from '../../object/set-fields.js';

/**
 * What the annotation says of `desired`: the paths that it sets, without values. So no secret is in
 * it, and it stays small where the object is big (annotations share 256 KiB).
 */
export function lastAppliedOf(desired: KubernetesObject, schema: Schema): string {
  return JSON.stringify(setFieldsOf(desired, schema));
}

/**
 * The paths that `text`, an annotation, says were set; also reads what the Go SDK writes there, the
 * whole object. Undefined: it can't be read.
 */
export function readLastApplied(text: string, schema: Schema): FieldsV1 | undefined {
  try {
    const read: unknown = JSON.parse(text);
    if (isJsonObject(read) && 'kind' in read) return setFieldsOf(read, schema);
    return isFields(read) ? read : undefined;
  } catch {
    // Whoever reads it has the object to name in the log.
    return undefined;
  }
}

function isFields(value: unknown): value is FieldsV1 {
  return isJsonObject(value) && Object.values(value).every(isFields);
}
