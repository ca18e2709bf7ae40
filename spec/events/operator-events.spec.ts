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

  it('types the payload of each event', () => {
    const events = new OperatorEvents();
    events.on('rollout', (event) => expectTypeOf(event).toEqualTypeOf<RolloutChanged>());
    // @ts-expect-error there is no such event
    events.on('spam', () => undefined);
    // @ts-expect-error a rollout has a status
    events.emit('rollout', written);
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
});
