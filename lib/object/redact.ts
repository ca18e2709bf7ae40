import type { FieldChange } from './diff-by-path.js';
import { isJsonObject } from './json.js';
import type { UnstructuredObject } from './kubernetes-object.js';

/** What stands in for a value that must not be shown. */
export const redacted = '(redacted)';

/**
 * Changes of an object of `kind` as they may be logged, recorded and printed: values out of a Secret
 * are replaced by {@link redacted}, and so is what looks like one anywhere in it, for example in the
 * last-applied annotation. Paths, and whether a value was added or removed, stay.
 */
export function redactChanges(
  kind: string,
  changes: readonly FieldChange[],
): readonly FieldChange[] {
  if (kind !== 'Secret') return changes;
  return changes.map((change) =>
    isShowable(change.path)
      ? change
      : { ...change, from: hidden(change.from), to: hidden(change.to) },
  );
}

/**
 * An object as it may be printed whole: values in a Secret's data and annotations are replaced by
 * {@link redacted}, those that differ from `before` by a text that says so.
 */
export function redactObject(
  object: UnstructuredObject,
  before?: UnstructuredObject,
): UnstructuredObject {
  if (object.kind !== 'Secret') return object;
  const { annotations, ...metadata } = object.metadata;
  const hiddenNotes = annotations && hiddenMap(annotations, before?.metadata.annotations);
  const data = ['data', 'stringData'].flatMap((name) => {
    const values = object[name];
    return isJsonObject(values) ? [[name, hiddenMap(values, before?.[name])] as const] : [];
  });
  return {
    ...object,
    metadata: { ...metadata, ...(hiddenNotes !== undefined && { annotations: hiddenNotes }) },
    ...Object.fromEntries(data),
  };
}

function hiddenMap(values: object, before: unknown): Record<string, string> {
  const old = isJsonObject(before) ? before : {};
  const entries = Object.entries(values).map(([name, value]) => {
    const isChanged = old[name] !== undefined && old[name] !== value;
    return [name, isChanged ? '(redacted, changed)' : redacted] as const;
  });
  return Object.fromEntries(entries);
}

// A list of what may be shown, not of what may not: a path that nobody thought of stays hidden.
function isShowable(path: string): boolean {
  return /^(type|immutable|metadata\.(name|namespace|uid|labels|finalizers|ownerReferences))\b/.test(
    path,
  );
}

function hidden(value: unknown): unknown {
  return value === undefined ? undefined : redacted;
}
