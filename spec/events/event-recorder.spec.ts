import { expect } from 'chai';
import type { ObjectEvent } from '../../lib/events/recorder.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import {
  bodies,
  countOf,
  distinct,
  event,
  minute,
  nameOf,
  regarding,
  setUp,
} from './event-recorder-setup.js';
import { apiError } from './fake-client.js';

describe('EventRecorder', () => {
  it('writes an Event with every field that the API server requires', async () => {
    const { fake, recorder } = setUp();
    const related = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'web' };
    recorder.record(event({ related }));
    await recorder.flush();
    const name = nameOf(bodies(fake)[0]);
    expect(bodies(fake)).to.deep.equal([
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { namespace: 'shop', name },
        eventTime: '2026-01-02T03:04:05.678000Z',
        type: 'Normal',
        reason: 'Created',
        action: 'Create',
        note: 'Created ConfigMap shop/web',
        regarding,
        related,
        reportingController: 'shop-operator',
        reportingInstance: 'shop-operator-0',
      },
    ]);
  });

  it('writes Events in the order of recording', async () => {
    const { fake, recorder } = setUp();
    for (const n of [1, 2, 3]) recorder.record(distinct(n));
    await recorder.flush();
    expect(bodies(fake).map(({ reason }) => reason)).to.deep.equal([
      'Reason1',
      'Reason2',
      'Reason3',
    ]);
  });

  it('returns from record before the Event is written', async () => {
    const { fake, recorder } = setUp();
    recorder.record(event());
    expect(fake.calls).to.be.empty;
    await recorder.stop();
  });

  describe('with events that repeat', () => {
    it('updates the count of the Event, and does so immediately when the event occurs for the second time', async () => {
      const { clock, fake, recorder, counts } = setUp();
      recorder.record(event());
      await clock.advance(1_000);
      recorder.record(event({ note: 'the note of the first stands for all' }));
      await clock.advance(1_000);
      recorder.record(event());
      await clock.advance(1_000);
      expect(fake.verbs).to.deep.equal(['create', 'patch']);
      const series = { count: 2, lastObservedTime: '2026-01-02T03:04:06.678000Z' };
      expect(bodies(fake)[1]).to.deep.equal({ type: 'merge', body: { series } });
      expect(fake.calls[1]?.name).to.equal(nameOf(bodies(fake)[0]));
      await clock.advance(6 * minute);
      const last = { count: 3, lastObservedTime: '2026-01-02T03:04:07.678000Z' };
      expect(bodies(fake)[2]).to.deep.equal({ type: 'merge', body: { series: last } });
      expect(counts).to.deep.equal({ written: 3 });
      expect(clock.pendingTimers).to.equal(0);
    });

    it('writes equal events of the same turn of the event loop as one Event', async () => {
      const { fake, recorder } = setUp();
      for (let n = 0; n < 40; n++) recorder.record(event());
      await recorder.flush();
      expect(fake.verbs).to.deep.equal(['create']);
      expect(bodies(fake)[0]).to.have.nested.property('series.count', 40);
    });

    it('ends a series of events six minutes after its last event', async () => {
      const { clock, fake, recorder } = setUp();
      recorder.record(event());
      await clock.advance(6 * minute - 1);
      recorder.record(event());
      await clock.advance(6 * minute - 1);
      recorder.record(event());
      await clock.advance(6 * minute);
      recorder.record(event());
      await recorder.flush();
      expect(fake.verbs).to.deep.equal(['create', 'patch', 'patch', 'create']);
      expect(bodies(fake)[3]).not.to.have.property('series');
    });

    it('ends a series whose first event has a time with a fraction of a millisecond', async () => {
      const clock = new VirtualClock(0);
      const { fake, recorder } = setUp({ clock });
      // For this start time, the times of the Event differ by less than six minutes after rounding.
      await clock.advance(429_758.9430847553);
      for (let n = 0; n < 3; n++) {
        recorder.record(event());
        await clock.advance(0);
      }
      await clock.advance(6 * minute);
      expect(fake.verbs).to.deep.equal(['create', 'patch', 'patch']);
      expect(clock.pendingTimers).to.equal(0);
    });

    it('writes the count every half hour while the series lasts', async () => {
      const { clock, fake, recorder } = setUp();
      for (let n = 0; n < 65; n++) {
        recorder.record(event());
        await clock.advance(minute);
      }
      const counts = bodies(fake).slice(1).map(countOf);
      expect(counts).to.deep.equal([2, 31, 61]);
    });

    it('counts a separate series for each object, related object, type, reason and action', async () => {
      const { fake, recorder } = setUp();
      const others: Partial<ObjectEvent>[] = [
        { regarding: { ...regarding, uid: 'u-2' } },
        { related: regarding },
        { type: 'Warning' },
        { reason: 'Other' },
        { action: 'Other' },
      ];
      for (const part of [{}, ...others]) recorder.record(event(part));
      await recorder.flush();
      expect(fake.verbs).to.deep.equal(Array.from({ length: 6 }, () => 'create'));
    });

    it('writes a Warning whose note differs as a separate Event', async () => {
      const { fake, recorder } = setUp();
      const notes = ['no Secret creds', 'no key password', 'no Secret creds'];
      for (const note of notes) recorder.record(event({ type: 'Warning', note }));
      await recorder.flush();
      expect(bodies(fake).map(({ note, series }) => [note, series !== undefined])).to.deep.equal([
        ['no Secret creds', true],
        ['no key password', false],
      ]);
    });

    it('summarizes Warnings beyond the limit of their reason, with the last note', async () => {
      const { fake, recorder } = setUp();
      for (let n = 1; n <= 30; n++) {
        recorder.record(event({ type: 'Warning', note: `request ${n} failed` }));
      }
      await recorder.flush();
      expect(fake.verbs).to.have.length(11);
      expect(bodies(fake)[10]).to.have.property('note', '20 more events; last: request 30 failed');
    });

    it('counts the events of 5,000 objects that fail again and again', async () => {
      const { fake, recorder } = setUp();
      for (let n = 0; n < 10_000; n++) {
        const uid = `u-${n % 5_000}`;
        recorder.record(event({ regarding: { ...regarding, name: uid, uid } }));
        if (n % 500 === 499) await recorder.flush();
      }
      expect(fake.verbs.filter((verb) => verb === 'create')).to.have.length(5_000);
      await recorder.stop();
    });

    it('creates the Event again when the server has deleted the expired one', async () => {
      const { clock, fake, recorder } = setUp();
      recorder.record(event());
      await clock.advance(1);
      fake.answer = ({ verb }) => {
        if (verb === 'patch') throw apiError(404, 'NotFound', { verb });
      };
      recorder.record(event());
      await clock.advance(1);
      expect(fake.verbs).to.deep.equal(['create', 'patch', 'create']);
      expect(bodies(fake)[2]).to.have.nested.property('series.count', 2);
    });

    it('writes pending counts on flush', async () => {
      const { clock, fake, recorder } = setUp();
      for (const ms of [1, 1, 1]) {
        recorder.record(event());
        await clock.advance(ms);
      }
      await recorder.flush();
      expect(fake.verbs).to.deep.equal(['create', 'patch', 'patch']);
      expect(clock.pendingTimers).to.equal(0);
    });

    it('ends a flush although equal events are recorded meanwhile', async () => {
      const { clock, fake, recorder } = setUp();
      for (const ms of [1, 1, 1]) {
        recorder.record(event());
        await clock.advance(ms);
      }
      fake.answer = ({ body }) => {
        if (fake.calls.length < 50) recorder.record(event());
        return body;
      };
      await recorder.flush();
      expect(fake.calls.length).to.be.at.most(4);
      await recorder.stop();
    });

    it('writes the pending counts of more series than fit into the queue on flush', async () => {
      const { clock, fake, recorder } = setUp({ maxQueued: 1 });
      for (const n of [1, 2, 3]) {
        for (const ms of [1, 1, 1]) {
          recorder.record(distinct(n));
          await clock.advance(ms);
        }
      }
      const before = fake.calls.length;
      await recorder.flush();
      expect(bodies(fake).slice(before).map(countOf)).to.deep.equal([3, 3, 3]);
      expect(clock.pendingTimers).to.equal(0);
    });
  });

  it('warns about an Event that the server rejects', async () => {
    const { fake, recorder, lines } = setUp();
    fake.answer = () => {
      throw apiError(422, 'Invalid');
    };
    recorder.record(event());
    await recorder.flush();
    expect(lines).to.deep.equal(['event dropped: the API server refused it: Tenant shop/acme']);
  });

  it('refuses an unknown option', () => {
    const options: object = { maxQueue: 5 };
    expect(() => setUp(options))
      .to.throw('maxQueue')
      .with.property('code', 'InvalidOption');
  });

  const wrong = [{ reason: '' }, { action: '' }, { regarding: { ...regarding, name: '' } }];
  const nothing = { regarding: null as never };
  for (const invalid of [...[...wrong, nothing].map(event), null, undefined]) {
    const { reason, action, regarding } = invalid ?? {};
    it(`counts an invalid event without throwing: ${JSON.stringify([reason, action, regarding])}`, async () => {
      const { recorder, counts, lines } = setUp();
      recorder.record(invalid as ObjectEvent);
      await recorder.flush();
      expect(counts).to.deep.equal({ invalid: 1 });
      expect(lines).to.deep.equal(['event dropped: it is invalid']);
    });
  }

  describe('when it stops', () => {
    it('aborts the current write, drops queued events and leaves no timer', async () => {
      const { clock, fake, recorder, counts } = setUp();
      fake.answer = ({ signal }) =>
        new Promise((_, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason as Error)),
        );
      for (const n of [1, 2, 3]) recorder.record(distinct(n));
      await clock.advance(0);
      await recorder.stop();
      expect(fake.calls).to.have.length(1);
      expect(counts).to.deep.equal({ stopped: 3 });
      recorder.record(event());
      expect(recorder.droppedEvents).to.equal(4);
      expect(clock.pendingTimers).to.equal(0);
    });

    it('counts the unwritten events of an unfinished series only once', async () => {
      const { clock, recorder, counts } = setUp();
      for (const ms of [1, 1, 1, 1, 1]) {
        recorder.record(event());
        await clock.advance(ms);
      }
      await recorder.stop();
      await recorder.stop();
      expect(counts).to.deep.equal({ written: 2, stopped: 3 });
    });

    it('cancels the timers of a retry and of a series', async () => {
      const { clock, fake, recorder } = setUp();
      for (const ms of [1, 1, 1]) {
        recorder.record(event());
        await clock.advance(ms);
      }
      expect(clock.pendingTimers).to.equal(1);
      fake.answer = () => {
        throw apiError(503);
      };
      recorder.record(distinct(1));
      await clock.advance(1);
      await recorder.stop();
      await recorder.stop();
      expect(clock.pendingTimers).to.equal(0);
    });
  });

  it('rejects a flush when its signal is aborted, without aborting the write', async () => {
    const { fake, recorder } = setUp();
    let finish = (): void => undefined;
    fake.answer = () => new Promise<void>((resolve) => (finish = resolve));
    recorder.record(event());
    const controller = new AbortController();
    const flushed = recorder.flush(controller.signal).catch((error: unknown) => error);
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('enough'));
    expect(await flushed).to.have.property('message', 'enough');
    finish();
    await recorder.flush();
    expect(recorder.droppedEvents).to.equal(0);
  });

  const bad = [{ controllerName: 'no good' }, { instance: '' }, { burst: 0 }, { maxQueued: NaN }];
  for (const options of bad) {
    it(`rejects the options ${JSON.stringify(options)}`, () => {
      expect(() => setUp(options))
        .to.throw('EventRecorder')
        .with.property('code', 'InvalidOption');
    });
  }
});
