import { createHash } from 'node:crypto';
import type { Client } from '../../client/index.js';
import type { KubernetesObject } from '../../object/index.js';
import type { Clock } from '../../system/index.js';
import type { RequiredAccess } from '../access/required-access.js';
import type { HttpAnswer, HttpQuestion } from '../http-endpoint.js';
import type { CertificateSource } from '../webhooks/certificate-source.js';
import { generatedCertificates } from '../webhooks/generated-certificates.js';
import type { ResolvedMetricsOptions } from './bind-metrics.js';

/**
 * Returns the certificate that an operator makes for its metrics, valid for the Service
 * `<name>-controller-manager-metrics` and kept in the Secret `<name>-metrics-certificates`.
 */
export function metricsCertificate(
  { namespace, name }: NamespacedOperator,
  client: Client,
): CertificateSource {
  const secret = { namespace, name: `${name}-metrics-certificates` };
  const dnsNames = [`${name}-controller-manager-metrics.${namespace}.svc`];
  return generatedCertificates({ client, secret, dnsNames });
}

/** An operator in a cluster. */
interface NamespacedOperator {
  readonly namespace: string;
  readonly name: string;
}

export interface ReviewedAccessOptions {
  /** Sends the reviews; needs `create` on `tokenreviews` and `subjectaccessreviews`. */
  readonly client: Client;
  readonly clock: Clock;
}

interface TokenReview extends KubernetesObject {
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] };
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly user?: ReviewedUser;
  };
}

/** The client of a request, as a TokenReview describes it. */
export interface ReviewedUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Reviews of one token, of which one must succeed. */
type TokenSpecs = readonly [TokenReview['spec'], ...TokenReview['spec'][]];

interface SubjectAccessReview extends KubernetesObject {
  readonly spec: object;
  readonly status?: { readonly allowed?: boolean };
}

/** A request for a resource, as a SubjectAccessReview describes it. */
export interface ReviewedResource {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string | undefined;
  /** Absent for all objects. */
  readonly name?: string | undefined;
}

/** Answer to a client without access, or the client. */
export type Reviewed =
  { readonly refusal: HttpAnswer } | { readonly refusal?: undefined; readonly user: ReviewedUser };

/** A cached decision and its expiry. */
interface Decision {
  readonly reviewed: Promise<Reviewed>;
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
 * Header that carries the token in place of `authorization`, which the API server's proxy removes. The value has the
 * same form.
 */
export const forwardedTokenHeader = 'x-operator-authorization';

/**
 * Audience of tokens that only operators accept. A client that requests its token for this audience does not
 * reveal a token that the API server accepts.
 */
export const operatorAudience = 'operator-builder.io';

/**
 * Allows clients whose bearer token the API server authenticates (TokenReview) and authorizes for the request
 * (SubjectAccessReview), like the metrics servers of Go operators. Permissions are cached for a minute,
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
   * Refusals, and reviews that have not ended. They are kept apart from `#allowed`, so that many of them do not evict
   * the permissions.
   */
  readonly #others = new Map<string, Decision>();
  #reviewing = 0;

