import { expect } from 'chai';
import type { ObjectEvent } from '../../lib/events/recorder.js';
import { bodies, distinct, event, minute, regarding, setUp } from './event-recorder-setup.js';
import type { FakeClient } from './fake-client.js';

describe('EventRecorder', () => {
  describe('with many events of one object', () => {
    const about = (n: number, kind = 'ConfigMap'): Partial<ObjectEvent> => ({
      related: { apiVersion: 'v1', kind, namespace: 'shop', name: `c-${n}` },
      note: `Created ${kind} shop/c-${n}`,
    });
    const warning = { type: 'Warning', reason: 'ApplyFailed', action: 'Apply' } as const;

    it('writes ten Events of one reason, and then one Event that counts the further objects of each kind', async () => {
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

    it('writes a Warning although many events before it exceeded the limit of their reason', async () => {
      const { fake, recorder } = setUp();
      for (let n = 0; n < 99; n++) recorder.record(event(about(n)));
      recorder.record(event({ ...about(7), ...warning, note: 'Apply ConfigMap shop/c-7: 422' }));
      await recorder.flush();
      const notes = bodies(fake).map(({ note }) => note);
      expect(notes).to.include('Apply ConfigMap shop/c-7: 422');
      expect(notes).to.include('89 more: 89 ConfigMap; last: Created ConfigMap shop/c-98');
      expect(recorder.droppedEvents).to.equal(0);
    });

    it('counts an object once in a summary, and writes at most one summary in five minutes', async () => {
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

    it('delays a summary until the burst of events ends, for at most a minute', async () => {
      const { clock, fake, recorder } = setUp({ burst: 1 });
      for (let n = 0; n < 30; n++) {
        recorder.record(event(about(n)));
        await clock.advance(4_000);
      }
      expect(bodies(fake)[1])
        .to.have.property('note')
        .that.matches(/^15 more: /);
    });

    it('writes 25 Events of different reasons, and then one Event that summarizes the rest', async () => {
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

    it('limits the events of each object separately', async () => {
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

    it('counts and logs the events that are not yet written when the recorder stops', async () => {
      const { recorder, counts, lines } = setUp({ burst: 1 });
      for (let n = 0; n < 5; n++) recorder.record(event(about(n)));
      await recorder.stop();
      expect(counts).to.deep.equal({ stopped: 5 });
      expect(lines).to.deep.equal([
        'events dropped: the recorder was stopped before they were written',
      ]);
    });
  });

  describe('with events about several objects of the same owner', () => {
    const wrote = (item: string, part: Partial<ObjectEvent> = {}): ObjectEvent => {
      const [kind = '', name = ''] = item.replace(/:.*/, '').split(' ');
      const related = { apiVersion: 'v1', kind, namespace: 'shop', name };
      return event({ related, item, note: `${part.reason ?? 'Created'} shop/${item}`, ...part });
    };
    const configured = { reason: 'Configured', action: 'Apply' } as const;
    const notes = (fake: FakeClient): unknown[] => bodies(fake).map(({ note }) => note);

    it('writes on flush also the events that are recorded while flush waits for the server', async () => {
      const { fake, recorder } = setUp();
      fake.answer = ({ body }) => {
        if (fake.calls.length === 1) recorder.record(wrote('Secret b'));
        return body;
      };
      recorder.record(wrote('ConfigMap a'));
      await recorder.flush();
      expect(notes(fake)).to.deep.equal(['Created shop/ConfigMap a', 'Created shop/Secret b']);
    });

    it('one second after the last event, writes one Event that lists the objects', async () => {
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
      const starts = notes(fake).map((note) => (note as string).replace(/:.*/, ''));
      // The last event of a burst occurs nine seconds after its first. The Event is written a second later.
      expect(starts).to.deep.equal([11, 11, 8].map((number) => `Created ${number} objects`));
      const shown = notes(fake).flatMap((note) => (note as string).match(/c-\d+/g) ?? []);
      expect(shown).to.deep.equal(Array.from({ length: 30 }, (_, n) => `c-${n}`));
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

    it('names each kind and each list of changed fields once', async () => {
      const { fake, recorder } = setUp();
      recorder.record(wrote('ConfigMap a: data.A, data.B', configured));
      recorder.record(wrote('Secret a: data.A', configured));
      recorder.record(wrote('ConfigMap b: data.A, data.B', configured));
      recorder.record(wrote('ConfigMap c (drift)', configured));
      await recorder.flush();
      for (const item of ['Service a', 'ClusterRole system:a', 'Service b']) {
        recorder.record(wrote(item));
      }
      await recorder.flush();
      expect(notes(fake)).to.deep.equal([
        'Configured 4 objects: ConfigMap a, b: data.A, data.B; Secret a: data.A; ConfigMap c (drift)',
        'Created 3 objects: Service a, b; ClusterRole system:a',
      ]);
    });

    it('lists the changed fields of each object up to the length limit', async () => {
      const { fake, recorder } = setUp();
      recorder.record(wrote('ConfigMap a: data.A, data.B', configured));
      recorder.record(wrote('StatefulSet a: spec.template (ConfigMap shop/a changed)', configured));
      await recorder.flush();
      for (let n = 0; n < 100; n++)
        recorder.record(wrote(`ConfigMap c-${n}: data.${n}${'x'.repeat(84)}`));
      await recorder.flush();
      const [first, second] = notes(fake) as [string, string];
      expect(first).to.equal(
        'Configured 2 objects: ConfigMap a: data.A, data.B; StatefulSet a: spec.template (ConfigMap shop/a changed)',
      );
      expect(second).to.match(/^Created 100 objects: ConfigMap c-0: data\.0x+; .*x and 91 more$/);
      expect(Buffer.byteLength(second)).to.be.within(900, 1_024);
    });

    it('cuts the text about the first object if it alone exceeds the length limit', async () => {
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
        'Created 2 objects: ConfigMap a, b',
        'Created 2 objects: ConfigMap a, b',
        'Configured 2 objects: ConfigMap a, b',
        'Created 2 objects: ConfigMap a, b',
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

    it('writes the group when a second event about one of its objects comes, and counts a series if each object repeats', async () => {
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

    it('limits the Events about groups of objects for each owner, and counts the objects beyond the limit by kind', async () => {
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

    it('counts the events that are not yet written when the recorder stops, and leaves no timer', async () => {
      const { clock, recorder, counts } = setUp();
      for (const item of ['ConfigMap a', 'ConfigMap b']) recorder.record(wrote(item));
      await recorder.stop();
      expect(counts).to.deep.equal({ stopped: 2 });
      expect(clock.pendingTimers).to.equal(0);
    });

    it('delays the events of at most maxQueued owners at a time, and writes those of the first owner early', async () => {
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
});
