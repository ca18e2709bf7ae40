import { createClient } from '../../client/index.js';
import type { ConnectedClient } from '../../client/index.js';
import { OperatorError } from '../../system/operator-error.js';

/**
 * Returns a client without a cluster, for a manager that never runs. It knows the built-in kinds.
 * @param refuse - returns the error message for a request
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
