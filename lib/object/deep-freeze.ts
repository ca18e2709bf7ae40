import { heldBy } from './known-list.js';

/**
 * Freezes `value` and everything in it, in place, so that a write into a shared object throws at
 * once. What is frozen already is not entered again: freezing twice costs nothing.
 * @returns `value`
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  // By keys, for `Object.values` would allocate for each of the many small objects of a cache.
  if (Array.isArray(value)) for (const item of value as unknown[]) deepFreeze(item);
  else {
    // A list that nobody has read yet is frozen when it is made.
    const held = heldBy(value)?.name;
    for (const name in value) if (name !== held) deepFreeze(value[name]);
  }
  return value;
}
