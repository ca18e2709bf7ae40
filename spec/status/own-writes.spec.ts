import { expect } from 'chai';
import { forwarding } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { keyOf } from '../../lib/object/index.js';
import { patchStatus } from '../../lib/status/index.js';
import type { StatusUpdate } from '../../lib/status/index.js';
import { StatusScene, newWriter } from './scene.js';
import type { Shop } from './scene.js';

describe('StatusWriter.isOwnWrite', () => {
  let scene: StatusScene;
  before(async () => {
    scene = await StatusScene.open();
  });
  after(() => scene.close());

  const ready = (reason: string) => [{ type: 'Ready', status: 'True', reason } as const];

  /** Another process with the field manager `shop`. */
  const elsewhere = async (object: Shop, update: StatusUpdate) =>
    patchStatus(scene.client, await scene.read(object), update, {
      ...{ fieldManager: 'shop', keepOthers: true, clock: scene.clock },
    });

  it('recognizes the watch event of its own write before the response arrives, but no event of another write meanwhile', async () => {
    const old = await scene.create();
    const { writer, context } = newWriter(scene, 'shop');
    let foreign: Shop | undefined;
    const seen: Record<string, boolean> = {};
    const client: Client = {
      ...forwarding(scene.client),
      apply: async (object, options) => {
        if (foreign === undefined) {
          foreign = await elsewhere(old, { fields: { phase: 'Open' } });
          seen['another status'] = writer.isOwnWrite(old, foreign);
        }
        const answer = await scene.client.apply(object, options);
        const own = await scene.read(old);
        seen['the sent status'] = writer.isOwnWrite(foreign, own);
        const later = await elsewhere(own, { fields: { url: 'a' } });
        seen['a change beside the sent status'] = writer.isOwnWrite(own, later);
        return answer;
      },
    };
    await writer.write(old, { conditions: ready('Done') }, { context: { ...context, client } });
    expect(seen).to.deep.equal({
      'another status': false,
      'the sent status': true,
      'a change beside the sent status': false,
    });
  });

  it("does not recognize another process's later write of the same status as its own", async () => {
    const object = await scene.create();
    const { writer, write } = newWriter(scene, 'shop');
    await write(object, 'Done');
    const message = 'Done';
    const other = await elsewhere(object, { conditions: [{ ...ready('Else')[0]!, message }] });
    const again = await elsewhere(object, { conditions: [{ ...ready('Done')[0]!, message }] });
    expect(writer.isOwnWrite(other, again)).to.equal(false);
  });

  it('does not recognize a write that failed, but still recognizes the write before it', async () => {
    const old = await scene.create();
    const { writer, write, context } = newWriter(scene, 'shop');
    const apply = () => Promise.reject(new Error('the server is away'));
    const away = { context: { ...context, client: { ...forwarding(scene.client), apply } } };
    const fail = async () => {
      const update = { conditions: ready('Lost') };
      await writer.write(await scene.read(old), update, away).catch(() => undefined);
    };
    await fail();
    const lost = await elsewhere(old, { conditions: ready('Lost') });
    expect(writer.isOwnWrite(old, lost)).to.equal(false);
    const { object: done } = await write(old, 'Done');
    await fail();
    expect(writer.isOwnWrite(lost, done)).to.equal(true);
  });

  it('does not recognize its own write if the spec or another part of the status has changed too', async () => {
    const old = await scene.create();
    const { writer, write } = newWriter(scene, 'shop');
    const patch = { type: 'merge', body: { spec: { size: 2 } } } as const;
    const edited = await scene.client.patch<Shop>(old, keyOf(old), patch);
    const { object: first } = await write(old, 'First');
    expect(writer.isOwnWrite(old, first)).to.equal(false);
    expect(writer.isOwnWrite(edited, first)).to.equal(true);
    const others = { fieldManager: 'other', clock: scene.clock };
    const noted = await patchStatus(scene.client, first, { fields: { url: 'a' } }, others);
    const { object: second } = await write(old, 'Second');
    expect(writer.isOwnWrite(first, second)).to.equal(false);
    expect(writer.isOwnWrite(noted, second)).to.equal(true);
  });
});
