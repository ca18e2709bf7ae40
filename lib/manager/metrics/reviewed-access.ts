import { createHash } from 'node:crypto';
import type { Client } from '../../client/index.js';
import type { KubernetesObject } from '../../object/index.js';
import type { Clock } from '../../system/index.js';
import type { RequiredAccess } from '../access/required-access.js';
import type { HttpAnswer, HttpQuestion } from '../http-endpoint.js';
import type { ResolvedMetricsOptions } from './bind-metrics.js';

/** Options of {@link ReviewedAccess}. */
export interface ReviewedAccessOptions {
  /** Sends the reviews; needs `create` on `tokenreviews` and `subjectaccessreviews`. */
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

/** A cached decision and its expiry. */
interface Decision {
  readonly refusal: Promise<HttpAnswer | undefined>;
  untilMs: number;
}

/** Time to cache a permission, in milliseconds. */
const allowedMs = 60_000;
/** Time to cache a refusal, in milliseconds. */
const refusedMs = 10_000;
/** Maximum number of cached permissions, and of cached refusals. */
const maxDecisions = 1_000;
/** Maximum number of concurrent reviews of tokens without a permission. */
const maxReviews = 10;

/**
 * Allows clients whose bearer token the API server authenticates (TokenReview) and authorizes to `get` the
 * path (SubjectAccessReview), like the metrics servers of Go operators. Permissions are cached for a minute,
 * refusals for 10 s, by a hash of the token; the token itself is not stored.
 *
 * A flood of tokens causes at most ten concurrent reviews; further ones get a 429. Clients with an earlier
 * permission are not affected.
 */
export class ReviewedAccess {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #allowed = new Map<string, Decision>();
  /**
   * Refusals, and reviews that have not ended. They have their own map, so that a flood of them does not
   * evict permissions.
   */
  readonly #others = new Map<string, Decision>();
  #reviewing = 0;

  constructor({ client, clock }: ReviewedAccessOptions) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Returns the refusal of a request; undefined if it is allowed. */
  async refusal(question: HttpQuestion): Promise<HttpAnswer | undefined> {
    const token = bearerToken(question);
    if (token === undefined) return unauthorized;
    const path = question.url.pathname;
    const name = createHash('sha256').update(`${path}\n${token}`).digest('base64');
    const nowMs = this.#clock.monotonicMs();
    for (const decisions of [this.#others, this.#allowed]) {
      const known = decisions.get(name);
      if (known === undefined || known.untilMs <= nowMs) continue;
      remember(decisions, name, known);
      return this.#answerOf(known, question);
    }
    if (this.#reviewing >= maxReviews && !this.#allowed.has(name)) return tooMany;
    const decision: Decision = { refusal: this.#decide(token, question), untilMs: Infinity };
    remember(this.#others, name, decision);
    void this.#settle(name, decision);
    return this.#answerOf(decision, question);
  }

  async #answerOf(
    { refusal }: Decision,
    { logger }: HttpQuestion,
  ): Promise<HttpAnswer | undefined> {
    try {
      return await refusal;
    } catch (error) {
      logger.error('a client of the metrics cannot be reviewed', { error });
      return { status: 500, body: 'Authentication failed\n' };
    }
  }

  async #settle(name: string, decision: Decision): Promise<void> {
    this.#reviewing++;
    try {
      const refusal = await decision.refusal;
      const nowMs = this.#clock.monotonicMs();
      decision.untilMs = nowMs + (refusal === undefined ? allowedMs : refusedMs);
      if (refusal !== undefined) {
        this.#allowed.delete(name);
        return;
      }
      this.#others.delete(name);
      remember(this.#allowed, name, decision);
    } catch {
      // The caller receives the error. It is not cached: the next request is reviewed again.
      if (this.#others.get(name) === decision) this.#others.delete(name);
    } finally {
      this.#reviewing--;
    }
  }

  async #decide(token: string, { url, method }: HttpQuestion): Promise<HttpAnswer | undefined> {
    // Without the request's signal: other requests may share the decision.
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
}

const review = { version: 'v1', namespaced: false } as const;
const reviewAccess: readonly RequiredAccess[] = [
  {
    type: {
      ...review,
      group: 'authentication.k8s.io',
      kind: 'TokenReview',
      plural: 'tokenreviews',
    },
    verbs: ['create'],
  },
  {
    type: {
      ...review,
      group: 'authorization.k8s.io',
      kind: 'SubjectAccessReview',
      plural: 'subjectaccessreviews',
    },
    verbs: ['create'],
  },
];

/** Returns the access that the metrics server needs: for reviews and for its certificate. */
export function metricsAccess(
  metrics: Pick<ResolvedMetricsOptions, 'serve' | 'access' | 'certificate'> | undefined,
): readonly RequiredAccess[] {
  if (metrics?.serve !== true) return [];
  const { access, certificate } = metrics;
  return [...(access === 'reviewed' ? reviewAccess : []), ...(certificate?.access ?? [])];
}

const unauthorized: HttpAnswer = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer' },
  body: 'Unauthorized\n',
};

const tooMany: HttpAnswer = {
  status: 429,
  headers: { 'retry-after': '1' },
  body: 'Too many tokens are being reviewed\n',
};

/** Stores a decision as the most recent one and evicts the oldest. */
function remember(decisions: Map<string, Decision>, name: string, decision: Decision): void {
  decisions.delete(name);
  decisions.set(name, decision);
  const [oldest] = decisions.keys();
  if (decisions.size > maxDecisions && oldest !== undefined) decisions.delete(oldest);
}

function bearerToken({ headers }: HttpQuestion): string | undefined {
  const [, token] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return token;
}
