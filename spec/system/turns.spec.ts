import { expect } from 'chai';
import { Turns } from '../../lib/system/turns.js';

describe('Turns', () => {
  it('runs work for the same key in sequence, even after a failure, and work for other keys concurrently', async () => {
    const turns = new Turns();
    const log: string[] = [];
    const gate: { open?: () => void } = {};
    const first = turns.run('a', async () => {
      log.push('a1 begins');
      await new Promise<void>((resolve) => (gate.open = resolve));
      log.push('a1 fails');
      throw new Error('a1');
    });
    const second = turns.run('a', () => Promise.resolve(log.push('a2')));
    await turns.run('b', () => Promise.resolve(log.push('b1')));
    gate.open?.();
    const failure = await first.catch((error: unknown) => error);
    await second;
    expect(failure).to.have.property('message', 'a1');
    expect(log).to.deep.equal(['a1 begins', 'b1', 'a1 fails', 'a2']);
  });
});
