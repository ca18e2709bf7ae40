/**
 * The floors of `lib/`, from the ground up: a folder may import from floors below its own, never
 * from a neighbour on its own floor. The lint rule's zones are computed from this array.
 */
export const floors = [
  ['system'],
  ['object'],
  ['client', 'hash', 'crd'],
  ['events', 'cache', 'apiserver'],
  ['store', 'embedded', 'status'],
  ['apply'],
  ['builder'],
  ['controller'],
  ['manager', 'feed'],
  ['operator'],
  ['declarative', 'lifecycle', 'resource'],
  ['cli', 'testing'],
];

/** Folders that all others import by their `index.ts` only. */
export const doors = ['apply', 'controller', 'status'];

/** Folders that may use less than their floor allows, and what they may use. */
export const narrowed = {
  // A server must not lean on the client that it tests.
  apiserver: ['system', 'object', 'crd'],
};
