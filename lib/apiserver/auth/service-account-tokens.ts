import { createHmac, timingSafeEqual } from 'node:crypto';
import { isJsonObject } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Clock } from '../../system/clock.js';
import type { Random } from '../../system/random.js';
import type { MvccLog } from '../storage/mvcc-log.js';
import { authenticatedGroup, serviceAccountGroups } from './user-info.js';
import type { UserInfo } from './user-info.js';

/** The default audience of tokens, and their issuer. */
export const serverAudience = 'https://kubernetes.default.svc';

/** An object that a token is bound to: the token is invalid once the object is gone. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node';
  readonly name: string;
  readonly uid: string;
}

/** The contents of a token to issue. */
export interface TokenOrder {
  readonly account: UnstructuredObject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly bound?: BoundObject | undefined;
}

/** The user of a token, or the reason why the token is invalid. */
export type TokenVerdict =
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

  /**
   * Issues a token.
   * @returns the token: a secret
   */
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
   * @returns undefined: it is not a token of this server
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
      // The node of a bound pod is only informative. A token without a pod is bound to its node.
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
