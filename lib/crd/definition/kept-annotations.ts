import { isJsonObject, labelValueOf, setMember } from '../../object/index.js';
import type { ObjectMeta, UnstructuredObject } from '../../object/index.js';

/** The prefix of the annotations of a converted object with the fields that its version cannot express. */
const prefix = 'kept-fields.operator-builder.io/';

/**
 * Fields that are never kept. If a conversion changed the type or the metadata, an API server would refuse it, and each
 * list with such an object. If the status were kept, a client that may only write annotations could set it.
 */
export const fixedFields: readonly string[] = ['apiVersion', 'kind', 'metadata', 'status'];

/** A field that does not survive a conversion and the way back. An annotation keeps it. */
export interface KeptField {
  /** The version that has the field. */
  readonly version: string;
  readonly path: readonly Step[];
  /**
   * The number of steps, from the start of `path`, that lead to `converted`. Absent if all steps of `path` do. If the
   * other version also lacks a parent of the field, the steps lead to the outermost of these parents.
   */
  readonly shared?: number;
  /**
   * The value before the conversion, without the parts that deeper fields keep; undefined if the conversion adds the
   * field.
   */
  readonly value?: unknown;
  /** The value after the conversion and back; undefined if it is lost. */
  readonly converted?: unknown;
}

/** The annotation of an object that keeps a field. */
export interface Annotation {
  readonly name: string;
  readonly text: string;
  readonly field: KeptField;
}

/** The name of a member, an item of a list whose items have keys, or the order of such items. */
export type Step = string | ItemStep | OrderStep;

export interface ItemStep {
  /** The item of a set; the keys of an item of a list of type map. */
  readonly item: unknown;
  /** The place to which the item returns if the conversion loses it. */
  readonly at: number;
}

/** The last step of a path whose field holds the order of a list: the identities of its items. */
interface OrderStep {
  readonly order: true;
}

export function isItemStep(step: unknown): step is ItemStep {
  return isJsonObject(step) && 'item' in step && Number.isInteger(step['at']);
}

export function isOrderStep(step: unknown): step is OrderStep {
  return isJsonObject(step) && step['order'] === true;
}

/** Separates the annotations with kept fields from the object. Ignores annotations that users have damaged. */
export function withoutKeptFields(object: UnstructuredObject): {
  readonly kept: readonly Annotation[];
  readonly plain: UnstructuredObject;
} {
  const { annotations = {}, ...metadata } = metadataOf(object);
  const others: Record<string, string> = {};
  const kept: Annotation[] = [];
  let isPlain = true;
  for (const [name, text] of Object.entries(annotations)) {
    if (name.startsWith(prefix)) {
      isPlain = false;
      kept.push(...parsed(name, text));
    } else setMember(others, name, text);
  }
  if (isPlain) return { kept, plain: object };
  const rest = Object.keys(others).length > 0 && { annotations: others };
  return { kept, plain: { ...object, metadata: { ...metadata, ...rest } } };
}

function parsed(name: string, text: string): readonly Annotation[] {
  try {
    const field: unknown = JSON.parse(text);
    return isKeptField(field) ? [{ name, text, field }] : [];
  } catch {
    return [];
  }
}

function isKeptField(field: unknown): field is KeptField {
  const members: Readonly<Record<string, unknown>> = isJsonObject(field) ? field : {};
  const { version, path, shared = 1 } = members;
  const steps: readonly unknown[] = Array.isArray(path) ? path : [];
  const [first, ...rest] = steps;
  return (
    typeof version === 'string' &&
    typeof first === 'string' &&
    !fixedFields.includes(first) &&
    rest.every((step) => typeof step === 'string' || isItemStep(step) || isOrderStep(step)) &&
    Number.isInteger(shared) &&
    Number(shared) >= 1
  );
}

/**
 * An API server refuses a converted object with more than 256 KiB of annotations, and each list with such an object.
 * The difference is left for annotations that clients add.
 */
const mostBytes = 200 * 1024;

/**
 * The values that a conversion loses, in two forms. `small` has an entry for each single field, as server-side apply
 * needs; `large` has one entry for each lost part as a whole, which takes less space.
 */
export interface Sizes {
  readonly small: readonly KeptField[];
  readonly large: readonly KeptField[];
}

export const noFields: Sizes = { small: [], large: [] };

/**
 * Adds annotations: first the annotations that keep fields of other versions, then the small entries. If these do not
 * all fit, adds as many of the large ones as fit.
 */
export function annotated(
  object: UnstructuredObject,
  others: readonly Annotation[],
  { small, large }: Sizes = noFields,
): UnstructuredObject {
  const metadata = metadataOf(object);
  const annotations = { ...metadata.annotations };
  for (const { name, text } of others) annotations[name] = text;
  const room = mostBytes - bytesOf(Object.entries(annotations));
  const entries = small.map(entryOf);
  const added = bytesOf(entries) > room ? fitting(large.map(entryOf), room) : entries;
  if (others.length === 0 && added.length === 0) return object;
  for (const [name, text] of added) annotations[name] = text;
  return { ...object, metadata: { ...metadata, annotations } };
}

type Entry = readonly [name: string, text: string];

function fitting(entries: readonly Entry[], room: number): readonly Entry[] {
  const bySize = entries.map((entry) => ({ entry, bytes: bytesOf([entry]) }));
  let left = room;
  return bySize
    .sort((one, other) => one.bytes - other.bytes)
    .flatMap(({ entry, bytes }) => ((left -= bytes) >= 0 ? [entry] : []));
}

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + Buffer.byteLength(entry.join('')), 0);
}

function entryOf(field: KeptField): Entry {
  const { version, path } = field;
  const steps = [version, ...path.map((step) => (isItemStep(step) ? step.item : step))];
  const names = steps.flatMap((step) => (isJsonObject(step) ? Object.values(step) : [step]));
  const isPlain = !path.some(isOrderStep) && names.every(isPlainName);
  return [
    `${prefix}${labelValueOf(isPlain ? names.join('.') : JSON.stringify(steps))}`,
    JSON.stringify(field),
  ];
}

/** Returns whether a name without quotes is unambiguous: not two names with a dot between, and not a number. */
function isPlainName(name: unknown): boolean {
  return (
    !String(name).includes('.') && !(typeof name === 'string' && Number.isFinite(Number(name)))
  );
}

/** Callers in plain JavaScript may leave the metadata out. */
function metadataOf({ metadata }: { readonly metadata?: ObjectMeta }): ObjectMeta {
  return metadata ?? {};
}
