import { heldBy } from './known-list.js';

/**
 * Freezes `value` and everything in it, in place, so that a write to a shared object throws at once. Skips
 * frozen values, so freezing twice costs nothing.
 * @returns `value`
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  // A `for` loop, because `Object.values` would allocate for each of the many small objects of a cache.
  if (Array.isArray(value)) for (const item of value as unknown[]) deepFreeze(item);
  else {
    // Skip a lazy list: reading it would create it, and the list is frozen when it is created.
    const held = heldBy(value)?.name;
    for (const name in value) if (name !== held) deepFreeze(value[name]);
  }
  return value;
}
