import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isSelfReview, ruleAllows, selfReviews } from '../../apiserver/internal.js';
import type {
  AccessAttributes,
  Authorizer,
  Decision,
  PolicyRule,
  UserInfo,
} from '../../apiserver/internal.js';
import { isJsonObject } from '../../object/index.js';
import {
  asError,
  systemClock,
  refuseUnknownOptions,
  silentLogger,
  OperatorError,
} from '../../system/index.js';
import type { Clock, Logger } from '../../system/index.js';

/** The only accepted signature algorithm. */
const tokenAlgorithm = 'RS256';

/** The audience of tokens: tokens for other servers are invalid here. */
const tokenAudience = 'views.operator-builder.io';

/** The claims of a token. All are required: a missing claim does not mean "everything". */
export interface TokenClaims {
  /** The user name in messages, logs and field managers; not empty. */
  readonly username: string;
  /** The namespaces that the rules apply to; `*`: all of them, and views without a namespace. */
  readonly namespaces: readonly string[];
  /**
   * The rules, as in a Role: `verbs`, `apiGroups`, `resources`, `resourceNames`, with `*` for all. A group
   * may begin with `*.`: `*.view.dcontroller.io` are the views of all operators.
   */
  readonly rules: readonly PolicyRule[];
}

/** Options of {@link createToken}. */
export interface TokenOptions {
  /** Validity in milliseconds, at least 1,000. @defaultValue 86_400_000: a day */
  readonly validForMs?: number | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
}

const dayMs = 24 * 60 * 60_000;

/**
 * Creates a token for the {@link ViewApiServer}: a JWT (RFC 7519), signed with RS256. The token is a secret.
 * @param key - the private RSA key, of at least 2,048 bits, in PEM.
 * @throws OperatorError `InvalidOption`: the claims, the key or the validity are invalid.
 */
export async function createToken(
  claims: TokenClaims,
  key: string,
  options: TokenOptions = {},
): Promise<string> {
  const { validForMs = dayMs, clock = systemClock } = options;
  refuseUnknownOptions<TokenOptions>('token', options, { validForMs, clock });
  if (!(validForMs >= 1_000 && Number.isFinite(validForMs))) {
    throw new OperatorError('InvalidOption', `token: want validForMs >= 1000, got ${validForMs}`);
  }
  const read = readTokenClaims({ ...claims });
  if (read.problem !== undefined) {
    throw new OperatorError('InvalidOption', `token: ${read.problem}`);
  }
  const nowSeconds = Math.floor(clock.now() / 1000);
  const signingKey = checked('the key that signs tokens', () => createPrivateKey(key));
  return sign(read.claims, signingKey, {
    from: nowSeconds,
    until: nowSeconds + Math.floor(validForMs / 1000),
  });
}

