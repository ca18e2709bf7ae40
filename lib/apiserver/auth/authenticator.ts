import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { isJsonObject } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import type { Clock, Random, TransportRequest } from '../../system/index.js';
import type { MvccLog } from '../storage/mvcc-log.js';

interface AuthenticatorOptions {
  /** Bearer tokens and their users. */
  readonly users: Readonly<Record<string, string | UserOptions>>;
  readonly tokens: ServiceAccountTokens;
  /** True if a client without credentials is anonymous instead of the administrator. */
  readonly anonymous: boolean;
}

export class Authenticator {
  readonly #users: ReadonlyMap<string, UserInfo>;
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    const known = Object.entries(options.users);
    this.#users = new Map(known.map(([token, user]) => [token, userInfoOf(user)]));
  }

  /**
   * Returns the user of a client certificate or a bearer token. If a request has both, one valid credential is enough.
   * @returns undefined if the request has credentials, but none is valid
   */
  authenticate(
    { headers }: TransportRequest,
    certified: CertifiedClient | undefined,
  ): UserInfo | undefined {
    const isTrusted = certified?.trusted ?? true;
    if (certified !== undefined && isTrusted && certified.user !== '') {
      return certifiedUser(certified);
    }
    const [, token] = /^Bearer +(.+)$/i.exec(headers['authorization'] ?? '') ?? [];
    if (token !== undefined) {
      const verdict = this.tokenUser(token);
      return 'user' in verdict ? verdict.user : undefined;
    }
    if (!isTrusted) return undefined;
    return this.#options.anonymous ? anonymous : administrator;
  }

  /**
   * Returns the user of a token.
   * @param audiences - the accepted audiences of the token; defaults to the audience of the server.
   */
  tokenUser(token: string, audiences: readonly string[] = [serverAudience]): TokenVerdict {
    const known = this.#users.get(token);
    if (known !== undefined) {
      // Tokens of the option `users` are valid only for the audience of the server.
      return audiences.includes(serverAudience)
        ? { user: known, audiences: [serverAudience] }
        : { error: 'invalid bearer token' };
    }
    const verdict = this.#options.tokens.verify(token, audiences);
    if (verdict === undefined) return { error: 'invalid bearer token' };
    return 'user' in verdict ? verdict : { error: `[invalid bearer token, ${verdict.error}]` };
  }
}

function certifiedUser({ user, groups, fingerprint }: CertifiedClient): UserInfo {
  const extra = { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] };
  return userInfoOf({ name: user, groups, extra });
}

/** The user of a request: the result of authentication and the input of authorization. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A user of the server, as options describe it. */
export interface UserOptions {
  readonly name: string;
  /**
   * Groups in addition to `system:authenticated`, which every known user has.
   * @defaultValue none
   */
  readonly groups?: readonly string[] | undefined;
  /** The uid of the user. @defaultValue none */
  readonly uid?: string | undefined;
  /** Extra attributes of the user. @defaultValue none */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
/** The group whose members may do everything, whatever the roles allow. */
export const mastersGroup = 'system:masters';

/** The user of requests without credentials if there is no authorization. */
export const administrator: UserInfo = {
  username: 'system:admin',
  groups: [mastersGroup, authenticatedGroup],
};

/** The user of requests without credentials if there is authorization. */
export const anonymous: UserInfo = {
  username: 'system:anonymous',
  groups: [unauthenticatedGroup],
};

/**
 * Parses `system:serviceaccount:namespace:name`.
 * @returns undefined if `username` is not of this form
 */
export function serviceAccountOf(
  username: string,
): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace = '', name = ''] =
    /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  return name === '' ? undefined : { namespace, name };
}

export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/**
 * Returns the user that options name. Without `groups`, the user gets the groups that its name implies, for
 * example those of a ServiceAccount.
 */
export function userInfoOf(user: string | UserOptions): UserInfo {
  const { name, groups, uid, extra } =
    typeof user === 'string' ? ({ name: user } as UserOptions) : user;
  if (groups === undefined && name === administrator.username) return administrator;
  const account = serviceAccountOf(name);
  const own = groups ?? (account === undefined ? [] : serviceAccountGroups(account.namespace));
  const known = own.includes(authenticatedGroup) || own.includes(unauthenticatedGroup);
  if (name === anonymous.username && groups === undefined) return anonymous;
  return { username: name, uid, groups: known ? own : [...own, authenticatedGroup], extra };
}

/** The default audience of tokens, and their issuer. */
export const serverAudience = 'https://kubernetes.default.svc';

/** An object that a token is bound to: the token is invalid once the object is gone. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node';
  readonly name: string;
  readonly uid: string;
}

/** The contents of a token to issue. */
interface TokenOrder {
  readonly account: UnstructuredObject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly bound?: BoundObject | undefined;
}

/** The user of a token, or the reason why the token is invalid. */
type TokenVerdict =
  { readonly user: UserInfo; readonly audiences: readonly string[] } | { readonly error: string };

interface Reference {
  readonly name: string;
  readonly uid: string;
}

interface Claims {
  readonly aud: readonly string[];
  readonly exp: number;
  readonly jti: string;
  readonly sub: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: Reference;
    readonly pod?: Reference;
    readonly secret?: Reference;
    readonly node?: Reference;
  };
}

const boundKinds = { pod: 'pods', secret: 'secrets', node: 'nodes' } as const;

