import type { ListenerAccess, RequestHead, Session } from '../../apiserver/index.js';
import { failure } from '../../apiserver/status-error.js';
import type { Logger } from '../../system/logger.js';
import { websiteProblem } from '../../system/website-guard.js';
import { operatorOfViewGroup } from '../spec/operator-spec.js';
import { TokenAuthorizer } from './token-authorizer.js';
import type { TokenVerifier } from './token-verifier.js';

/** Limits access to views: the server's definitions, namespaces and other objects are not exposed. */
function serves(group: string): boolean {
  return operatorOfViewGroup(group) !== undefined;
}

const noHosts: ReadonlySet<string> = new Set();

/** Allows everything except impersonation: clients have no identity. */
const unsecured: Session = {
  user: { name: 'system:unsecured', groups: [] },
  authorizer: { authorize: (_user, { verb }) => ({ allowed: verb !== 'impersonate', reason: '' }) },
};

/**
 * Admits every client on the loopback interface, except websites in a browser of the machine. With DNS
 * rebinding a website reaches this address, but it sends its own host name, and browsers send its origin.
 */
export function loopbackAccess(logger: Logger): ListenerAccess {
  return {
    serves,
    authenticate: async (head) => {
      const problem = websiteProblem(head, noHosts);
      if (problem === undefined) return unsecured;
      logger.debug('views: request of a website refused', { problem });
      throw failure(403, 'Forbidden', 'forbidden: websites have no access to views', {});
    },
  };
}

/** Admits clients with a token, within its claims. */
export function tokenAccess(verifier: TokenVerifier, logger: Logger): ListenerAccess {
  return {
    serves,
    authenticate: async (head, nowMs) => {
      const token = bearerToken(head);
      if (token === undefined) return undefined;
      const verdict = await verifier.verify(token, nowMs);
      if (verdict.problem !== undefined) {
        logger.debug('views: a token was refused', { problem: verdict.problem });
        return undefined;
      }
      const { claims, untilMs } = verdict;
      return {
        user: { name: claims.username, groups: [] },
        authorizer: new TokenAuthorizer(claims),
        untilMs,
      };
    },
  };
}

function bearerToken({ headers }: RequestHead): string | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(headers['authorization'] ?? '') ?? [];
  return token;
}
