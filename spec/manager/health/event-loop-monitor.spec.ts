import { expect } from 'chai';
import { EventLoopMonitor } from '../../../lib/manager/health-checks.js';
import type { Clock } from '../../../lib/system/clock.js';
import { noMetrics } from '../../../lib/system/metrics.js';
import type { HistogramOptions } from '../../../lib/system/metrics.js';
import { rememberingLogger } from '../manager-setup.js';
import type { LogLine } from '../manager-setup.js';

/** Returns a clock whose timers fire on demand instead of at their due time. */
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
  const lags: number[] = [];
  const histogram = (options: HistogramOptions) => ({
    ...noMetrics.histogram(options),
    observe: (seconds: number) => void lags.push(seconds),
  });
  const metrics = { ...noMetrics, histogram };
  const parts = { clock, logger: rememberingLogger(lines), metrics, stallMs: 10_000 };
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
  return { state, lines, lags, passes, fireAt };
}

describe('The health check of EventLoopMonitor', () => {
  it('passes while timers fire in time or slightly late', () => {
    const { lines, passes, fireAt } = setUp();
    fireAt(1_000);
    fireAt(2_900);
    expect([passes(), lines]).to.deep.equal([true, []]);
  });

  it('measures how late its timer fires, in seconds', () => {
    const { lags, fireAt } = setUp();
    for (const nowMs of [1_000, 2_250, 3_250, 14_250]) fireAt(nowMs);
    expect(lags).to.deep.equal([0, 0.25, 0, 10]);
  });

  it('passes after a single long stall of the event loop, and logs it', () => {
    const { lines, passes, fireAt } = setUp();
    fireAt(11_000);
    expect(lines[0]?.fields).to.deep.equal({ lagMs: 10_000 });
    for (let n = 1; n <= 30; n++) {
      expect(passes(), `${n} s after`).to.equal(true);
      fireAt(11_000 + n * 1_000);
    }
  });

  it('fails for 20 s after a second stall within 20 s', () => {
    const { passes, fireAt } = setUp();
    fireAt(11_000);
    for (let n = 1; n <= 19; n++) fireAt(11_000 + n * 1_000);
    expect(passes()).to.equal(true);
    fireAt(42_000);
    for (let n = 1; n <= 20; n++) {
      fireAt(42_000 + n * 1_000);
      expect(passes(), `${n} s after`).to.equal(false);
    }
    fireAt(63_000);
    expect(passes()).to.equal(true);
  });

  it('treats a stall as the first one if the previous stall was long ago', () => {
    const { passes, fireAt } = setUp();
    fireAt(11_000);
    for (let n = 1; n <= 21; n++) fireAt(11_000 + n * 1_000);
    fireAt(43_001);
    expect(passes()).to.equal(true);
  });

  it('keeps failing between repeated stalls', () => {
    const { passes, fireAt } = setUp();
    fireAt(11_000);
    const verdicts = [1, 2, 3].map((n) => {
      fireAt(11_000 + n * 16_000);
      return passes();
    });
    expect(verdicts).to.deep.equal([false, false, false]);
  });

  it('counts a stall only once if a probe arrives before the late timer fires', () => {
    const { state, passes, fireAt } = setUp();
    state.nowMs = 11_000;
    expect(passes()).to.equal(true);
    fireAt(11_500);
    expect(passes()).to.equal(true);
    state.nowMs = 22_499;
    expect(passes()).to.equal(true);
    state.nowMs = 22_500;
    expect(passes()).to.equal(false);
  });
});
