import { expect } from 'chai';
import { untilSignal } from '../../lib/manager/manager-run.js';
import { ManagerSetup, aborted, rememberingLogger } from './manager-setup.js';
import type { LogLine } from './manager-setup.js';

const listeners = (): number => process.listenerCount('SIGTERM') + process.listenerCount('SIGINT');

describe('untilSignal', () => {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    it(`aborts the given work at ${name} and then removes its signal listeners`, async () => {
      const others = process.listeners(name);
      const before = listeners();
      const lines: LogLine[] = [];
      const working = untilSignal(aborted, () => rememberingLogger(lines));
      // Only the new listeners: the others belong to the test runner.
      for (const listener of process.listeners(name)) {
        if (!others.includes(listener)) listener(name);
      }
      await working;
      expect(listeners()).to.equal(before);
      expect(lines.map(({ message }) => message)).to.deep.equal([`${name}: stops`]);
    });
  }

  it('stops a manager at the signal, and rejects if the manager cannot start', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager();
    const before = process.listeners('SIGTERM');
    const running = manager.runUntilSignal();
    await manager.whenStarted();
    for (const listener of process.listeners('SIGTERM')) {
      if (!before.includes(listener)) listener('SIGTERM');
    }
    await running;
    expect(manager.status().phase).to.equal('stopped');
    expect(setup.logged('info')).to.include('SIGTERM: stops');
    const again = await manager.runUntilSignal().catch((error: unknown) => error);
    expect(again).to.have.property('code');
    await setup.cluster.stop();
  });

  it('ends the process at the second signal', async () => {
    const exit = process.exit.bind(process);
    const codes: unknown[] = [];
    process.exit = ((code: unknown) => codes.push(code)) as never;
    try {
      const others = process.listeners('SIGTERM');
      let finish: () => void = () => undefined;
      const work = (): Promise<void> => new Promise((resolve) => (finish = resolve));
      const working = untilSignal(work, () => rememberingLogger([]));
      const [listener] = process.listeners('SIGTERM').filter((each) => !others.includes(each));
      listener?.('SIGTERM');
      expect(codes).to.deep.equal([]);
      listener?.('SIGTERM');
      expect(codes).to.deep.equal([1]);
      finish();
      await working;
    } finally {
      process.exit = exit;
    }
  });

  it('removes its signal listeners when the work fails', async () => {
    const before = listeners();
    const failing = untilSignal(
      async () => {
        throw new Error('no');
      },
      () => rememberingLogger([]),
    );
    expect(await failing.catch((error: unknown) => error)).to.have.property('message', 'no');
    expect(listeners()).to.equal(before);
  });
});
