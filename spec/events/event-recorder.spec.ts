import { expect } from 'chai';
import { EventRecorder } from '../../lib/events/event-recorder.js';
import type { EventRecorderOptions } from '../../lib/events/event-recorder.js';
import type { ObjectEvent } from '../../lib/events/recorder.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import type { LogFields, Logger } from '../../lib/system/logger.js';
import type { Metrics } from '../../lib/system/metrics.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { FakeClient, apiError } from './fake-client.js';
import type { FakeCall } from './fake-client.js';

const minute = 60_000;

const regarding = {
  apiVersion: 'example.com/v1',
  kind: 'Tenant',
  namespace: 'shop',
  name: 'acme',
  uid: 'u-1',
};

const event = (part: Partial<ObjectEvent> = {}): ObjectEvent => ({
  regarding,
  type: 'Normal',
  reason: 'Created',
  action: 'Create',
  note: 'Created ConfigMap shop/web',
  ...part,
});

/** Returns an event that belongs to no series of another. */
const distinct = (n: number, part: Partial<ObjectEvent> = {}): ObjectEvent =>
  event({ reason: `Reason${n}`, ...part });

function setUp(options: Partial<EventRecorderOptions> = {}) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  const fake = new FakeClient();
  const dropped: Record<string, number> = {};
  const lines: string[] = [];
  const count = (value = 1, labels: Readonly<Record<string, string>> = {}): void => {
    const { reason = 'written' } = labels;
    if (value > 0) dropped[reason] = (dropped[reason] ?? 0) + value;
  };
  const metrics = { counter: () => ({ add: count }) } as Partial<Metrics> as Metrics;
  const log = (message: string, { about }: LogFields = {}): number =>
    lines.push(about === undefined ? message : `${message}: ${about as string}`);
  const logger = { warn: log, error: log, info: log, debug: log } as Partial<Logger> as Logger;
  const recorder = new EventRecorder({
    client: fake.client,
    controllerName: 'shop-operator',
    instance: 'shop-operator-0',
    clock,
    random: seededRandom(1),
    metrics,
    logger,
    ...options,
  });
  return { clock, fake, recorder, counts: dropped, lines };
}

const nameOf = (body: unknown): string => (body as KubernetesObject).metadata.name ?? '';

const countOf = (body: unknown): number =>
  (body as { body: { series: { count: number } } }).body.series.count;

