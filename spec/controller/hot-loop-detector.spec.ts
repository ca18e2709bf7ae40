import { expect } from 'chai';
import { HotLoopDetector } from '../../lib/controller/hot-loop-detector.js';
import type { WriteSample } from '../../lib/controller/hot-loop-detector.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

function sample(data: Record<string, string>, more: Partial<WriteSample> = {}): WriteSample {
  const metadata = { name: 'a', namespace: 'ns' };
  const after = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  return { key: 'ns/owner', type: ConfigMap, target: metadata, before: undefined, after, ...more };
}

function newDetector(maxWrites = 3, maxRepeats = 100) {
  const clock = new VirtualClock();
  const options = { maxRepeats, maxWrites, windowMs: 1_000, baseDelayMs: 10, maxDelayMs: 40 };
  return { clock, detector: new HotLoopDetector(clock, options) };
}

describe('HotLoopDetector', () => {
  it('leaves alone who writes rarely, or many objects', async () => {
    const { clock, detector } = newDetector();
    for (let n = 0; n < 20; n++) {
      const many = sample({ n: String(n) }, { target: { name: `m${n}` } });
      expect(detector.wrote(many)).to.equal(undefined);
      expect(detector.wrote(sample({ n: String(n) }))).to.equal(undefined);
      await clock.advance(400);
    }
    expect(detector.delayMs('ns/owner')).to.equal(0);
  });

  it('finds who writes one object too often, and says what and how often', async () => {
    const { clock, detector } = newDetector();
    for (let n = 0; n < 3; n++) {
      expect(detector.wrote(sample({ n: String(n), same: 'x' }))).to.equal(undefined);
      await clock.advance(100);
    }
    expect(detector.wrote(sample({ n: '3', same: 'x' }))).to.deep.equal({
      key: 'ns/owner',
      object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'a' },
      writesPerMinute: 600,
      paths: ['data.n'],
      managers: [],
      delayMs: 10,
    });
  });

  for (const [what, states] of [
    ['writes the same again and again', ['a', 'a', 'a', 'a', 'a']],
    ['changes its mind and back', ['a', 'b', 'a', 'b', 'a', 'b']],
  ] as const) {
    it(`finds who ${what} sooner`, () => {
      const { detector } = newDetector(100, 3);
      const reports = states.map((state) => detector.wrote(sample({ state })));
      const found = reports.map((report) => report !== undefined);
      expect(found).to.deep.equal([...states.slice(1).map(() => false), true]);
    });
  }

  it('leaves alone who gets on, as a status that counts pods', () => {
    const { detector } = newDetector(100, 3);
    for (let n = 0; n < 99; n++) {
      expect(detector.wrote(sample({ ready: String(n) }))).to.equal(undefined);
    }
  });

  it('slows only that key down, more with each write, and reports once', async () => {
    const { clock, detector } = newDetector();
    const reports: unknown[] = [];
    const delays: number[] = [];
    for (let n = 0; n < 8; n++) {
      const report = detector.wrote(sample({ n: String(n) }));
      if (report !== undefined) reports.push(report);
      delays.push(detector.delayMs('ns/owner'));
      await clock.advance(10);
    }
    expect(delays).to.deep.equal([0, 0, 0, 10, 20, 40, 40, 40]);
    expect(reports.length).to.equal(1);
    expect(detector.delayMs('ns/other')).to.equal(0);
  });

  it('leaves a key alone again after five quiet windows, and forgets the object', async () => {
    const { clock, detector } = newDetector();
    for (let n = 0; n < 5; n++) detector.wrote(sample({ n: String(n) }));
    await clock.advance(4_999);
    expect(detector.delayMs('ns/owner')).to.be.above(0);
    await clock.advance(1);
    expect([detector.delayMs('ns/owner'), detector.size]).to.deep.equal([0, 0]);
  });

  it('sees what others changed between, and never tells a value', () => {
    const { detector } = newDetector(1);
    const mine = sample({ password: 'secret' });
    const theirs = sample({ password: 'other' }).after;
    detector.wrote(mine);
    const report = detector.wrote({ ...mine, before: theirs });
    expect(report?.paths).to.deep.equal(['data.password']);
    expect(JSON.stringify(report)).to.not.include('secret');
  });

  it('sees who deletes and makes one object again and again', () => {
    const { detector } = newDetector();
    const gone = { after: undefined };
    const reports = [{}, gone, {}, gone].map((more) => detector.wrote(sample({}, more)));
    expect(reports[3]).to.deep.include({ paths: [], managers: [] });
  });

  for (const options of [
    { maxWrites: 0 },
    { maxRepeats: NaN },
    { baseDelayMs: 50, maxDelayMs: 1 },
    { windowMs: NaN },
  ]) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      const construct = (): unknown => new HotLoopDetector(new VirtualClock(), options);
      expect(construct).to.throw().with.property('code', 'InvalidOption');
    });
  }
});
