import { expect } from 'chai';
import { Settling } from '../../../lib/cli/run/settling.js';
import type { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { Manager } from '../../../lib/manager/index.js';
import { VirtualClock } from '../../../lib/system/index.js';

/** An operator in a simulated state. */
class Operator {
  readonly clock = new VirtualClock();
  readonly settling: Settling;
  depth = 0;
  isCalm = true;
  outcome: string | undefined;

  constructor() {
    const cluster = {
      settled: () => (this.isCalm ? Promise.resolve() : new Promise(() => undefined)),
    } as unknown as EmbeddedCluster;
    this.settling = new Settling({ cluster, clock: this.clock });
  }

  /** Reports the end of a reconcile that took 10 ms. */
  reconciled(fields: object = {}): void {
    const event = { type: 'reconciled', controller: 'shop', key: 'a', durationMs: 10, ...fields };
    this.settling.onEvent(event as never);
  }

  writes(kind = 'Shop'): void {
    this.settling.changed({ object: { kind } } as never);
  }

  wait(): this {
    const status = () => ({ controllers: [{ name: 'shop', depth: this.depth, active: [] }] });
    const manager = { status } as unknown as Manager;
    const { signal } = new AbortController();
    void this.settling.settled(manager, 60_000, signal).then(
      () => (this.outcome = 'settled'),
      (error: unknown) => (this.outcome = (error as Error).message),
    );
    return this;
  }
}

describe('waiting until an operator settles', () => {
  let operator: Operator;

  beforeEach(() => {
    operator = new Operator();
  });

  const after = async (ms: number): Promise<string | undefined> => {
    await operator.clock.advance(ms);
    return operator.outcome;
  };

  it('ends after a period without writes other than Events', async () => {
    operator.wait();
    expect(await after(400)).to.equal(undefined);
    operator.writes();
    operator.writes('Event');
    expect(await after(400)).to.equal(undefined);
    operator.writes('Event');
    expect(await after(200)).to.equal('settled');
  });

  it('lasts while keys are queued or pods are not ready', async () => {
    operator.depth = 1;
    operator.wait();
    expect(await after(5_000)).to.equal(undefined);
    operator.isCalm = false;
    operator.depth = 0;
    expect(await after(5_000)).to.equal(undefined);
    operator.isCalm = true;
    expect(await after(200)).to.equal('settled');
  });

  it('ends when the next reconcile, which is due soon, has changed nothing', async () => {
    operator.writes();
    operator.reconciled({ againInMs: 5_000 });
    operator.wait();
    expect(await after(4_000)).to.equal(undefined);
    operator.reconciled({ againInMs: 5_000 });
    expect(await after(200)).to.equal('settled');
  });

  it('does not include a periodic reconcile that is due much later', async () => {
    operator.writes();
    operator.reconciled({ againInMs: 600_000 });
    operator.wait();
    expect(await after(1_000)).to.equal('settled');
  });

  it('fails after its timeout with the key whose reconcile fails', async () => {
    operator.reconciled({ error: new Error('no till') });
    operator.wait();
    expect(await after(59_000)).to.equal(undefined);
    expect(await after(2_000)).to.equal(
      'the operator has not settled in 60 s: shop fails at a: no till',
    );
    operator = new Operator().wait();
    operator.reconciled({ error: new Error('no till') });
    operator.reconciled();
    expect(await after(1_000)).to.equal('settled');
  });
});
