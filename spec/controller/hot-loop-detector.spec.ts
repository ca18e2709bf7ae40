import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { HotLoopDetector } from '../../lib/controller/hot-loop.js';
import type { WriteSample } from '../../lib/controller/hot-loop.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

function sample(data: Record<string, string>, more: Partial<WriteSample> = {}): WriteSample {
  const metadata = { name: 'a', namespace: 'ns' };
  const after = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  return { key: 'ns/owner', type: ConfigMap, target: metadata, before: undefined, after, ...more };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function newDetector(maxWrites = 3, maxRepeats = 100) {
  const clock = new VirtualClock();
  const options = { maxRepeats, maxWrites, windowMs: 1_000, baseDelayMs: 10, maxDelayMs: 40 };
  return { clock, detector: new HotLoopDetector(clock, options) };
}

describe('HotLoopDetector', () => {
  it('ignores keys that write rarely or write many objects', async () => {
    const { clock, detector } = newDetector();
    for (let n = 0; n < 20; n++) {
      const many = sample({ n: String(n) }, { target: { name: `m${n}` } });
      expect(detector.wrote(many)).to.equal(undefined);
      expect(detector.wrote(sample({ n: String(n) }))).to.equal(undefined);
      await clock.advance(400);
    }
    expect(detector.delayMs('ns/owner')).to.equal(0);
  });

  it('reports a key that writes one object too often, with the changed paths and the rate', async () => {
    const { clock, detector } = newDetector();
    for (let n = 0; n < 3; n++) {
      expect(detector.wrote(sample({ n: String(n), same: 'x' }))).to.equal(undefined);
      await clock.advance(100);
    }
    expect(detector.wrote(sample({ n: '3', same: 'x' }))).to.deep.equal({
      key: 'ns/owner',
      object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'a' },
      // Four writes in the window of one second, though they took 300 ms.
      writesPerMinute: 240,
      paths: ['data.n'],
      managers: [],
      delayMs: 10,
    });
  });

  it('reports a key that begins to write one object too often after rare writes', async () => {
    const { clock, detector } = newDetector();
    for (let n = 0; n < 10; n++) {
      expect(detector.wrote(sample({ n: String(n) }))).to.equal(undefined);
      await clock.advance(n < 7 ? 2_000 : 100);
    }
    expect(detector.wrote(sample({ n: '10' }))).to.deep.include({ writesPerMinute: 240 });
  });

  it('reports the field managers of the object, the latest first', () => {
    const { detector } = newDetector(1);
    const managedFields = [
      { manager: 'old', time: '2026-01-01T00:00:00Z' },
      { manager: 'newest', time: '2026-01-03T00:00:00Z' },
      { manager: 'newer', time: '2026-01-02T00:00:00Z' },
    ];
    const metadata = { name: 'a', namespace: 'ns', managedFields };
    const after = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    detector.wrote(sample({}, { after }));
    expect(detector.wrote(sample({}, { after }))?.managers).to.deep.equal([
      'newest',
      'newer',
      'old',
    ]);
  });

  for (const [what, states] of [
    ['writes the same state repeatedly', ['a', 'a', 'a', 'a', 'a']],
    ['alternates between two states', ['a', 'b', 'a', 'b', 'a', 'b']],
  ] as const) {
    it(`reports a key earlier if it ${what}`, () => {
      const { detector } = newDetector(100, 3);
      const reports = states.map((state) => detector.wrote(sample({ state })));
      const found = reports.map((report) => report !== undefined);
      expect(found).to.deep.equal([...states.slice(1).map(() => false), true]);
    });
  }

  it('ignores writes that make progress, such as a status that counts pods', () => {
    const { detector } = newDetector(100, 3);
    for (let n = 0; n < 99; n++) {
      expect(detector.wrote(sample({ ready: String(n) }))).to.equal(undefined);
    }
  });

  it('delays only the key that it reports, longer with each write, and reports the key once', async () => {
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

  it('clears the delay and discards the object after five windows without writes', async () => {
    const { clock, detector } = newDetector();
    for (let n = 0; n < 5; n++) detector.wrote(sample({ n: String(n) }));
    await clock.advance(4_999);
    expect(detector.delayMs('ns/owner')).to.be.above(0);
    await clock.advance(1);
    expect([detector.delayMs('ns/owner'), detector.size]).to.deep.equal([0, 0]);
  });

  it('lists a delayed key until five windows have passed without a write, even if its delay is not read', async () => {
    const { clock, detector } = newDetector();
    for (let n = 0; n < 5; n++) detector.wrote(sample({ n: String(n) }));
    await clock.advance(4_999);
    expect(detector.all().map(({ key, delayMs }) => [key, delayMs])).to.deep.equal([
      ['ns/owner', 20],
    ]);
    await clock.advance(1);
    expect(detector.all()).to.deep.equal([]);
  });

  it('halves the delay of a key that writes rarely, until the key has no delay', async () => {
    const { clock, detector } = newDetector();
    for (let n = 0; n < 9; n++) detector.wrote(sample({ n: String(n) }));
    const delays: number[] = [];
    for (let n = 10; n < 14; n++) {
      await clock.advance(1_001);
      detector.wrote(sample({ n: String(n) }));
      delays.push(detector.delayMs('ns/owner'));
      // Halves the delay at most once per window.
      detector.wrote(sample({ n: `${n}b` }));
    }
    expect(delays).to.deep.equal([20, 10, 0, 0]);
    expect(detector.all()).to.deep.equal([]);
  });

  it('halves the delay only when more than a window has passed since the delay last changed', async () => {
    const { clock, detector } = newDetector();
    for (let n = 0; n < 5; n++) detector.wrote(sample({ n: String(n) }));
    expect(detector.delayMs('ns/owner')).to.equal(20);
    await clock.advance(1_000);
    // The oldest of the last four writes is still in the window, so this one is one too many.
    detector.wrote(sample({ n: '5' }));
    expect(detector.delayMs('ns/owner')).to.equal(40);
    await clock.advance(1_000);
    detector.wrote(sample({ n: '6' }));
    expect(detector.delayMs('ns/owner')).to.equal(40);
    await clock.advance(1);
    detector.wrote(sample({ n: '7' }));
    expect(detector.delayMs('ns/owner')).to.equal(20);
  });

  it('delays a key until none of its objects is written too often', async () => {
    const { clock, detector } = newDetector();
    const write = (name: string, count: number): void => {
      for (let n = 0; n < count; n++) detector.wrote(sample({ n: `${n}` }, { target: { name } }));
    };
    write('one', 4);
    await clock.advance(2_000);
    write('other', 5);
    expect(detector.delayMs('ns/owner')).to.equal(20);
    expect(detector.all().map(({ object, delayMs }) => [object.name, delayMs])).to.deep.equal([
      ['one', 10],
      ['other', 20],
    ]);
    await clock.advance(3_000);
    expect(detector.all().map(({ object }) => object.name)).to.deep.equal(['other']);
    expect(detector.delayMs('ns/owner')).to.equal(20);
    await clock.advance(2_000);
    expect([detector.all(), detector.delayMs('ns/owner')]).to.deep.equal([[], 0]);
  });

  it('ignores writes that leave the object unchanged', () => {
    const { detector } = newDetector(3, 3);
    const state = (resourceVersion: string, uid = 'u') => {
      const metadata = { name: 'a', namespace: 'ns', uid, resourceVersion };
      return { ...sample({}).after!, metadata };
    };
    for (let n = 0; n < 99; n++) {
      expect(detector.wrote(sample({}, { after: state('5') }))).to.equal(undefined);
      const cached = { before: state('7'), after: state('7'), target: { name: 'b' } };
      expect(detector.wrote(sample({}, cached))).to.equal(undefined);
    }
    expect(detector.size).to.equal(1);
    const recreated = ['u1', 'u2', 'u3'].map((uid) => sample({}, { after: state('5', uid) }));
    const reports = recreated.map((each) => detector.wrote(each) !== undefined);
    expect(reports).to.deep.equal([false, false, true]);
  });

  it('keeps a limited number of hashes and no objects in memory', async () => {
    const { clock, detector } = newDetector(3, 3);
    const kept: WeakRef<object>[] = [];
    for (let n = 0; n < 10_500; n++) {
      const target = { name: `m${n}` };
      const written = sample({ n: String(n) }, { target });
      if (n >= 10_000) kept.push(new WeakRef(written.after!));
      detector.wrote(written);
    }
    expect(detector.size).to.equal(10_000);
    await clock.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(kept.filter((each) => each.deref() !== undefined).length).to.be.below(10);
    await clock.advance(5_000);
    expect(detector.size).to.equal(0);
  });

  it('applies no delay to a key that it forgot because it keeps a limited number of keys', () => {
    const { detector } = newDetector();
    for (let n = 0; n < 5; n++) detector.wrote(sample({ n: String(n) }));
    expect(detector.delayMs('ns/owner')).to.be.above(0);
    for (let n = 0; n < 10_000; n++) detector.wrote(sample({}, { target: { name: `m${n}` } }));
    expect([detector.delayMs('ns/owner'), detector.all()]).to.deep.equal([0, []]);
  });

  it('reports the paths, but not the values, of fields that others changed between two writes', () => {
    const { detector } = newDetector(1);
    const mine = sample({ password: 'secret' });
    const theirs = sample({ password: 'other' }).after;
    detector.wrote(mine);
    const report = detector.wrote({ ...mine, before: theirs });
    expect(report?.paths).to.deep.equal(['data.password']);
    expect(JSON.stringify(report)).to.not.include('secret');
  });

  it('reports a key that deletes and recreates one object repeatedly', () => {
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
    it(`rejects the options ${inspect(options)}`, () => {
      const construct = (): unknown => new HotLoopDetector(new VirtualClock(), options);
      expect(construct).to.throw().with.property('code', 'InvalidOption');
    });
  }
});