/** The dependencies of the token issuer. */
interface Parts {
  readonly log: MvccLog;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Issues and verifies tokens of ServiceAccounts: JWTs with the claims of the real server, signed
 * (HMAC) with a key that only this server has. A token becomes invalid when it expires, or when its
 * account or the bound object is deleted.
 */
export class ServiceAccountTokens {
  readonly #parts: Parts;
  #key: string | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Issues a token. @returns the token: a secret */
  issue({ account, audiences, expirationSeconds, bound }: TokenOrder): string {
    const { clock, random } = this.#parts;
    const { namespace = '', name = '', uid = '' } = account.metadata;
    const now = Math.floor(clock.now() / 1000);
    const reference = bound && { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } };
    const claims = {
      aud: audiences,
      exp: now + expirationSeconds,
      iat: now,
      iss: serverAudience,
      jti: random.uuid(),
      'kubernetes.io': { namespace, ...reference, serviceaccount: { name, uid } },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const signed = [{ alg: 'HS256', kid: 'embedded' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${signed}.${this.#sign(signed).toString('base64url')}`;
  }

  /**
   * Verifies a token.
   * @param audiences - the accepted audiences; the token must have at least one of them.
   * @returns undefined if it is not a token of this server
   */
  verify(token: string, audiences: readonly string[] = [serverAudience]): TokenVerdict | undefined {
    const claims = this.#claimsOf(token);
    if (claims === undefined) return undefined;
    const common = audiences.filter((one) => claims.aud.includes(one));
    if (common.length === 0) {
      const shown = (list: readonly string[]): string => JSON.stringify(list).replaceAll(',', ' ');
      const error = `token audiences ${shown(claims.aud)} is invalid for the target audiences ${shown(audiences)}`;
      return { error };
    }
    if (this.#parts.clock.now() / 1000 >= claims.exp) {
      return { error: 'service account token has expired' };
    }
    const error = this.#problemOf(claims['kubernetes.io']);
    return error === undefined ? { user: userOf(claims), audiences: common } : { error };
  }

  #problemOf(claims: Claims['kubernetes.io']): string | undefined {
    const { namespace, serviceaccount } = claims;
    const account = this.#find('serviceaccounts', `${namespace}/${serviceaccount.name}`);
    if (account === undefined) return `serviceaccounts "${serviceaccount.name}" not found`;
    const { uid = '' } = account.metadata;
    if (uid !== serviceaccount.uid) {
      return `service account UID (${uid}) does not match claim (${serviceaccount.uid})`;
    }
    for (const kind of ['pod', 'secret', 'node'] as const) {
      // A pod's token also names its node, only for information. A token without a pod is bound to the node.
      if (kind === 'node' && claims.pod !== undefined) continue;
      const { [kind]: bound } = claims;
      if (bound === undefined) continue;
      const key = kind === 'node' ? bound.name : `${namespace}/${bound.name}`;
      const object = this.#find(boundKinds[kind], key);
      if (object?.metadata.uid !== bound.uid) return 'service account token has been invalidated';
    }
    return undefined;
  }

  #find(collection: string, key: string): UnstructuredObject | undefined {
    return this.#parts.log.collection(collection).get(key);
  }

  #claimsOf(token: string): Claims | undefined {
    const [header = '', payload = '', signature = '', ...more] = token.split('.');
    if (signature === '' || more.length > 0) return undefined;
    const given = Buffer.from(signature, 'base64url');
    const wanted = this.#sign(`${header}.${payload}`);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
    // The signature is valid, so the claims are unchanged since their issue.
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return isJsonObject(claims) ? (claims as unknown as Claims) : undefined;
  }

  #sign(text: string): Buffer {
    const { random } = this.#parts;
    this.#key ??= random.uuid() + random.uuid();
    return createHmac('sha256', this.#key).update(text).digest();
  }
}

function userOf(claims: Claims): UserInfo {
  const { namespace, serviceaccount, pod, node } = claims['kubernetes.io'];
  const prefix = 'authentication.kubernetes.io';
  return {
    username: claims.sub,
    uid: serviceaccount.uid,
    groups: [...serviceAccountGroups(namespace), authenticatedGroup],
    extra: {
      [`${prefix}/credential-id`]: [`JTI=${claims.jti}`],
      ...(node && {
        [`${prefix}/node-name`]: [node.name],
        [`${prefix}/node-uid`]: [node.uid],
      }),
      ...(pod && { [`${prefix}/pod-name`]: [pod.name], [`${prefix}/pod-uid`]: [pod.uid] }),
    },
  };
}

/** Content of a connection's client certificate. */
export interface CertifiedClient {
  /** True if the server's authority signed the certificate and it is valid now. */
  readonly trusted: boolean;
  /** CN of the subject. */
  readonly user: string;
  /** O of the subject. */
  readonly groups: readonly string[];
  /** SHA-256 fingerprint of the certificate, in hexadecimal. */
  readonly fingerprint: string;
}

/** Identities by connection: a connection has one certificate, and reading it costs more than most requests. */
const certifiedClients = new WeakMap<Socket, CertifiedClient | undefined>();

/** Returns the identity in the client certificate of a connection. @returns undefined if the connection has none */
export function certifiedClient(socket: Socket): CertifiedClient | undefined {
  if (!('getPeerCertificate' in socket)) return undefined;
  if (!certifiedClients.has(socket))
    certifiedClients.set(socket, readCertificate(socket as TLSSocket));
  return certifiedClients.get(socket);
}

function readCertificate(secure: TLSSocket): CertifiedClient | undefined {
  const certificate = secure.getPeerCertificate(true) as Partial<DetailedPeerCertificate>;
  const { subject, fingerprint256 = '' } = certificate;
  if (subject === undefined) return undefined;
  // If the subject has several organizations (O), Node.js returns a list, which its types omit.
  const { O: groups = [], CN: user = '' } = subject as unknown as {
    readonly O?: string | readonly string[];
    readonly CN?: string;
  };
  return {
    trusted: secure.authorized,
    user,
    groups: typeof groups === 'string' ? [groups] : groups,
    fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}
