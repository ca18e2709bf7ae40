import { expect } from 'chai';
import type { Event } from '../../lib/object/kinds.js';
import { ManagerSetup } from './manager-setup.js';

const type = { apiVersion: 'events.k8s.io/v1', kind: 'Event' };
const about = { type: 'Warning', reason: 'Broken', action: 'Check', note: 'it is broken' } as const;

describe('Manager.eventRecorder', () => {
  it('writes events, flushes the last ones when the manager stops, and leaves no timer', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const manager = setup.manager();
    const recorder = manager.eventRecorder('shop-operator');
    expect(manager.eventRecorder('shop-operator')).to.equal(recorder);
    await setup.run(manager);
    const regarding = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'a' };
    for (let n = 0; n < 12; n++) {
      recorder.record({ ...about, regarding, related: { ...regarding, name: `part-${n}` } });
    }
    setup.stop.abort();
    expect(await setup.running).to.equal(undefined);
    const { items } = await setup.cluster.client().list<Event>(type, { namespace: 'default' });
    expect(items.map(({ note }) => note)).to.include('2 more: 2 ConfigMap; last: it is broken');
    expect(items.filter(({ reason }) => reason === 'Broken')).to.have.length(11);
    expect(setup.clock.pendingTimers).to.equal(0);
    await setup.end();
  });

  it('writes no events after the manager has stopped, and begins no timer', async () => {
    const setup = await ManagerSetup.start();
    await setup.create('a');
    const manager = setup.manager();
    await setup.run(manager);
    setup.stop.abort();
    expect(await setup.running).to.equal(undefined);
    const regarding = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'a' };
    manager.eventRecorder('late').record({ ...about, regarding });
    await setup.clock.advance(60_000);
    const { items } = await setup.cluster.client().list<Event>(type, { namespace: 'default' });
    expect(items.filter(({ reason }) => reason === 'Broken')).to.deep.equal([]);
    expect(setup.clock.pendingTimers).to.equal(0);
    await setup.end();
  });

  it('reports under the name of the manager by default', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager({ name: 'shop-operator' });
    expect(manager.recorder).to.equal(manager.eventRecorder('shop-operator'));
    await setup.cluster.stop();
  });

  it('declares the permissions that it needs', async () => {
    const setup = await ManagerSetup.start();
    const manager = setup.manager();
    manager.eventRecorder('shop-operator');
    const access = manager.requiredAccess().find(({ type }) => type?.kind === 'Event');
    expect(access?.verbs).to.deep.equal(['create', 'patch']);
    await setup.cluster.stop();
  });
});
