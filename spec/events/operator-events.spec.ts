import { expect } from 'chai';
import { expectTypeOf } from 'expect-type';
import { OperatorEvents } from '../../lib/events/operator-events.js';
import type { ObjectWritten, RolloutChanged } from '../../lib/events/operator-events.js';
import type { Logger } from '../../lib/system/logger.js';

const written: ObjectWritten = {
  ref: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'web' },
  changes: [{ path: 'data.a', from: '1', to: '2', manager: 'kubectl' }],
};

describe('OperatorEvents', () => {
  it('passes the payload to every listener of the event', () => {
    const events = new OperatorEvents();
    const seen: ObjectWritten[] = [];
    events.on('configured', (event) => seen.push(event));
    events.once('configured', (event) => seen.push(event));
    events.on('created', (event) => seen.push(event));
    expect(events.emit('configured', written)).to.equal(true);
    events.emit('configured', written);
    expect(seen).to.deep.equal([written, written, written]);
    expect(events.emit('deleted', written)).to.equal(false);
  });

  it('gives the payload of each event its TypeScript type', () => {
    const events = new OperatorEvents();
    events.on('rollout', (event) => expectTypeOf(event).toEqualTypeOf<RolloutChanged>());
    // @ts-expect-error there is no such event
    events.on('spam', () => undefined);
    // @ts-expect-error a rollout has a status
    events.emit('rollout', written);
  });

  it('refuses an unknown option', () => {
    const options: object = { log: console };
    expect(() => new OperatorEvents(options))
      .to.throw('log')
      .with.property('code', 'InvalidOption');
  });

  it('logs an error of a listener instead of throwing it to the emitter', () => {
    const lines: unknown[] = [];
    const logger = { error: (...line: unknown[]) => lines.push(line) } as Partial<Logger> as Logger;
    const events = new OperatorEvents({ logger });
    const error = new Error('broken');
    events.on('created', () => {
      throw error;
    });
    expect(events.emit('created', written)).to.equal(true);
    expect(lines).to.deep.equal([["a listener of 'created' threw", { error }]]);
  });

  it('logs a rejection of an async listener, and calls the listeners after a failed one', async () => {
    const lines: unknown[] = [];
    const logger = { error: (...line: unknown[]) => lines.push(line) } as Partial<Logger> as Logger;
    const events = new OperatorEvents({ logger });
    const error = new Error('broken');
    const seen: string[] = [];
    events.on('created', () => {
      throw error;
    });
    const rejects = (): unknown => Promise.reject(error);
    events.on('created', rejects);
    events.on('created', ({ ref }) => seen.push(ref.name));
    events.emit('created', written);
    await new Promise((resolve) => setImmediate(resolve));
    const line = ["a listener of 'created' threw", { error }];
    expect(lines).to.deep.equal([line, line]);
    expect(seen).to.deep.equal(['web']);
  });

  for (const listener of [undefined, null, {}, 'listener']) {
    it(`refuses ${JSON.stringify(listener)} as a listener`, () => {
      const events = new OperatorEvents();
      for (const method of ['on', 'addListener', 'once'] as const) {
        expect(() => events[method]('created', listener as never))
          .to.throw("OperatorEvents: listener of 'created': want a function, got ")
          .with.property('code', 'InvalidOption');
      }
      expect(events.eventNames()).to.deep.equal([]);
    });
  }

  it('lists and removes listeners by the functions that were passed to it', () => {
    const events = new OperatorEvents();
    const seen: string[] = [];
    const listener = function (this: { name: string } | OperatorEvents): void {
      seen.push('name' in this ? this.name : 'emitter');
    };
    events.on('created', listener).once('deleted', listener, { name: 'own' });
    events.addListener('pruned', listener);
    expect(events.listeners('created')).to.deep.equal([listener]);
    for (const name of ['created', 'deleted', 'deleted', 'pruned'] as const) {
      events.emit(name, written);
    }
    expect(seen).to.deep.equal(['emitter', 'own', 'emitter']);
    events.off('created', listener).removeListener('pruned', listener);
    expect(events.eventNames()).to.deep.equal([]);
    events.on('created', listener).on('created', () => undefined);
    expect(events.removeAllListeners('created').listenerCount('created')).to.equal(0);
  });
});
