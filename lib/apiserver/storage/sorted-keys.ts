/**
 * The keys of a map in order. Adding and removing does not sort; the next read merges all changes
 * at once, so that a burst of creates costs one merge.
 */
export class SortedKeys {
  #sorted: readonly string[] = [];
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();

  add(key: string): void {
    if (!this.#removed.delete(key)) this.#added.add(key);
  }

  remove(key: string): void {
    if (!this.#added.delete(key)) this.#removed.add(key);
  }

  /** Returns all keys that begin with `prefix` and are at or after `from`, in ascending order. */
  range(prefix: string, from = ''): readonly string[] {
    const sorted = this.#merged();
    const start = lowerBound(sorted, from > prefix ? from : prefix);
    if (prefix === '') return start === 0 ? sorted : sorted.slice(start);
    // Keys are ASCII, so all code units are below this one.
    const end = lowerBound(sorted, `${prefix}\uffff`);
    return sorted.slice(start, end);
  }

  #merged(): readonly string[] {
    if (this.#added.size === 0 && this.#removed.size === 0) return this.#sorted;
    const kept = this.#sorted.filter((key) => !this.#removed.has(key));
    const added = [...this.#added].sort();
    this.#added.clear();
    this.#removed.clear();
    this.#sorted = merge(kept, added);
    return this.#sorted;
  }
}

function merge(left: readonly string[], right: readonly string[]): readonly string[] {
  if (right.length === 0) return left;
  const merged: string[] = [];
  let at = 0;
  for (const key of right) {
    for (let next = left[at]; next !== undefined && next < key; next = left[++at])
      merged.push(next);
    merged.push(key);
  }
  for (; at < left.length; at++) merged.push(left[at] ?? '');
  return merged;
}

function lowerBound(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