async function sign(
  { username, namespaces, rules }: TokenClaims,
  key: KeyObject,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<string> {
  const { SignJWT } = await import('jose');
  return new SignJWT({
    username,
    namespaces: [...namespaces],
    rules: rules.map((rule) => ({ ...rule })),
  })
    .setProtectedHeader({ alg: tokenAlgorithm, typ: 'JWT', kid: keyIdOf(key) })
    .setAudience(tokenAudience)
    .setIssuedAt(from)
    .setExpirationTime(until)
    .sign(key);
}

/** The claims of a token, or its problem: a string without any part of the token. */
type TokenVerdict =
  | { readonly claims: TokenClaims; readonly untilMs: number; readonly problem?: undefined }
  | { readonly problem: string };

interface TokenVerifierOptions {
  /** The initial keys. @defaultValue those of the file */
  readonly keys?: readonly VerifyingKey[] | undefined;
  /** Keys in PEM, read again when the file changes. @defaultValue undefined: the keys are fixed */
  readonly keyFile?: string | undefined;
  /** Logs why a file could not be read. @defaultValue no logger */
  readonly logger?: Logger | undefined;
}

/** Age in milliseconds from which on the keys are read from the file again. */
const freshMs = 10_000;
/** Tokens with an unknown key cause at most one read of the key file in this interval, in milliseconds. */
const retryMs = 1_000;

/**
 * Verifies tokens with the public keys of their issuer. A token may name its key (`kid`); otherwise all keys
 * are tried. A key removed from the file becomes invalid within ten seconds.
 */
export class TokenVerifier {
  readonly #keyFile: string | undefined;
  readonly #logger: Logger;
  #keys: readonly VerifyingKey[];
  #readMs = -Infinity;
  #reading: Promise<void> = Promise.resolve();

  constructor({ keys = [], keyFile, logger = silentLogger }: TokenVerifierOptions) {
    this.#keys = keys;
    this.#keyFile = keyFile;
    this.#logger = logger;
  }

  /** @param nowMs - the current time for the expiry, in milliseconds since 1970. */
  async verify(token: string, nowMs: number): Promise<TokenVerdict> {
    const { decodeProtectedHeader, jwtVerify } = await import('jose');
    const options = {
      ...{ algorithms: [tokenAlgorithm], audience: tokenAudience },
      currentDate: new Date(nowMs),
    };
    let problem: unknown;
    try {
      const { kid } = decodeProtectedHeader(token);
      await this.#reload(kid, nowMs);
      for (const { key } of this.#keysFor(kid)) {
        try {
          const { payload } = await jwtVerify(token, key, options);
          return verdictOn(payload);
        } catch (error) {
          problem = error;
        }
      }
    } catch (error) {
      problem = error;
    }
    return { problem: problemOf(problem) };
  }

  #keysFor(kid: string | undefined): readonly VerifyingKey[] {
    const named = this.#keys.filter(({ id }) => id === kid);
    // Without a match, try all keys: the issuer may use other names for its keys.
    return named.length > 0 ? named : this.#keys;
  }

  async #reload(kid: string | undefined, nowMs: number): Promise<void> {
    const isKnown = this.#keys.some(({ id }) => id === kid);
    const ageMs = nowMs - this.#readMs;
    const isFresh = ageMs >= 0 && ageMs < (isKnown ? freshMs : retryMs);
    if (this.#keyFile !== undefined && !isFresh) {
      this.#readMs = nowMs;
      this.#reading = this.#read(this.#keyFile);
    }
    // Another token may have started the read.
    await this.#reading;
  }

  async #read(file: string): Promise<void> {
    try {
      this.#keys = verifyingKeys(await readFile(file, 'utf8'));
    } catch (error) {
      // The file may be half written: the known keys stay valid.
      const fields = { file, error: asError(error).message };
      this.#logger.warn('views: the keys of tokens could not be read', fields);
    }
  }
}

function verdictOn(payload: { readonly exp?: number } & Record<string, unknown>): TokenVerdict {
  const { exp = Infinity } = payload;
  // `exp` may be missing, or Infinity: `JSON.parse` reads 1e999 as that.
  if (!Number.isFinite(exp)) return { problem: 'it never expires' };
  const read = readTokenClaims(payload);
  return read.problem === undefined ? { ...read, untilMs: exp * 1000 } : read;
}

const problems: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'it has expired',
  ERR_JOSE_ALG_NOT_ALLOWED: `it is not signed with ${tokenAlgorithm}`,
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'it is not signed by a key of this server',
};

/** Returns a description without the error's message, which may quote the token. */
function problemOf(error: unknown): string {
  const { code = '', claim = '' } = (error ?? {}) as {
    readonly code?: string;
    readonly claim?: string;
  };
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED') return `its claim ${claim} is invalid`;
  return problems[code] ?? 'it is not a signed JWT';
}

const allowed: Decision = { allowed: true, reason: '' };
const denied: Decision = { allowed: false, reason: '' };

/**
 * Paths that every authenticated client may read: those of the roles `system:discovery` and
 * `system:public-info-viewer`.
 */
const discoveryPath = /^\/(api|apis|openapi)(\/|$)|^\/(healthz|livez|readyz|version)$/;

/** Rules for {@link discoveryPath} and {@link isSelfReview}, as a rules review lists them. */
const rulesOfEverybody: readonly PolicyRule[] = [
  ...Object.entries(selfReviews).map(([group, resources]) => ({
    ...{ verbs: ['create'], apiGroups: [group], resources: [...resources] },
  })),
  {
    verbs: ['get'],
    nonResourceURLs: [
      ...['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'],
      ...['/healthz', '/livez', '/readyz', '/version'],
    ],
  },
];

/** Authorizes by the claims of one token, as Kubernetes does by Roles and RoleBindings. */
export class TokenAuthorizer implements Authorizer {
  readonly #claims: TokenClaims;

  constructor(claims: TokenClaims) {
    this.#claims = claims;
  }

