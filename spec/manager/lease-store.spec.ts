import { expect } from 'chai';
import { newLease, takenLease, LeaseStore } from '../../lib/manager/lease.js';
import { isConflict } from '../../lib/object/api-error.js';
import { Election, leaseKey } from './leader-election-setup.js';

describe('LeaseStore', () => {
  it('lets only the first of two replicas take a Lease that both have read', async () => {
    const { cluster, clock, admin } = await Election.start();
    const store = new LeaseStore({ client: admin, clock, ...leaseKey });
    const { signal } = new AbortController();
    const holding = (identity: string) => ({ identity, durationMs: 3_000, nowMs: clock.now() });
    const read = await store.create(newLease(leaseKey, holding('x')), signal);
    await store.update(takenLease(read, holding('a')), signal);
    const late = store.update(takenLease(read, holding('b')), signal);
    expect(isConflict(await late.catch((error: unknown) => error))).to.be.true;
    expect((await store.get(signal))?.spec?.holderIdentity).to.equal('a');
    await cluster.stop();
  });
});
