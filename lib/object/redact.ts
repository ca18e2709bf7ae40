import type { FieldChange } from './diff-by-path.js';
import { isJsonObject } from './json.js';
import type { UnstructuredObject } from './kubernetes-object.js';

/** The replacement of a value that must not be shown. */
export const redacted = '(redacted)';

/**
 * Redacts changes of an object of `kind` for logs, records and output. For a Secret, {@link redacted}
 * replaces every value that may contain its data, for example the last-applied annotation. Paths stay, and so
 * does whether a value was added or removed.
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
 * Redacts an object for output. In a Secret, {@link redacted} replaces the values of data and annotations.
 * For a value that differs from `before`, the replacement adds "changed".
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

// A list of allowed paths, so that an unforeseen path stays hidden.
function isShowable(path: string): boolean {
  return /^(type|immutable|metadata\.(name|namespace|uid|labels|finalizers|ownerReferences))\b/.test(
    path,
  );
}

function hidden(value: unknown): unknown {
  return value === undefined ? undefined : redacted;
}
