import mapValues from 'lodash/mapValues.js';
import type { FieldSet, UnstructuredObject } from '../../object/index.js';
import {
  isJsonObject,
  memberOf,
  withSortedMembers,
  withoutMember,
  htmlSafeJson,
} from '../../object/index.js';
import type { Atom } from './atom.js';
import { compare, toFieldSet } from './compare.js';
import { validateValue } from './validate-value.js';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

// The limit for all annotations of an object together, names included.
const maxAnnotationBytes = 256 * 1024;

/**
 * Returns the fields that `kubectl apply` without `--server-side` set and that have not changed
 * since, based on its annotation. A later server-side apply by `kubectl` may take them without a
 * conflict.
 * @returns undefined without a usable annotation
 */
export function fieldsOfLastApplied(live: UnstructuredObject, atom: Atom): FieldSet | undefined {
  const last = parsedAnnotation(live);
  if (last?.apiVersion !== live.apiVersion) return undefined;
  const strict = { allowDuplicates: false };
  if (validateValue(live, atom, strict).length > 0) return undefined;
  if (validateValue(last, atom, strict).length > 0) return undefined;
  const { added, modified, removed } = compare(last, live, atom);
  return toFieldSet(last, atom).difference(modified).difference(added).difference(removed);
}

function parsedAnnotation(live: UnstructuredObject): UnstructuredObject | undefined {
  try {
    const parsed: unknown = JSON.parse(annotationOf(live) ?? '');
    return isJsonObject(parsed) ? (parsed as unknown as UnstructuredObject) : undefined;
  } catch {
    // A client may write anything into the annotation. Without a usable annotation, the conflicts of the apply stay.
    return undefined;
  }
}

function annotationOf(object: UnstructuredObject): string | undefined {
  return memberOf(object.metadata.annotations ?? {}, annotation) as string | undefined;
}

/**
 * Updates the annotation of `object` to `applied`, if `object` has it. A later `kubectl apply`
 * without `--server-side` compares with it.
 */
export function withLastApplied(
  object: UnstructuredObject,
  applied: UnstructuredObject,
): UnstructuredObject {
  if ((annotationOf(object) ?? '') === '') return object;
  const others = withoutMember(object.metadata.annotations ?? {}, annotation);
  const text = lastAppliedText(applied);
  const annotations = { ...others, [annotation]: text };
  const fits = bytesOf(annotations) <= maxAnnotationBytes;
  return {
    ...object,
    metadata: { ...object.metadata, annotations: fits ? annotations : others },
  };
}

function lastAppliedText(applied: UnstructuredObject): string {
  const { annotations, ...metadata } = applied.metadata;
  const others = annotations && {
    // Go reads null as an empty string.
    annotations: mapValues(withoutMember(annotations, annotation), (value) => textOf(value)),
  };
  const kept = { ...metadata, ...others };
  const text = JSON.stringify(withSortedMembers({ ...applied, metadata: kept }));
  return `${htmlSafeJson(text)}\n`;
}

/** @param annotations - An apply may have null in place of a string. */
function bytesOf(annotations: Readonly<Record<string, string | null>>): number {
  const texts = Object.entries(annotations).flat();
  return texts.reduce((sum, text) => sum + Buffer.byteLength(textOf(text)), 0);
}

function textOf(value: string | null): string {
  return value ?? '';
}
