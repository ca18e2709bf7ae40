import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Clock } from '../../system/clock.js';
import type { Random } from '../../system/random.js';
import type { TakenAddresses } from './taken-addresses.js';

/** The parts of the server that a kind's rules can read. */
export interface ServerView {
  readonly clock: Clock;
  readonly random: Random;
  /** Addresses of all Services. */
  readonly addresses: TakenAddresses;
  /** Returns an object of a collection (`services`, `apps/deployments`), by `namespace/name` or `name`. */
  find(collection: string, key: string): UnstructuredObject | undefined;
  /** Returns all objects of a collection in key order. */
  all(collection: string): Iterable<UnstructuredObject>;
}
