import { expect } from 'chai';
import { retryOnConflict } from '../../lib/client/index.js';
import { ApiError } from '../../lib/object/api-error.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { failureOf } from './scripted-transport.js';

const refused = (status: number, reason: string, verb = 'update') =>
  new ApiError({ code: status, reason }, { verb, kind: 'ConfigMap', status });

describe('retryOnConflict', () => {
  const run = (errors: readonly Error[], maxAttempts?: number) => {
    const clock = new VirtualClock();
    const attempts: number[] = [];
    const work = async (): Promise<string> => {
      const error = errors[attempts.length];
      attempts.push(Math.floor(clock.monotonicMs()));
      if (error !== undefined) throw error;
      return 'done';
    };
    const outcome = retryOnConflict(work, { clock, random: seededRandom(1), maxAttempts });
    return { clock, attempts, outcome };
  };

  it('retries after a conflict with increasing delays', async () => {
    const conflict = refused(409, 'Conflict');
    const { clock, attempts, outcome } = run([conflict, conflict]);
    await clock.advance(1_000);
    expect(await outcome).to.equal('done');
    expect(attempts).to.have.length(3);
    expect(attempts[1]).to.be.within(10, 11);
    expect(attempts[2]).to.be.within(30, 33);
  });

  it('treats a failed test of a JSON patch as a conflict', async () => {
    const { clock, outcome } = run([refused(422, 'Invalid', 'patch')]);
    await clock.advance(1_000);
    expect(await outcome).to.equal('done');
  });

  it('stops after five attempts', async () => {
    const conflict = refused(409, 'Conflict');
    const { clock, attempts, outcome } = run(Array.from({ length: 9 }, () => conflict));
    const failure = failureOf(outcome);
    await clock.advance(10_000);
    expect(await failure).to.equal(conflict);
    expect(attempts).to.have.length(5);
  });

  for (const error of [
    refused(409, 'AlreadyExists'),
    refused(422, 'Invalid'),
    new Error('other'),
  ]) {
    it(`throws an error other than a conflict at once: ${error.message}`, async () => {
      const { attempts, outcome } = run([error]);
      expect(await failureOf(outcome)).to.equal(error);
      expect(attempts).to.have.length(1);
    });
  }
});
