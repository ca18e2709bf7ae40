import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { createToken } from '../../../lib/declarative/api-server/index.js';
import type { TokenClaims, TokenOptions } from '../../../lib/declarative/api-server/index.js';
import type { RsaKeys } from '../../../lib/system/x509.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { serverKeys } from './view-server.js';

const rules = [{ verbs: ['get'], apiGroups: ['*'], resources: ['*'], resourceNames: ['a'] }];
const claims: TokenClaims = { username: 'alice', namespaces: ['n'], rules };

describe('createToken', () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  let keys: RsaKeys;
  before(async () => {
    keys = (await serverKeys()).token;
  });

  function create(
    changed: Partial<Record<keyof TokenClaims, unknown>> = {},
    options: TokenOptions & { readonly key?: string } = {},
  ): Promise<string> {
    const { key = keys.privateKey, ...rest } = options;
    return createToken({ ...claims, ...changed } as TokenClaims, key, { clock, ...rest });
  }

  it('sets username, namespaces, rules and expiry as claims, and nothing else', async () => {
    const token = await create();
    const iat = Date.UTC(2026, 0, 1) / 1000;
    const { kid, ...header } = decodeProtectedHeader(token);
    expect(header).to.deep.equal({ alg: 'RS256', typ: 'JWT' });
    expect(kid).to.match(/^[\w-]{16}$/);
    const aud = 'views.operator-builder.io';
    expect(decodeJwt(token)).to.deep.equal({ ...claims, aud, iat, exp: iat + 86_400 });
    const short = await create({}, { validForMs: 60_999 });
    expect(decodeJwt(short).exp).to.equal(iat + 60);
  });

  const wrong: [string, Parameters<typeof create>, RegExp][] = [
    ['no username', [{ username: '' }], /username/],
    ['a string for namespaces', [{ namespaces: '*' }], /namespaces/],
    ['an empty namespace', [{ namespaces: [''] }], /namespaces/],
    ['no rules', [{ rules: undefined }], /want rules/],
    ['a rule without verbs', [{ rules: [rules[0], { resources: ['*'] }] }], /rules\[1\]/],
    ['a validity below one second', [{}, { validForMs: 999 }], /validForMs/],
    ['an infinite validity', [{}, { validForMs: Infinity }], /validForMs/],
    ['an invalid key', [{}, { key: 'x' }], /want a key in PEM/],
  ];
  for (const [what, args, message] of wrong) {
    it(`refuses ${what}`, async () => {
      const error: unknown = await create(...args).catch((reason: unknown) => reason);
      expect(error).to.have.property('code', 'InvalidOption');
      expect(String(error)).to.match(message);
    });
  }

  it('refuses a public key', async () => {
    const error: unknown = await create({}, { key: keys.publicKey }).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.have.property('code', 'InvalidOption');
  });
});
