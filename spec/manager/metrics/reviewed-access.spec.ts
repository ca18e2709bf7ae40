import { expect } from 'chai';
import type { Client } from '../../../lib/client/client.js';
import type { HttpAnswer, HttpQuestion } from '../../../lib/manager/http-endpoint.js';
import { ReviewedAccess } from '../../../lib/manager/metrics/reviewed-access.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

/** Sets up reviews of tokens: `good…` is valid, and `own…` only for the audience `operator-builder.io`. */
function setUp() {
  const clock = new VirtualClock();
  const waiting: (() => void)[] = [];
  const asked: string[] = [];
  const state = { isHeld: false, isBroken: false, isRevoked: false, most: 0 };
  const create = async (
    review: KubernetesObject & { spec: { token?: string; audiences?: string[] } },
  ) => {
    const { token, audiences } = review.spec;
    if (token === undefined) return { status: { allowed: true } };
    asked.push(token);
    if (state.isHeld) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        state.most = Math.max(state.most, waiting.length);
      });
    }
    if (state.isBroken) throw new Error('away');
    const isOwn = token.startsWith('own') && audiences?.join() === 'operator-builder.io';
    const authenticated = isOwn || (token.startsWith('good') && !state.isRevoked);
    return { status: { authenticated, user: { username: 'u' }, audiences } };
  };
  const access = new ReviewedAccess({ client: { create } as unknown as Client, clock });
  const questionOf = (headers: Record<string, string>, path = '/metrics') => {
    const url = new URL(`http://localhost${path}`);
    return { url, headers, method: 'GET', logger: silentLogger } as unknown as HttpQuestion;
  };
  const ask = (token: string, path?: string): Promise<HttpAnswer | undefined> =>
    access.refusal(questionOf({ authorization: `Bearer ${token}` }, path));
  const askAll = async (count: number, name: string): Promise<void> => {
    for (let n = 0; n < count; n++) await ask(`${name}${n}`);
  };
  const answer = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const times = (token: string): number => asked.filter((each) => each === token).length;
  return { clock, state, access, questionOf, ask, askAll, answer, asked, times };
}

