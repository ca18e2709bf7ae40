/**
 * The floors of `lib/`, from the ground up: a folder may import from floors below its own, never
 * from a neighbour on its own floor. It imports them by their doors only: `index.ts`, or `internal.ts`
 * where `index.ts` is a public entry. The lint rule's zones are computed from this array.
 */
export const floors = [
  ['system'],
  ['object', 'prometheus'],
  ['client', 'hash', 'crd'],
  ['events', 'cache', 'apiserver'],
  ['store', 'status'],
  ['apply'],
  ['builder'],
  ['controller'],
  ['manager', 'feed'],
  ['plan'],
  ['operator'],
  ['declarative', 'lifecycle', 'resource', 'types'],
  ['cli', 'testing'],
];

/** Folders that may use less than their floor allows: what they may use, and which of their parts may use all. */
export const narrowed = {
  // A server must not lean on the client that it tests. The embedded cluster joins both.
  apiserver: { below: ['system', 'object', 'crd'], except: ['cluster', 'index.ts', 'internal.ts'] },
};