  constructor({ client, clock }: ReviewedAccessOptions) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Returns the refusal of a request; undefined if it is allowed. */
  async refusal(question: HttpQuestion): Promise<HttpAnswer | undefined> {
    const token = bearerToken(question.headers.authorization);
    if (token === undefined) return unauthorized.refusal;
    return (await this.#review(question, [{ token }])).refusal;
  }

  /**
   * Returns the client of a request, or its refusal. Also accepts a token in {@link forwardedTokenHeader}, and
   * one for the {@link operatorAudience}.
   */
  async review(question: HttpQuestion): Promise<Reviewed> {
    const { authorization, [forwardedTokenHeader]: forwarded } = question.headers;
    const token = bearerToken(forwarded ?? authorization);
    if (token === undefined) return unauthorized;
    return this.#review(question, [{ token }, { token, audiences: [operatorAudience] }]);
  }

  async #review(question: HttpQuestion, specs: TokenSpecs): Promise<Reviewed> {
    const [{ token }] = specs;
    const { method, url } = question;
    const digest = createHash('sha256').update(`${method} ${url.pathname}\n${token}`);
    const name = digest.digest('base64');
    const nowMs = this.#clock.monotonicMs();
    for (const decisions of [this.#others, this.#allowed]) {
      const known = decisions.get(name);
      if (known === undefined || known.untilMs <= nowMs) continue;
      remember(decisions, name, known);
      return this.#answerOf(known, question);
    }
    if (this.#reviewing >= maxReviews && !this.#allowed.has(name)) return tooMany;
    const decision: Decision = { reviewed: this.#decide(question, specs), untilMs: Infinity };
    remember(this.#others, name, decision);
    void this.#settle(name, decision);
    return this.#answerOf(decision, question);
  }

  /** Returns whether a client may send a request for a resource to the API server. Not cached. */
  allows(user: ReviewedUser, resourceAttributes: ReviewedResource): Promise<boolean> {
    return this.#allows(user, { resourceAttributes });
  }

  async #allows(user: ReviewedUser, attributes: object): Promise<boolean> {
    const { username, uid, groups, extra } = user;
    const review = await this.#client.create<SubjectAccessReview>({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: { user: username, uid, groups, extra, ...attributes },
    });
    return review.status?.allowed === true;
  }

  async #answerOf({ reviewed }: Decision, { logger, url }: HttpQuestion): Promise<Reviewed> {
    try {
      return await reviewed;
    } catch (error) {
      logger.error(`cannot review a client of ${url.pathname}`, { error });
      return { refusal: { status: 500, body: 'Authentication failed\n' } };
    }
  }

  async #settle(name: string, decision: Decision): Promise<void> {
    this.#reviewing++;
    try {
      const { refusal } = await decision.reviewed;
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

  // The review ignores the request's signal, because other requests may share the decision.
  async #decide({ url, method }: HttpQuestion, specs: TokenSpecs): Promise<Reviewed> {
    let user: ReviewedUser | undefined;
    for (const spec of specs) user ??= await this.#userOf(spec);
    if (user === undefined) return unauthorized;
    const nonResourceAttributes = { path: url.pathname, verb: method.toLowerCase() };
    if (await this.#allows(user, { nonResourceAttributes })) return { user };
    const body = `Authorization denied for user ${user.username ?? ''}\n`;
    return { refusal: { status: 403, body } };
  }

  async #userOf(spec: TokenReview['spec']): Promise<ReviewedUser | undefined> {
    const asked = await this.#client.create<TokenReview>({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: {},
      spec,
    });
    const { authenticated = false, user, audiences } = asked.status ?? {};
    // An API server without support for audiences returns none: it has checked the token for another audience.
    const isOfAudience = spec.audiences?.every((each) => audiences?.includes(each)) ?? true;
    return authenticated && isOfAudience && user?.username !== undefined ? user : undefined;
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

const unauthorized = {
  refusal: {
    status: 401,
    headers: { 'www-authenticate': 'Bearer' },
    body: 'Unauthorized\n',
  },
};

const tooMany = {
  refusal: {
    status: 429,
    headers: { 'retry-after': '1' },
    body: 'Too many tokens are being reviewed\n',
  },
};

/** Stores a decision as the most recent one and evicts the oldest. */
function remember(decisions: Map<string, Decision>, name: string, decision: Decision): void {
  decisions.delete(name);
  decisions.set(name, decision);
  const [oldest] = decisions.keys();
  if (decisions.size > maxDecisions && oldest !== undefined) decisions.delete(oldest);
}

function bearerToken(header: string | readonly string[] | undefined): string | undefined {
  const [, token] = /^bearer +(\S+)$/i.exec(String(header ?? '')) ?? [];
  return token;
}