const bodies = (fake: FakeClient): Record<string, unknown>[] =>
  fake.calls.map(({ body }) => body as Record<string, unknown>);

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

  it('returns before the write', async () => {
    const { fake, recorder } = setUp();
    recorder.record(event());
    expect(fake.calls).to.be.empty;
    await recorder.stop();
  });

  describe('with repeated events', () => {
    it('updates the count of the Event, immediately for the second occurrence', async () => {
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

    it('writes repeated events of one tick as one Event', async () => {
      const { fake, recorder } = setUp();
      for (let n = 0; n < 40; n++) recorder.record(event());
      await recorder.flush();
      expect(fake.verbs).to.deep.equal(['create']);
      expect(bodies(fake)[0]).to.have.nested.property('series.count', 40);
    });

    it('ends a series six minutes after its last event', async () => {
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

    it('ends a series that began at a fraction of a millisecond', async () => {
      const clock = new VirtualClock(0);
      const { fake, recorder } = setUp({ clock });
      // Six minutes after this time, the rounded difference of both times is less than six minutes.
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

    it('counts a series per object, related object, type, reason and action', async () => {
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

    it('writes a Warning with another note as an Event of its own', async () => {
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

    it('creates the Event again when it has expired', async () => {
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

    it('ends a flush although like events are recorded meanwhile', async () => {
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

  describe('with many events of one object', () => {
    const about = (n: number, kind = 'ConfigMap'): Partial<ObjectEvent> => ({
      related: { apiVersion: 'v1', kind, namespace: 'shop', name: `c-${n}` },
      note: `Created ${kind} shop/c-${n}`,
    });
    const warning = { type: 'Warning', reason: 'ApplyFailed', action: 'Apply' } as const;

    it('writes ten Events of one reason, and one that summarizes the others by kind', async () => {
      const { clock, fake, recorder, counts } = setUp();
      for (let n = 0; n < 30; n++)
        recorder.record(event(about(n, n < 28 ? 'ConfigMap' : 'Secret')));
      await clock.advance(4_999);
      expect(fake.calls).to.have.length(10);
      await clock.advance(1);
      expect(bodies(fake)[10]).to.deep.include({
        ...{ type: 'Normal', reason: 'Created', action: 'Create', regarding },
        note: '20 more: 18 ConfigMap, 2 Secret; last: Created Secret shop/c-29',
      });
      expect(bodies(fake)[10]).not.to.have.property('related');
      expect(counts).to.deep.equal({ written: 11 });
      expect(clock.pendingTimers).to.equal(0);
    });

    it('writes warnings after many creations', async () => {
      const { fake, recorder } = setUp();
      for (let n = 0; n < 99; n++) recorder.record(event(about(n)));
      recorder.record(event({ ...about(7), ...warning, note: 'Apply ConfigMap shop/c-7: 422' }));
      await recorder.flush();
      const notes = bodies(fake).map(({ note }) => note);
      expect(notes).to.include('Apply ConfigMap shop/c-7: 422');
      expect(notes).to.include('89 more: 89 ConfigMap; last: Created ConfigMap shop/c-98');
      expect(recorder.droppedEvents).to.equal(0);
    });

    it('counts an object once in a summary, and writes one summary in five minutes', async () => {
      const { clock, fake, recorder } = setUp();
      const failed = (): unknown[] => bodies(fake).filter(({ reason }) => reason === 'ApplyFailed');
      for (let retry = 0; retry < 3; retry++) {
        for (let n = 0; n < 30; n++) recorder.record(event({ ...about(n), ...warning }));
        await clock.advance(1_000);
      }
      await clock.advance(5_000);
      expect(failed()).to.have.length(11);
      expect(failed()[10])
        .to.have.property('note')
        .that.matches(/^20 more: 20 ConfigMap; last: /);
      recorder.record(event({ ...about(50), ...warning }));
      await clock.advance(4 * minute);
      expect(failed()).to.have.length(11);
      await clock.advance(minute);
      expect(failed()).to.have.length(12);
    });

    it('delays a summary until the burst ends, for at most a minute', async () => {
      const { clock, fake, recorder } = setUp({ burst: 1 });
      for (let n = 0; n < 30; n++) {
        recorder.record(event(about(n)));
        await clock.advance(4_000);
      }
      expect(bodies(fake)[1])
        .to.have.property('note')
        .that.matches(/^15 more: /);
    });

    it('writes 25 Events of different reasons, and one that summarizes the others', async () => {
      const { clock, fake, recorder, counts } = setUp();
      for (let n = 0; n < 30; n++) recorder.record(distinct(n, { note: `note ${n}` }));
      await recorder.flush();
      expect(bodies(fake)[25]).to.have.property('note', '5 more events; last: note 29');
      expect(counts).to.deep.equal({ written: 26 });
      await clock.advance(5 * minute);
      for (const n of [31, 32]) recorder.record(distinct(n));
      await recorder.flush();
      expect(fake.calls).to.have.length(28);
    });

    it('limits each object separately', async () => {
      const { fake, recorder } = setUp({ burst: 1 });
      for (const name of ['a', 'b', 'a'])
        recorder.record(event({ regarding: { ...regarding, name } }));
      await recorder.flush();
      expect(fake.verbs).to.deep.equal(['create', 'create']);
    });

    it('does not limit the events of a series', async () => {
      const { clock, fake, recorder } = setUp({ burst: 1 });
      for (let n = 0; n < 9; n++) {
        recorder.record(event());
        await clock.advance(1);
      }
      await recorder.flush();
      expect(fake.verbs.filter((verb) => verb === 'create')).to.have.length(1);
    });

    it('summarizes the events that do not fit into the queue', async () => {
      const { clock, fake, recorder, counts } = setUp({ maxQueued: 2 });
      for (let n = 0; n < 5; n++) recorder.record(event(about(n)));
      await clock.advance(5_000);
      expect(bodies(fake).map(({ note }) => note)).to.deep.equal([
        ...['Created ConfigMap shop/c-0', 'Created ConfigMap shop/c-1'],
        '3 more: 3 ConfigMap; last: Created ConfigMap shop/c-4',
      ]);
      expect(counts).to.deep.equal({ written: 3 });
    });

    it('counts and logs the events that are unwritten at stop', async () => {
      const { recorder, counts, lines } = setUp({ burst: 1 });
      for (let n = 0; n < 5; n++) recorder.record(event(about(n)));
      await recorder.stop();
      expect(counts).to.deep.equal({ stopped: 5 });
      expect(lines).to.deep.equal([
        'events dropped: the recorder was stopped before they were written',
      ]);
    });
  });

  describe('with events about several objects of one owner', () => {
    const wrote = (item: string, part: Partial<ObjectEvent> = {}): ObjectEvent => {
      const [kind = '', name = ''] = item.replace(/:.*/, '').split(' ');
      const related = { apiVersion: 'v1', kind, namespace: 'shop', name };
      return event({ related, item, note: `${part.reason ?? 'Created'} shop/${item}`, ...part });
    };
    const configured = { reason: 'Configured', action: 'Apply' } as const;
    const notes = (fake: FakeClient): unknown[] => bodies(fake).map(({ note }) => note);

    it('writes one Event that lists the objects, one second after the last event', async () => {
      const { clock, fake, recorder, counts } = setUp();
      recorder.record(wrote('ConfigMap a'));
      await clock.advance(600);
      recorder.record(wrote('Service a'));
      recorder.record(wrote('PersistentVolumeClaim a-data'));
      recorder.record(wrote('StatefulSet a'));
      await clock.advance(999);
      expect(fake.calls).to.be.empty;
      await clock.advance(1);
      expect(fake.calls).to.have.length(1);
      expect(bodies(fake)[0]).to.deep.include({
        ...{ type: 'Normal', reason: 'Created', action: 'Create', regarding },
        eventTime: '2026-01-02T03:04:05.678000Z',
        note: 'Created 4 objects: ConfigMap a, Service a, PersistentVolumeClaim a-data, StatefulSet a',
      });
      expect(bodies(fake)[0]).not.to.have.any.keys('related', 'series');
      expect(counts).to.deep.equal({ written: 1 });
      expect(clock.pendingTimers).to.equal(0);
    });

    it('delays the Event for at most ten seconds, without losing an event', async () => {
      const { clock, fake, recorder } = setUp();
      for (let n = 0; n < 30; n++) {
        recorder.record(wrote(`ConfigMap c-${n}`));
        await clock.advance(900);
      }
      await recorder.flush();
      expect(notes(fake)).to.have.length(3);
      const shown = notes(fake).flatMap((note) => (note as string).match(/ConfigMap c-\d+/g) ?? []);
      expect(shown).to.deep.equal(Array.from({ length: 30 }, (_, n) => `ConfigMap c-${n}`));
      expect(clock.pendingTimers).to.equal(0);
    });

    it('writes the Event unchanged if there is one object', async () => {
      const { fake, recorder } = setUp();
      const one = wrote('ConfigMap a');
      recorder.record(one);
      await recorder.flush();
      const { note, related } = one;
      expect(bodies(fake)[0]).to.deep.include({ note, related });
    });

    it('lists the changed fields of each object up to the length limit', async () => {
      const { fake, recorder } = setUp();
      recorder.record(wrote('ConfigMap a: data.A, data.B', configured));
      recorder.record(wrote('StatefulSet a: spec.template (ConfigMap shop/a changed)', configured));
      await recorder.flush();
      for (let n = 0; n < 100; n++)
        recorder.record(wrote(`ConfigMap c-${n}: data.${'x'.repeat(84)}`));
      await recorder.flush();
      const [first, second] = notes(fake) as [string, string];
      expect(first).to.equal(
        'Configured 2 objects: ConfigMap a: data.A, data.B; StatefulSet a: spec.template (ConfigMap shop/a changed)',
      );
      expect(second).to.match(/^Created 100 objects: ConfigMap c-0: data\.x+; .*x and 91 more$/);
      expect(Buffer.byteLength(second)).to.be.within(900, 1_024);
    });

    it('cuts the first object if it exceeds the length limit', async () => {
      const { fake, recorder } = setUp();
      for (const name of ['a', 'b'])
        recorder.record(wrote(`ConfigMap ${name}: ${'ü'.repeat(900)}`));
      await recorder.flush();
      expect(notes(fake)[0]).to.match(/^Created 2 objects: ConfigMap a: ü+… and 1 more$/);
    });

    it('groups events by owner, reason and action', async () => {
      const { fake, recorder } = setUp();
      const others: Partial<ObjectEvent>[] = [
        { regarding: { ...regarding, name: 'other' } },
        { reason: 'Configured' },
        { action: 'Apply' },
      ];
      for (const part of [{}, ...others]) {
        for (const item of ['ConfigMap a', 'ConfigMap b']) recorder.record(wrote(item, part));
      }
      await recorder.flush();
      expect(notes(fake)).to.deep.equal([
        'Created 2 objects: ConfigMap a, ConfigMap b',
        'Created 2 objects: ConfigMap a, ConfigMap b',
        'Configured 2 objects: ConfigMap a, ConfigMap b',
        'Created 2 objects: ConfigMap a, ConfigMap b',
      ]);
    });

    it('writes each warning alone and immediately', async () => {
      const { clock, fake, recorder } = setUp();
      const warning = { type: 'Warning', reason: 'ApplyFailed' } as const;
      recorder.record(wrote('ConfigMap a'));
      for (const item of ['Service a', 'Service b']) recorder.record(wrote(item, warning));
      await clock.advance(1);
      expect(notes(fake)).to.deep.equal([
        'ApplyFailed shop/Service a',
        'ApplyFailed shop/Service b',
      ]);
      await clock.advance(1_000);
      expect(fake.calls).to.have.length(3);
    });

    it('ends a group when an object repeats, and counts a series if all objects repeat', async () => {
      const { clock, fake, recorder } = setUp();
      for (let n = 0; n < 10; n++) {
        for (const item of ['ConfigMap a', 'Secret b']) recorder.record(wrote(item, configured));
      }
      recorder.record(wrote('Service c', configured));
      await clock.advance(1_000);
      expect(notes(fake)).to.deep.equal([
        'Configured 2 objects: ConfigMap a, Secret b',
        'Configured 3 objects: ConfigMap a, Secret b, Service c',
      ]);
      expect(bodies(fake)[0]).to.have.nested.property('series.count', 9);
      recorder.record(wrote('ConfigMap a', configured));
      recorder.record(wrote('Secret b', configured));
      await recorder.flush();
      expect(bodies(fake)[2]).to.have.nested.property('body.series.count', 10);
    });

    it('limits groups as events of the owner, and summarizes by kind beyond the limit', async () => {
      const { clock, fake, recorder } = setUp({ burst: 1 });
      for (let n = 0; n < 3; n++) {
        recorder.record(wrote(`ConfigMap c-${n}`));
        recorder.record(wrote(`Secret s-${n}`));
        await clock.advance(1_000);
      }
      await recorder.flush();
      expect(notes(fake)).to.deep.equal([
        'Created 2 objects: ConfigMap c-0, Secret s-0',
        '4 more: 2 ConfigMap, 2 Secret; last: Created 2 objects: ConfigMap c-2, Secret s-2',
      ]);
    });

    it('counts unwritten events at stop and leaves no timer', async () => {
      const { clock, recorder, counts } = setUp();
      for (const item of ['ConfigMap a', 'ConfigMap b']) recorder.record(wrote(item));
      await recorder.stop();
      expect(counts).to.deep.equal({ stopped: 2 });
      expect(clock.pendingTimers).to.equal(0);
    });

    it('delays the events of at most maxQueued owners', async () => {
      const { clock, fake, recorder } = setUp({ maxQueued: 2 });
      for (const name of ['a', 'b', 'c']) {
        recorder.record(wrote('ConfigMap x', { regarding: { ...regarding, name } }));
      }
      await clock.advance(1);
      expect(bodies(fake).map((body) => (body.regarding as { name: string }).name)).to.deep.equal([
        'a',
      ]);
      await clock.advance(1_000);
      expect(fake.calls).to.have.length(3);
    });
  });

  describe('when a write fails', () => {
    const passing = [
      { title: 'a lost connection', error: new OperatorError('ConnectionFailed', 'reset') },
      { title: 'a time-out', error: new OperatorError('Timeout', 'late') },
      { title: 'an overloaded server', error: apiError(429, 'TooManyRequests') },
      { title: 'a server error', error: apiError(500) },
    ];
    for (const { title, error } of passing) {
      it(`retries with back-off after ${title}`, async () => {
        const { clock, fake, recorder, counts } = setUp();
        const moments: number[] = [];
        fake.answer = () => {
          moments.push(clock.monotonicMs());
          if (moments.length < 4) throw error;
        };
        recorder.record(event());
        await clock.advance(20_000);
        const delays = moments.slice(1).map((moment, n) => moment - (moments[n] ?? 0));
        for (const [n, delay] of delays.entries()) {
          expect(delay).to.be.within(1_000 * 2 ** n, 1_250 * 2 ** n);
        }
        expect(counts).to.deep.equal({ written: 1 });
      });
    }

    it('waits for the Retry-After of the server', async () => {
      const { clock, fake, recorder } = setUp();
      fake.answer = () => {
        if (fake.calls.length === 1)
          throw apiError(429, 'TooManyRequests', { retryAfterMs: 9_000 });
      };
      recorder.record(event());
      await clock.advance(8_999);
      expect(fake.calls).to.have.length(1);
      await clock.advance(9_000 / 4 + 1);
      expect(fake.calls).to.have.length(2);
    });

    it('waits no longer than maxDelayMs for a Retry-After, since the event occupies the queue', async () => {
      const { clock, fake, recorder } = setUp();
      fake.answer = () => {
        if (fake.calls.length === 1)
          throw apiError(429, 'TooManyRequests', { retryAfterMs: 60 * minute });
      };
      recorder.record(event());
      recorder.record(distinct(1));
      await clock.advance(30_000 * 1.25);
      expect(fake.calls).to.have.length(3);
    });

    describe('for one object', () => {
      const aboutIn = (namespace: string, name = namespace): ObjectEvent =>
        event({ regarding: { ...regarding, namespace, name } });
      const shownAt = ({ body }: FakeCall): KubernetesObject['metadata'] =>
        (body as { regarding: KubernetesObject['metadata'] }).regarding;
      const isBroken = ({ verb, body, name = '' }: FakeCall): boolean =>
        verb === 'create' ? shownAt({ verb, body }).name === 'broken' : name.startsWith('broken');
      const failBroken = (fake: FakeClient): void => {
        fake.answer = (call) => {
          if (isBroken(call)) throw apiError(500);
        };
      };
      const written = (fake: FakeClient): string[] =>
        fake.calls.filter((call) => !isBroken(call)).map(({ verb }) => verb);

      for (const namespace of ['broken', 'shop']) {
        it(`writes the Events of an object in namespace ${namespace} before the retry`, async () => {
          const { clock, fake, recorder } = setUp();
          failBroken(fake);
          recorder.record(aboutIn('broken'));
          recorder.record(aboutIn(namespace, 'other'));
          await clock.advance(1);
          expect(written(fake)).to.deep.equal(['create']);
          recorder.record(aboutIn(namespace, 'other'));
          recorder.record(aboutIn(namespace, 'other'));
          await clock.advance(1);
          expect(written(fake)).to.deep.equal(['create', 'patch']);
          await recorder.stop();
          expect(clock.pendingTimers).to.equal(0);
        });
      }

      it('writes the counts and summaries of other objects when they are due', async () => {
        const { clock, fake, recorder } = setUp({ burst: 1, seriesRefreshMs: 30_000 });
        failBroken(fake);
        recorder.record(aboutIn('broken'));
        for (const ms of [1, 1, 1]) {
          recorder.record(aboutIn('shop'));
          await clock.advance(ms);
        }
        for (const n of [1, 2]) recorder.record({ ...aboutIn('shop'), reason: `Reason${n}` });
        await clock.advance(30_000);
        expect(written(fake)).to.deep.equal(['create', 'patch', 'create', 'patch']);
        await recorder.stop();
      });

      it('sends one request for a namespace at once, and 16 in all', async () => {
        const { clock, fake, recorder, counts } = setUp();
        const finish: (() => void)[] = [];
        fake.answer = () => new Promise<void>((resolve) => finish.push(resolve));
        for (let n = 0; n < 20; n++) {
          for (const name of ['a', 'b']) recorder.record(aboutIn(`shop-${n}`, name));
        }
        await clock.advance(1);
        const namespaces = fake.calls.map((call) => shownAt(call).namespace);
        expect(new Set(namespaces)).to.have.property('size', 16);
        expect(namespaces).to.have.length(16);
        while (counts.written !== 40) {
          for (const end of finish.splice(0)) end();
          await clock.advance(1);
          expect(finish.length).to.be.at.most(16);
        }
      });

      it('retries many Events without a warning of Node', async () => {
        const warnings: Error[] = [];
        const onWarning = (warning: Error): number => warnings.push(warning);
        process.on('warning', onWarning);
        const { clock, fake, recorder } = setUp();
        fake.answer = () => {
          throw apiError(500);
        };
        for (let n = 0; n < 20; n++) recorder.record(aboutIn('shop', `object-${n}`));
        await clock.advance(1);
        await new Promise((resolve) => setImmediate(resolve));
        process.off('warning', onWarning);
        expect(warnings).to.be.empty;
        await recorder.stop();
      });
    });

    describe('while the queue is full', () => {
      const aboutObject = (name: string): ObjectEvent =>
        event({ regarding: { ...regarding, name, uid: name } });
      /** Records a series whose last event is not written when the queue is full. */
      const fillQueue = async (options: Partial<EventRecorderOptions> = {}) => {
        const scene = setUp({ maxQueued: 1, maxTries: 1_000, ...options });
        const { clock, fake, recorder } = scene;
        for (let n = 0; n < 3; n++) {
          recorder.record(event());
          await clock.advance(1);
        }
        fake.answer = () => {
          throw apiError(503);
        };
        recorder.record(aboutObject('other'));
        await clock.advance(1);
        return { ...scene, recover: () => (fake.answer = ({ body }) => body) };
      };

      it('keeps the count of a series that ends, and writes it afterwards', async () => {
        const { clock, fake, recover, counts } = await fillQueue();
        await clock.advance(7 * minute);
        recover();
        await clock.advance(minute);
        expect(countOf(bodies(fake).at(-1))).to.equal(3);
        expect(counts).to.deep.equal({ written: 4 });
        expect(clock.pendingTimers).to.equal(0);
      });

      it('writes the next Event of a series that ended there within seconds', async () => {
        const { clock, fake, recorder } = await fillQueue();
        await clock.advance(7 * minute);
        const calls = fake.calls.length;
        let write = (): void => undefined;
        fake.answer = () => new Promise<void>((resolve) => (write = resolve));
        while (fake.calls.length === calls) await clock.advance(clock.nextTimerMs ?? 0);
        recorder.record(event());
        fake.answer = ({ body }) => body;
        write();
        await clock.advance(2_000);
        expect(fake.verbs.slice(-2)).to.deep.equal(['patch', 'create']);
        await recorder.stop();
      });

      it('tries once a second to write a count that is due', async () => {
        const { clock, recorder } = await fillQueue({ seriesRefreshMs: minute });
        await clock.advance(minute);
        for (let n = 0; n < 100; n++) {
          recorder.record(aboutObject('another'));
          expect(clock.nextTimerMs).to.be.greaterThan(0);
          await clock.advance(clock.nextTimerMs ?? 0);
        }
        expect(clock.monotonicMs()).to.be.greaterThan(100_000);
        await recorder.stop();
      });

      it('keeps the summaries that do not fit into it', async () => {
        const { clock, fake, recorder, recover, counts } = await fillQueue();
        for (const name of ['a', 'b', 'c']) {
          for (let n = 0; n < 2; n++) recorder.record(aboutObject(name));
        }
        await clock.advance(minute);
        recover();
        await clock.advance(6 * minute);
        const notes = bodies(fake).map(({ note }) => note);
        expect(
          notes.filter((note) => note === '2 more events; last: Created ConfigMap shop/web'),
        ).to.have.length(3);
        expect(counts).to.deep.equal({ written: 7 });
      });
    });

    it('drops the event after twelve attempts', async () => {
      const { clock, fake, recorder, counts } = setUp();
      fake.answer = () => {
        throw apiError(503);
      };
      recorder.record(event());
      await clock.advance(10 * minute);
      expect(fake.calls).to.have.length(12);
      expect(counts).to.deep.equal({ exhausted: 1 });
      expect(clock.pendingTimers).to.equal(0);
    });

    it('does not repeat a create that may have succeeded', async () => {
      const { clock, fake, recorder, counts } = setUp();
      fake.answer = () => {
        throw fake.calls.length === 1
          ? new OperatorError('ConnectionFailed', 'reset')
          : apiError(409, 'AlreadyExists');
      };
      recorder.record(event());
      await clock.advance(2_000);
      expect(fake.verbs).to.deep.equal(['create', 'create']);
      expect(counts).to.deep.equal({ written: 1 });
    });

    const refused = [
      { error: apiError(403, 'Forbidden'), line: 'writing events.events.k8s.io is not allowed' },
      {
        error: apiError(403, 'Forbidden', { causes: [{ reason: 'NamespaceTerminating' }] }),
        line: 'their namespace is being deleted',
      },
    ];
    for (const { error, line } of refused) {
      it(`counts each event and logs once when ${line}`, async () => {
        const { fake, recorder, counts, lines } = setUp();
        fake.answer = () => {
          throw error;
        };
        for (const n of [1, 2, 3]) recorder.record(distinct(n));
        await recorder.flush();
        expect(fake.calls).to.have.length(3);
        expect(counts).to.deep.equal({ refused: 3 });
        expect(lines).to.deep.equal([`events dropped: ${line}`]);
      });
    }

    it('writes the next equal event again', async () => {
      const { fake, recorder } = setUp();
      fake.answer = () => {
        throw apiError(422, 'Invalid');
      };
      recorder.record(event());
      await recorder.flush();
      recorder.record(event());
      await recorder.flush();
      expect(fake.verbs).to.deep.equal(['create', 'create']);
    });
  });

  it('warns about an Event that the server rejects', async () => {
    const { fake, recorder, lines } = setUp();
    fake.answer = () => {
      throw apiError(422, 'Invalid');
    };
    recorder.record(event());
    await recorder.flush();
    expect(lines).to.deep.equal(['event dropped: refused: Tenant shop/acme']);
  });

  const wrong = [{ reason: '' }, { action: '' }, { regarding: { ...regarding, name: '' } }];
  for (const invalid of [...wrong.map(event), null, undefined]) {
    const { reason, action, regarding } = invalid ?? {};
    it(`counts an invalid event without throwing: ${JSON.stringify([reason, action, regarding])}`, async () => {
      const { recorder, counts, lines } = setUp();
      recorder.record(invalid as ObjectEvent);
      await recorder.flush();
      expect(counts).to.deep.equal({ invalid: 1 });
      expect(lines).to.deep.equal(['event dropped: it is invalid']);
    });
  }

  describe('on stop', () => {
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

    it('counts what a running series has not written, once', async () => {
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

  it('stops waiting for a flush when its signal is aborted', async () => {
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
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => setUp(options))
        .to.throw('EventRecorder')
        .with.property('code', 'InvalidOption');
    });
  }
});
