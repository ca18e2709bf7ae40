import { expect } from 'chai';
import type { Client } from '../../../lib/client/client.js';
import type { HttpAnswer, HttpQuestion } from '../../../lib/manager/http/http-endpoint.js';
import { ReviewedAccess } from '../../../lib/manager/metrics/reviewed-access.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

/** Reviews that are answered when the spec says so; tokens that begin with `good` are allowed. */
function setUp() {
  const clock = new VirtualClock();
  const waiting: (() => void)[] = [];
  const asked: string[] = [];
  const state = { isHeld: false, isBroken: false, isRevoked: false, most: 0 };
  const create = async (review: KubernetesObject & { spec: { token?: string } }) => {
    const { token } = review.spec;
    if (token === undefined) return { status: { allowed: true } };
    asked.push(token);
    if (state.isHeld) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        state.most = Math.max(state.most, waiting.length);
      });
    }
    if (state.isBroken) throw new Error('away');
    const authenticated = token.startsWith('good') && !state.isRevoked;
    return { status: { authenticated, user: { username: 'u' } } };
  };
  const access = new ReviewedAccess({ client: { create } as unknown as Client, clock });
  const ask = (token: string): Promise<HttpAnswer | undefined> => {
    const headers = { authorization: `Bearer ${token}` };
    const url = new URL('http://localhost/metrics');
    const question = { url, headers, method: 'GET', logger: silentLogger };
    return access.refusal(question as unknown as HttpQuestion);
  };
  const askAll = async (count: number, name: string): Promise<void> => {
    for (let n = 0; n < count; n++) await ask(`${name}${n}`);
  };
  const answer = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const times = (token: string): number => asked.filter((each) => each === token).length;
  return { clock, state, ask, askAll, answer, asked, times };
}

describe('ReviewedAccess', () => {
  it('has ten tokens reviewed at once, and refuses more of them for now', async () => {
    const { state, ask, answer, asked } = setUp();
    state.isHeld = true;
    const answers = Array.from({ length: 5_000 }, (_, n) => ask(`bad${n}`));
    const refused = await Promise.all(answers.slice(10));
    expect(new Set(refused.map((each) => each?.status))).to.deep.equal(new Set([429]));
    expect(refused[0]?.headers).to.deep.equal({ 'retry-after': '1' });
    // The same token again costs nothing.
    const same = ask('bad3');
    expect([state.most, asked.length]).to.deep.equal([10, 10]);
    answer();
    const first = await Promise.all([...answers.slice(0, 10), same]);
    expect(new Set(first.map((each) => each?.status))).to.deep.equal(new Set([401]));
    // What was put off is not remembered as refused.
    state.isHeld = false;
    expect(await ask('good')).to.equal(undefined);
  });

  it('reviews again when reviews have failed', async () => {
    const { state, ask, times } = setUp();
    state.isBroken = true;
    for (let n = 0; n < 30; n++) expect(await ask('good')).to.have.property('status', 500);
    state.isBroken = false;
    expect(await ask('good')).to.equal(undefined);
    expect(times('good')).to.equal(31);
  });

  it('lets in during a flood who was let in before, also when the minute is over', async () => {
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

  it('remembers a thousand refusals, those that were asked for last', async () => {
    const { askAll, ask, times } = setUp();
    await askAll(1_000, 'bad');
    await ask('bad0');
    expect(times('bad0')).to.equal(1);
    await ask('bad1000');
    await ask('bad0');
    await ask('bad1');
    expect([times('bad0'), times('bad1')]).to.deep.equal([1, 2]);
  });

  it('remembers a thousand permissions, those that were used last', async () => {
    const { askAll, ask, times } = setUp();
    await askAll(1_000, 'good');
    await ask('good0');
    await ask('good1000');
    await ask('good0');
    await ask('good1');
    expect([times('good0'), times('good1')]).to.deep.equal([1, 2]);
  });

  it('notices a permission that was taken away when its minute is over, and one that is back', async () => {
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