describe('ReviewedAccess, which decides by access reviews whether a request is answered', () => {
  it('answers 401 without a review to a request without a bearer token', async () => {
    const { access, questionOf, asked } = setUp();
    for (const authorization of ['', 'Basic good', 'Bearer', 'Bearer a b']) {
      expect(await access.refusal(questionOf({ authorization }))).to.deep.equal({
        ...{ status: 401, headers: { 'www-authenticate': 'Bearer' }, body: 'Unauthorized\n' },
      });
    }
    expect(asked).to.deep.equal([]);
    expect(await access.refusal(questionOf({ authorization: 'bearer  good' }))).to.equal(undefined);
  });

  it('allows a token only for the path that was reviewed', async () => {
    const { ask, times } = setUp();
    for (const path of ['/metrics', '/metrics', '/plan', '/plan']) await ask('good', path);
    expect(times('good')).to.equal(2);
  });

  it('allows a token only for the method that was reviewed', async () => {
    const { access, questionOf, times } = setUp();
    const question = questionOf({ authorization: 'Bearer good' });
    await access.refusal({ ...question, method: 'HEAD' });
    await access.refusal(question);
    await access.refusal(question);
    expect(times('good')).to.equal(2);
  });

  it('returns the user of a token in X-Operator-Authorization, and of a token for the audience of operators', async () => {
    const { access, questionOf, ask } = setUp();
    const forwarded = { 'x-operator-authorization': 'Bearer good', authorization: 'Bearer bad' };
    const allowed = { user: { username: 'u' } };
    expect(await access.review(questionOf(forwarded))).to.deep.equal(allowed);
    const own = questionOf({ authorization: 'Bearer own' });
    expect(await access.review(own)).to.deep.equal(allowed);
    expect(await access.review(questionOf({}))).to.have.nested.property('refusal.status', 401);
    expect(await ask('own', '/other')).to.have.property('status', 401);
  });

  it('reviews at most ten tokens at the same time, and answers 429 to requests with further tokens', async () => {
    const { state, ask, answer, asked } = setUp();
    state.isHeld = true;
    const answers = Array.from({ length: 5_000 }, (_, n) => ask(`bad${n}`));
    const refused = await Promise.all(answers.slice(10));
    expect(new Set(refused.map((each) => each?.status))).to.deep.equal(new Set([429]));
    expect(refused[0]?.headers).to.deep.equal({ 'retry-after': '1' });
    // A concurrent review of the same token is shared.
    const same = ask('bad3');
    expect([state.most, asked.length]).to.deep.equal([10, 10]);
    answer();
    const first = await Promise.all([...answers.slice(0, 10), same]);
    expect(new Set(first.map((each) => each?.status))).to.deep.equal(new Set([401]));
    // A postponed token is not cached as refused.
    state.isHeld = false;
    expect(await ask('good')).to.equal(undefined);
  });

  it('repeats a review that failed', async () => {
    const { state, ask, times } = setUp();
    state.isBroken = true;
    for (let n = 0; n < 30; n++) expect(await ask('good')).to.have.property('status', 500);
    state.isBroken = false;
    expect(await ask('good')).to.equal(undefined);
    expect(times('good')).to.equal(31);
  });

  it('allows a user whom it has reviewed before during a flood of unknown tokens, even after the cached permission has expired', async () => {
    const { clock, state, ask, askAll, answer, times } = setUp();
    expect(await ask('good')).to.equal(undefined);
    await askAll(3_000, 'bad');
    expect([await ask('good'), times('good')]).to.deep.equal([undefined, 1]);
    await clock.advance(60_000);
    state.isHeld = true;
    const flood = Array.from({ length: 20 }, (_, n) => ask(`more${n}`));
    const good = ask('good');
    answer();
    expect([await good, times('good')]).to.deep.equal([undefined, 2]);
    await Promise.all(flood);
  });

  it('answers 429 during a flood of unknown tokens to a user whose permission was revoked', async () => {
    const { clock, state, ask, answer } = setUp();
    expect(await ask('good')).to.equal(undefined);
    state.isRevoked = true;
    await clock.advance(60_000);
    expect(await ask('good')).to.have.property('status', 401);
    await clock.advance(10_000);
    state.isHeld = true;
    const flood = Array.from({ length: 10 }, (_, n) => ask(`more${n}`));
    expect(await ask('good')).to.have.property('status', 429);
    answer();
    await Promise.all(flood);
  });

  it('caches the thousand most recently used refusals', async () => {
    const { askAll, ask, times } = setUp();
    await askAll(1_000, 'bad');
    await ask('bad0');
    expect(times('bad0')).to.equal(1);
    await ask('bad1000');
    await ask('bad0');
    await ask('bad1');
    expect([times('bad0'), times('bad1')]).to.deep.equal([1, 2]);
  });

  it('caches the thousand most recently used permissions', async () => {
    const { askAll, ask, times } = setUp();
    await askAll(1_000, 'good');
    await ask('good0');
    await ask('good1000');
    await ask('good0');
    await ask('good1');
    expect([times('good0'), times('good1')]).to.deep.equal([1, 2]);
  });

  it('refuses a revoked permission after a minute, and accepts a restored one after 10 s', async () => {
    const { clock, state, ask, times } = setUp();
    expect(await ask('good')).to.equal(undefined);
    state.isRevoked = true;
    await clock.advance(59_999);
    expect(await ask('good')).to.equal(undefined);
    await clock.advance(1);
    expect(await ask('good')).to.have.property('status', 401);
    state.isRevoked = false;
    await clock.advance(9_999);
    expect(await ask('good')).to.have.property('status', 401);
    await clock.advance(1);
    expect(await ask('good')).to.equal(undefined);
    expect(times('good')).to.equal(3);
  });
});
