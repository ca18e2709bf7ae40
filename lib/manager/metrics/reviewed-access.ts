import { createHash } from 'node:crypto';
import type { Client } from '../../client/client.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { Clock } from '../../system/clock.js';
import type { HttpAnswer, HttpQuestion } from '../http/http-endpoint.js';

/** Options of {@link ReviewedAccess}. */
export interface ReviewedAccessOptions {
  /** Asks the reviews: needs `create` of `tokenreviews` and `subjectaccessreviews`. */
  readonly client: Client;
  readonly clock: Clock;
}

interface TokenReview extends KubernetesObject {
  readonly spec: { readonly token: string };
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: ReviewedUser;
  };
}

interface ReviewedUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface SubjectAccessReview extends KubernetesObject {
  readonly spec: object;
  readonly status?: { readonly allowed?: boolean };
}

/** An answer, and until when it counts. */
interface Decision {
  readonly refusal: Promise<HttpAnswer | undefined>;
  untilMs: number;
}

/** How long a permission is remembered, in milliseconds. */
const allowedMs = 60_000;
/** How long a refusal is remembered, in milliseconds. */
const refusedMs = 10_000;
/** So many decisions are remembered. */
const maxDecisions = 1_000;

/**
 * Lets those in whom the API server knows by their bearer token (TokenReview) and allows to `get` the
 * path (SubjectAccessReview), as the metrics servers of Go operators do. Permissions are remembered
 * for a minute, refusals for 10 s, by a hash of the token: the token itself is never kept.
 */
export class ReviewedAccess {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #decisions = new Map<string, Decision>();

  constructor({ client, clock }: ReviewedAccessOptions) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Why the request is refused; undefined: it is not. */
  async refusal(question: HttpQuestion): Promise<HttpAnswer | undefined> {
    const token = bearerToken(question);
    if (token === undefined) return unauthorized;
    const path = question.url.pathname;
    const name = createHash('sha256').update(`${path}\n${token}`).digest('base64');
    const nowMs = this.#clock.monotonicMs();
    const known = this.#decisions.get(name);
    if (known !== undefined && known.untilMs > nowMs) return known.refusal;
    const decision: Decision = { refusal: this.#decide(token, question), untilMs: Infinity };
    this.#remember(name, decision);
    try {
      const refusal = await decision.refusal;
      const lastsMs = refusal === undefined ? allowedMs : refusedMs;
      decision.untilMs = this.#clock.monotonicMs() + lastsMs;
      return refusal;
    } catch (error) {
      // Unknown is not refused: the next request asks again.
      if (this.#decisions.get(name) === decision) this.#decisions.delete(name);
      question.logger.error('who scrapes can not be reviewed', { error });
      return { status: 500, body: 'Authentication failed\n' };
    }
  }

  async #decide(token: string, { url, method }: HttpQuestion): Promise<HttpAnswer | undefined> {
    // Not the request's signal: others may wait for the same decision.
    const asked = await this.#client.create<TokenReview>({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: {},
      spec: { token },
    });
    const { authenticated = false, user } = asked.status ?? {};
    if (!authenticated || user?.username === undefined) return unauthorized;
    const { username, uid, groups, extra } = user;
    const nonResourceAttributes = { path: url.pathname, verb: method.toLowerCase() };
    const review = await this.#client.create<SubjectAccessReview>({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: { user: username, uid, groups, extra, nonResourceAttributes },
    });
    if (review.status?.allowed === true) return undefined;
    return { status: 403, body: `Authorization denied for user ${username}\n` };
  }

  #remember(name: string, decision: Decision): void {
    this.#decisions.delete(name);
    this.#decisions.set(name, decision);
    const [oldest] = this.#decisions.keys();
    if (this.#decisions.size > maxDecisions && oldest !== undefined) {
      this.#decisions.delete(oldest);
    }
  }
}

const unauthorized: HttpAnswer = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer' },
  body: 'Unauthorized\n',
};

function bearerToken({ headers }: HttpQuestion): string | undefined {
  const [, token] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return token;
}
