import { expect } from 'chai';
import { forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import type { SourceContext } from '../../../lib/controller/sources.js';
import { watchedDocuments } from '../../../lib/declarative/runtime/document-sources.js';
import { OperatorError } from '../../../lib/system/operator-error.js';
import { ControllerScene, configMap, view, views } from './controller-scene.js';

const nothing = (): void => undefined;
const missing = new Error('it does not wait');
const spec = { kind: 'Copy', type: 'Watcher', periodMs: 0 } as const;

describe('A source of watchedDocuments', () => {
  let scene: ControllerScene;
  beforeEach(async () => {
    scene = await ControllerScene.start();
  });
  afterEach(async () => {
    await scene.manager.cache.stop();
    await scene.end();
  });

  /** The part of the context that a source uses. */
  function context(): SourceContext {
    const { cache, client } = scene.manager;
    return { cache, client } as unknown as SourceContext;
  }

  it('has caught up when it has received all existing views', async () => {
    await scene.put(view('Copy', 'a'));
    const source = watchedDocuments('Copy', {
      ...{ type: { apiVersion: views, kind: 'Copy' }, spec },
      writes: scene.manager.targetWrites,
    });
    const started = source.start(context(), { changed: nothing, troubled: nothing });
    const caught = { up: false };
    const wait = started.caughtUp?.(new AbortController().signal);
    void wait?.then(() => (caught.up = true));
    await scene.base.clock.advance(0);
    expect([caught.up, [...started.keys()]]).to.deep.equal([false, []]);
    scene.manager.cache.start();
    await scene.during(wait ?? Promise.reject(new Error('it does not wait')));
    expect([...started.keys()]).to.deep.equal(['default/a']);
    started.stop();
  });

  it('catches up although a view is deleted after it was listed', async () => {
    await scene.put(view('Copy', 'a'));
    scene.manager.cache.start();
    const { cache } = scene.manager;
    const { client } = scene.manager;
    const listed: Client = {
      ...forwarding(client),
      list: async (type, options) => {
        const list = await client.list(type, options);
        await scene.delete(view('Copy', 'a'));
        await scene.eventually(() => expect([...started.keys()]).to.deep.equal([]));
        return list;
      },
    };
    const parts = { type: { apiVersion: views, kind: 'Copy' }, spec };
    const { targetWrites: writes } = scene.manager;
    const started = watchedDocuments('Copy', { ...parts, writes }).start(
      { cache, client: listed } as unknown as SourceContext,
      { changed: nothing, troubled: nothing },
    );
    await scene.eventually(() => expect([...started.keys()]).to.deep.equal(['default/a']));
    await scene.during(started.caughtUp?.(AbortSignal.timeout(5_000)) ?? Promise.reject(missing));
    expect([...started.keys()]).to.deep.equal([]);
    started.stop();
  });

  it('has caught up only when the cache no longer contains deleted views', async () => {
    await scene.put(view('Copy', 'a'));
    scene.manager.cache.start();
    const { targetWrites: writes } = scene.manager;
    const parts = { type: { apiVersion: views, kind: 'Copy' }, spec };
    const started = watchedDocuments('Copy', { ...parts, writes }).start(context(), {
      ...{ changed: nothing, troubled: nothing },
    });
    await scene.eventually(() => expect([...started.keys()]).to.deep.equal(['default/a']));
    const dropped = scene.manager.views.server.faults.add({
      match: { verb: 'watch' },
      effect: { type: 'dropEvent' },
      times: 1,
    });
    await scene.delete(view('Copy', 'a'));
    await scene.settled();
    expect(dropped.struck).to.equal(1);
    const caught = { up: false };
    const wait = started.caughtUp?.(new AbortController().signal);
    void wait?.then(() => (caught.up = true));
    await scene.base.clock.advance(100);
    expect([caught.up, [...started.keys()]]).to.deep.equal([false, ['default/a']]);
    // The watch delivers a later state than that of the list.
    await scene.put(view('Copy', 'a'));
    await scene.during(wait ?? Promise.reject(missing));
    started.stop();
  });

  it('does not wait for views whose kind was removed meanwhile, but fails with every other error', async () => {
    await scene.put(view('Copy', 'a'));
    const { cache, client, targetWrites: writes } = scene.manager;
    const caughtUp = async (error: Error): Promise<unknown> => {
      const failing: Client = { ...forwarding(client), list: () => Promise.reject(error) };
      const started = watchedDocuments('Copy', {
        ...{ type: { apiVersion: views, kind: 'Copy' }, spec, writes },
      }).start({ cache, client: failing } as unknown as SourceContext, {
        ...{ changed: nothing, troubled: nothing },
      });
      const caught = started.caughtUp?.(AbortSignal.timeout(5_000)) ?? Promise.reject(missing);
      const end = await caught.then(() => 'caught up', String);
      started.stop();
      return end;
    };
    const gone = new OperatorError('UnknownKind', 'no such view');
    expect(await caughtUp(gone)).to.equal('caught up');
    expect(await caughtUp(new Error('out of memory'))).to.equal('Error: out of memory');
  });

  it('names its kind in the error when the kind is not served', async () => {
    const type = { apiVersion: 'nowhere.example.com/v1', kind: 'Gizmo' };
    const { targetWrites: writes } = scene.manager;
    const told = { times: 0 };
    const started = watchedDocuments('Gizmo', { type, spec, writes }).start(context(), {
      ...{ changed: nothing, troubled: () => (told.times += 1) },
    });
    expect(started.problem).to.equal(undefined);
    scene.manager.cache.start();
    await scene.eventually(() => expect(told.times).to.be.at.least(1));
    expect(started.problem).to.have.property('code', 'UnknownKind');
    expect([started.parked, started.problem?.message]).to.satisfy(
      ([parked, message]: [boolean, string]) => parked && message.includes('Gizmo'),
    );
    started.stop();
  });

  it('does not wait for controllers of this process if its kind is not a kind of views', async () => {
    await scene.put(configMap('a'));
    const type = { apiVersion: 'v1', kind: 'ConfigMap' };
    const { targetWrites: writes } = scene.manager;
    const started = watchedDocuments('ConfigMap', { type, spec, writes }).start(context(), {
      changed: nothing,
      troubled: nothing,
    });
    expect(started).to.not.have.property('caughtUp');
    started.stop();
  });
});
