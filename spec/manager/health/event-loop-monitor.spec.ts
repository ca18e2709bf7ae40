import { expect } from 'chai';
import { EventLoopMonitor } from '../../../lib/manager/health/event-loop-monitor.js';
import type { Clock } from '../../../lib/system/clock.js';
import { noMetrics } from '../../../lib/system/metrics.js';
import { rememberingLogger } from '../manager-setup.js';
import type { LogLine } from '../manager-setup.js';

/** A clock whose timers fire when the spec says so, not when they are due. */
function lateClock() {
  const state = { nowMs: 0, fire: (): void => undefined };
  const clock: Clock = {
    now: () => state.nowMs,
    monotonicMs: () => state.nowMs,
    setTimer: (callback) => {
      state.fire = callback;
      return { cancel: () => (state.fire = () => undefined) };
    },
  };
  return { state, clock };
}

function setUp() {
  const { state, clock } = lateClock();
  const lines: LogLine[] = [];
  const parts = { clock, logger: rememberingLogger(lines), metrics: noMetrics, stallMs: 10_000 };
  const monitor = new EventLoopMonitor(parts);
  monitor.start();
  const passes = (): boolean => {
    try {
      void monitor.check.check(new AbortController().signal);
      return true;
    } catch {
      return false;
    }
  };
  const fireAt = (nowMs: number): void => {
    state.nowMs = nowMs;
    state.fire();
  };
  return { state, lines, passes, fireAt };
}

describe('EventLoopMonitor', () => {
  it('passes while timers fire in time, or a little late', () => {
    const { lines, passes, fireAt } = setUp();
    fireAt(1_000);
    fireAt(2_900);
    expect([passes(), lines]).to.deep.equal([true, []]);
  });

  it('fails for 20 s after a long stall, and logs it', () => {
    const { state, lines, passes, fireAt } = setUp();
    fireAt(11_000);
    expect(passes()).to.equal(false);
    expect(lines[0]?.fields).to.deep.equal({ lagMs: 10_000 });
    for (let n = 1; n <= 20; n++) fireAt(11_000 + n * 1_000);
    expect(passes()).to.equal(false);
    fireAt(32_000);
    expect([passes(), state.nowMs]).to.deep.equal([true, 32_000]);
  });

  it('fails during a stall, when a probe comes before the late timer', () => {
    const { state, passes } = setUp();
    state.nowMs = 10_999;
    expect(passes()).to.equal(true);
    state.nowMs = 11_000;
    expect(passes()).to.equal(false);
  });
});
