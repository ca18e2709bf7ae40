import { createClient } from '../../client/index.js';
import type { ConnectedClient } from '../../client/index.js';
import { OperatorError } from '../../system/operator-error.js';

/**
 * A client of no cluster, for a manager that never runs. It knows the built-in kinds.
 * @param refuse - says what is wrong with a request
 */
export function unreachableClient(refuse: (request: string) => string): ConnectedClient {
  return createClient({
    transport: {
      request: ({ method, path }) => {
        throw new OperatorError('InvalidConfig', refuse(`${method} ${path}`));
      },
      close: () => Promise.resolve(),
    },
  });
}
