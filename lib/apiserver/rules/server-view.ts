import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Clock } from '../../system/clock.js';
import type { Random } from '../../system/random.js';
import type { TakenAddresses } from './taken-addresses.js';

/** What a kind's rules may see of the server. */
export interface ServerView {
  readonly clock: Clock;
  readonly random: Random;
  /** Addresses of all Services. */
  readonly addresses: TakenAddresses;
  /** An object of a collection (`services`, `apps/deployments`), by `namespace/name` or `name`. */
  find(collection: string, key: string): UnstructuredObject | undefined;
  /** All objects of a collection, in the order of their keys. */
  all(collection: string): Iterable<UnstructuredObject>;
}
