import { expect } from 'chai';
import type { EventRecorderOptions } from '../../lib/events/event-recorder.js';
import type { ObjectEvent } from '../../lib/events/recorder.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import {
  bodies,
  countOf,
  distinct,
  event,
  minute,
  regarding,
  setUp,
} from './event-recorder-setup.js';
import { apiError } from './fake-client.js';
import type { FakeCall, FakeClient } from './fake-client.js';

describe('EventRecorder', () => {
  describe('when a write fails', () => {
    const passing = [
      { title: 'a lost connection', error: new OperatorError('ConnectionFailed', 'reset') },
      { title: 'a time-out', error: new OperatorError('Timeout', 'late') },
      { title: 'an overloaded server', error: apiError(429, 'TooManyRequests') },
      { title: 'a server error', error: apiError(500) },
      // A proxy cut the answer: the server may have stored the Event.
      { title: 'an answer that is not whole JSON', error: apiError(200) },
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

    it('waits as long as the Retry-After of the server requests', async () => {
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

    it('waits at most maxDelayMs although Retry-After is longer, since the event occupies the queue', async () => {
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

    describe('with several objects', () => {
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
        it(`writes the Events of another object in namespace ${namespace} before the retry`, async () => {
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

      it('writes the counts and summaries for other objects when they are due', async () => {
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

      it('sends at most one request at a time for a namespace, and 16 in all', async () => {
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

      it('sends few requests while all of them fail, and the rest as soon as one succeeds', async () => {
        const { clock, fake, recorder, counts } = setUp();
        let isAway = true;
        fake.answer = () => {
          if (isAway) throw apiError(503);
        };
        for (let n = 0; n < 1_000; n++) recorder.record(aboutIn(`shop-${n % 100}`, `object-${n}`));
        for (let second = 0; second < 120; second++) await clock.advance(1_000);
        expect(fake.calls.length).to.be.within(16, 100);
        isAway = false;
        for (let second = 0; second < 60; second++) await clock.advance(1_000);
        expect(counts).to.deep.equal({ written: 1_000 });
        await recorder.stop();
      });

      it('retries failed Events immediately on flush, and sends few requests while all of them fail', async () => {
        const { clock, fake, recorder, counts } = setUp();
        let isAway = true;
        fake.answer = () => {
          if (isAway) throw apiError(503);
        };
        for (let n = 0; n < 100; n++) recorder.record(aboutIn(`shop-${n}`));
        await clock.advance(60_000);
        const before = fake.calls.length;
        const flushed = recorder.flush();
        await clock.advance(1);
        expect(fake.calls.length - before).to.be.within(1, 32);
        isAway = false;
        await Promise.all([recorder.flush(), clock.advance(1)]);
        await flushed;
        expect(counts).to.deep.equal({ written: 100 });
        await recorder.stop();
        expect(clock.pendingTimers).to.equal(0);
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

      it('keeps the count of a series that ends, and writes it when the queue has room', async () => {
        const { clock, fake, recover, counts } = await fillQueue();
        await clock.advance(7 * minute);
        recover();
        await clock.advance(minute);
        expect(countOf(bodies(fake).at(-1))).to.equal(3);
        expect(counts).to.deep.equal({ written: 4 });
        expect(clock.pendingTimers).to.equal(0);
      });

      it('creates a new Event within seconds when an event repeats after its series has ended', async () => {
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

      it('keeps the summaries that do not fit into the queue', async () => {
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

    it('writes the count of a series that grew during a write, while another Event still fails', async () => {
      const { clock, fake, recorder } = setUp({ maxTries: 1_000 });
      let answered: (body: unknown) => void = () => undefined;
      fake.answer = ({ verb, body }) => {
        if (verb === 'patch' && countOf(body) === 2) {
          return new Promise((resolve) => (answered = resolve));
        }
        const { namespace } = (body as Partial<KubernetesObject>).metadata ?? {};
        if (namespace === 'elsewhere') throw apiError(503);
        return body;
      };
      recorder.record(event({ regarding: { ...regarding, namespace: 'elsewhere' } }));
      for (const ms of [1, 1, 1]) {
        recorder.record(event());
        await clock.advance(ms);
      }
      answered({});
      await clock.advance(10 * minute);
      const counts = fake.calls.filter(({ verb }) => verb === 'patch').map(({ body }) => body);
      expect(counts.map(countOf)).to.deep.equal([2, 3]);
      await recorder.stop();
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

    it('creates an Event at once if the one that another replica had created expires before it is patched', async () => {
      const { fake, recorder, counts } = setUp();
      fake.answer = ({ verb, body }) => {
        if (verb === 'patch') throw apiError(404, 'NotFound');
        if (fake.calls.length === 1) throw apiError(409, 'AlreadyExists');
        return body;
      };
      for (const count of [1, 2]) recorder.record(event({ note: `try ${count}` }));
      await recorder.flush();
      expect(fake.verbs).to.deep.equal(['create', 'patch', 'create']);
      expect(counts).to.deep.equal({ written: 2 });
    });

    const refused = [
      { error: apiError(403, 'Forbidden'), line: 'writing events.events.k8s.io is not allowed' },
      {
        error: apiError(403, 'Forbidden', { causes: [{ reason: 'NamespaceTerminating' }] }),
        line: 'their namespace is being deleted',
      },
    ];
    for (const { error, line } of refused) {
      it(`counts each event as refused and logs once when ${line}`, async () => {
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

    it('creates an Event when the same event occurs again after the server has rejected it', async () => {
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
});
