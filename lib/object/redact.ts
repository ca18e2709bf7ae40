import type { FieldChange } from './diff-by-path.js';

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

// A list of what may be shown, not of what may not: a path that nobody thought of stays hidden.
function isShowable(path: string): boolean {
  return /^(type|immutable|metadata\.(name|namespace|uid|labels|finalizers|ownerReferences))\b/.test(
    path,
  );
}

function hidden(value: unknown): unknown {
  return value === undefined ? undefined : redacted;
}
