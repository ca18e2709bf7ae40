import { expect } from 'chai';
import fc from 'fast-check';
import { createToken } from '../../../lib/declarative/api-server/index.js';
import { TokenVerifier } from '../../../lib/declarative/api-server/token-verifier.js';
import { verifyingKey } from '../../../lib/declarative/api-server/token-key.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { serverKeys } from './view-server.js';

const clock = new VirtualClock(Date.UTC(2026, 0, 1));
const claims = { username: 'alice', namespaces: ['n'], rules: [] };

describe('TokenVerifier', () => {
  let verifier: TokenVerifier;
  let token: string;
  before(async () => {
    const { publicKey, privateKey } = (await serverKeys()).token;
    verifier = new TokenVerifier(verifyingKey(publicKey));
    token = await createToken(claims, privateKey, { clock, validForMs: 60_000 });
  });

  it('says what a token says, and until when', async () => {
    const untilMs = clock.now() + 60_000;
    expect(await verifier.verify(token, clock.now())).to.deep.equal({ claims, untilMs });
  });

  it('says nothing of a token in which anything signed was changed', async () => {
    const signed = token.lastIndexOf('.');
    const change = fc.tuple(fc.nat(signed), fc.constantFrom('a', 'Z', '0', '9', '-', '_', '.'));
    const property = fc.asyncProperty(change, async ([at, character]) => {
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      fc.pre(changed !== token);
      const verdict = await verifier.verify(changed, clock.now());
      expect(verdict).to.have.property('problem').that.does.not.contain('alice');
    });
    await fc.assert(property, { numRuns: 200 });
  });

  it('survives whatever is shown to it, and repeats none of it', async () => {
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
    await fc.assert(property, { numRuns: 200 });
  });
});