  authorize(_user: UserInfo, attributes: AccessAttributes): Decision {
    const { verb, path, group } = attributes;
    // Tokens give rights to views: a rule with the verb `*` must not allow impersonation.
    if (verb === 'impersonate') return denied;
    if (path !== undefined && verb === 'get' && discoveryPath.test(path)) return allowed;
    if (isSelfReview(attributes)) return allowed;
    if (path === undefined && !this.#covers(attributes.namespace)) return this.#elsewhere();
    const { rules } = this.#claims;
    const allows = rules.some((rule) => ruleAllows(rulingOn(rule, group), attributes));
    return allows ? allowed : denied;
  }

  rulesFor(_user: UserInfo, namespace: string): readonly PolicyRule[] {
    const { rules } = this.#claims;
    const paths = rules.map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs }));
    return [...(this.#covers(namespace) ? rules : paths), ...rulesOfEverybody];
  }

  #covers(namespace: string): boolean {
    const { namespaces } = this.#claims;
    // A request for all namespaces, or for a view without one, has the namespace '', which only the claim `*` covers.
    return namespaces.includes('*') || namespaces.includes(namespace);
  }

  #elsewhere(): Decision {
    const { namespaces } = this.#claims;
    const names = namespaces.map((name) => JSON.stringify(name)).join(', ');
    const reason = `the token is for ${names === '' ? 'no namespace' : `the namespaces ${names}`}`;
    return { allowed: false, reason };
  }
}

/**
 * Returns `rule` in a form that Kubernetes' rule matching supports: without groups like
 * `*.view.dcontroller.io`.
 */
function rulingOn(rule: PolicyRule, group: string): PolicyRule {
  const { apiGroups = [] } = rule;
  const covered = apiGroups.some((own) => own.startsWith('*.') && group.endsWith(own.slice(1)));
  return covered ? { ...rule, apiGroups: ['*'] } : rule;
}

/** Claims, or their problem: a string without any of their values. */
type ReadClaims =
  { readonly claims: TokenClaims; readonly problem?: undefined } | { readonly problem: string };

/** Reads claims; ignores other members. */
function readTokenClaims(value: Readonly<Record<string, unknown>>): ReadClaims {
  const { username, namespaces, rules } = value;
  if (typeof username !== 'string' || username === '') {
    return { problem: 'want a username, a string that is not empty' };
  }
  if (!isTexts(namespaces)) {
    return { problem: 'want namespaces, a list of names ("*" for all of them)' };
  }
  if (!Array.isArray(rules)) return { problem: 'want rules, a list of rules of a Role' };
  const wrong = rules.findIndex((rule: unknown) => !isRule(rule));
  if (wrong >= 0) return { problem: `rules[${wrong}]: ${ruleForm}` };
  return { claims: { username, namespaces, rules: rules as PolicyRule[] } };
}

const ruleForm =
  'want an object with verbs, and lists of strings for apiGroups, resources, resourceNames, nonResourceURLs';

const optionalLists = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const;

function isRule(rule: unknown): boolean {
  if (!isJsonObject(rule) || !isTexts(rule['verbs'])) return false;
  return optionalLists.every((name) => rule[name] === undefined || isTexts(rule[name], true));
}

/** @param empty - whether a string may be empty, like the core group. */
function isTexts(value: unknown, empty = false): value is string[] {
  if (!Array.isArray(value)) return false;
  return value.every((one: unknown) => typeof one === 'string' && (empty || one !== ''));
}

export interface VerifyingKey {
  /** The `kid` in the header of a token. */
  readonly id: string;
  readonly key: KeyObject;
}

const shortestBits = 2048;

/** Returns the id of a public or private key: a hash of its public part. */
function keyIdOf(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64url').slice(0, 16);
}

/**
 * Returns the keys that verify the signatures of tokens, the newest first.
 * @param pem - public keys or certificates, one after the other
 * @throws OperatorError `InvalidOption`: a key is invalid, or the text has none.
 */
export function verifyingKeys(pem: string): readonly VerifyingKey[] {
  const blocks = pem.match(/-----BEGIN [^-]+-----[\s\S]*?-----END [^-]+-----/g) ?? [pem];
  return blocks.map((block) => {
    const key = verifyingKey(block);
    return { id: keyIdOf(key), key };
  });
}

function verifyingKey(pem: string): KeyObject {
  const what = 'tokenKey';
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    // A public key could be derived from the private key. But a verifier must not hold a key that creates tokens.
    const remedy = 'give the public key, or the certificate';
    throw new OperatorError('InvalidOption', `${what}: this is a private key: ${remedy}`);
  }
  return checked(what, () => createPublicKey(pem));
}

function checked(what: string, read: () => KeyObject): KeyObject {
  const key = readKey(what, read);
  const { asymmetricKeyType: type = '', asymmetricKeyDetails: { modulusLength = 0 } = {} } = key;
  if (type !== 'rsa' || modulusLength < shortestBits) {
    const got = type === 'rsa' ? `${modulusLength} bits` : type;
    const message = `${what}: want an RSA key of ${shortestBits} bits at least, got ${got}`;
    throw new OperatorError('InvalidOption', message);
  }
  return key;
}

function readKey(what: string, read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch (cause) {
    const message = `${what}: want a key in PEM`;
    throw new OperatorError('InvalidOption', message, { cause });
  }
}
