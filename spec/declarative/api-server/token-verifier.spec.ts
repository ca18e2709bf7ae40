import { expect } from 'chai';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { createPrivateKey } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createToken,
  generateKeys,
  rotateTokenKey,
} from '../../../lib/declarative/api-server/index.js';
import { TokenVerifier, verifyingKeys } from '../../../lib/declarative/api-server/tokens.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { tries } from '../../sample.js';
import { serverKeys } from './view-server.js';

const clock = new VirtualClock(Date.UTC(2026, 0, 1));
const claims = { username: 'alice', namespaces: ['n'], rules: [] };

describe('TokenVerifier', () => {
  let verifier: TokenVerifier;
  let token: string;
  before(async () => {
    const { publicKey, privateKey } = (await serverKeys()).token;
    verifier = new TokenVerifier({ keys: verifyingKeys(publicKey) });
    token = await createToken(claims, privateKey, { clock, validForMs: 60_000 });
  });

  it('returns the claims of a token and its expiry', async () => {
    const untilMs = clock.now() + 60_000;
    expect(await verifier.verify(token, clock.now())).to.deep.equal({ claims, untilMs });
  });

  for (const audience of [undefined, 'https://kubernetes.default.svc']) {
    it(`refuses a token ${audience === undefined ? 'without an audience' : `for the audience ${audience}`}`, async () => {
      const { privateKey } = (await serverKeys()).token;
      const signing = new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256' });
      const expiring = signing.setExpirationTime(clock.now() / 1000 + 60);
      const whole = audience === undefined ? expiring : expiring.setAudience(audience);
      const foreign = await whole.sign(createPrivateKey(privateKey));
      const verdict = await verifier.verify(foreign, clock.now());
      expect(verdict).to.deep.equal({ problem: 'its claim aud is invalid' });
    });
  }

  it('reads its key file again, and accepts the previous key after one rotation but not after two', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keys-'));
    const { tokenKey, signingKey } = await generateKeys({ directory });
    const tokenNow = async () => createToken(claims, await readFile(signingKey, 'utf8'), { clock });
    const following = new TokenVerifier({ keyFile: tokenKey });
    const isGood = async (one: string, afterMs: number) =>
      (await following.verify(one, clock.now() + afterMs)).problem === undefined;
    const first = await tokenNow();
    expect(await isGood(first, 0)).to.equal(true);
    await rotateTokenKey(directory);
    const second = await tokenNow();
    expect([await isGood(second, 2_000), await isGood(first, 2_000)]).to.deep.equal([true, true]);
    await rotateTokenKey(directory);
    const third = await tokenNow();
    expect([await isGood(third, 20_000), await isGood(second, 20_000)]).to.deep.equal([true, true]);
    expect(await isGood(first, 20_000)).to.equal(false);
    await rm(directory, { recursive: true });
  });

  it('accepts tokens that arrive together with the first token of a new key', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keys-'));
    const { tokenKey, signingKey } = await generateKeys({ directory });
    const following = new TokenVerifier({
      keys: verifyingKeys(await readFile(tokenKey, 'utf8')),
      keyFile: tokenKey,
    });
    await rotateTokenKey(directory);
    const fresh = await createToken(claims, await readFile(signingKey, 'utf8'), { clock });
    const verdicts = await Promise.all([1, 2, 3].map(() => following.verify(fresh, clock.now())));
    expect(verdicts.map(({ problem }) => problem)).to.deep.equal([undefined, undefined, undefined]);
    await rm(directory, { recursive: true });
  });

  it('rejects a token with any changed character, without repeating its claims', async () => {
    const signed = token.lastIndexOf('.');
    const change = fc.tuple(fc.nat(signed), fc.constantFrom('a', 'Z', '0', '9', '-', '_', '.'));
    const property = fc.asyncProperty(change, async ([at, character]) => {
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      fc.pre(changed !== token);
      const verdict = await verifier.verify(changed, clock.now());
      expect(verdict).to.have.property('problem').that.does.not.contain('alice');
    });
    await fc.assert(property, { numRuns: tries(200) });
  });

  it('rejects arbitrary input with a message that repeats none of it', async () => {
    const part = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
    );
    const property = fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
      const verdict = await verifier.verify(parts.join('.'), clock.now());
      expect(verdict)
        .to.have.property('problem')
        .that.matches(/^it[ s][a-zA-Z0-9 ]+$/);
    });
    await fc.assert(property, { numRuns: tries(200) });
  });
});
