import { expect } from 'chai';
import { forwarding } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { ApiError } from '../../lib/object/index.js';
import type { ConditionUpdate, KubernetesObject, TypeReference } from '../../lib/object/index.js';
import { errorMessage } from '../../lib/system/index.js';
import { patchStatus } from '../../lib/status/index.js';
import type { StatusWriterOptions } from '../../lib/status/index.js';
import { StatusScene, newWriter } from './scene.js';
import type { Shop } from './scene.js';

describe('StatusWriter', () => {
  let scene: StatusScene;
  before(async () => {
    scene = await StatusScene.open();
  });
  after(() => scene.close());

  const writerOf = (fieldManager: string, more: Partial<StatusWriterOptions<Shop>> = {}) =>
    newWriter(scene, fieldManager, more);
  const reasonIn = async (object: Shop) =>
    (await scene.read(object)).status?.conditions?.map(({ reason }) => reason);

  describe('with server-side apply', () => {
    it('takes a condition over from an earlier release once, and not again if that release continues to write it', async () => {
      const object = await scene.create();
      const [old, young] = [writerOf('old'), writerOf('young')];
      await old.write(object, 'Old');
      await young.write(object, 'Young');
      expect(await reasonIn(object)).to.deep.equal(['Young']);
      await old.write(object, 'Old', 'False');
      expect(await reasonIn(object)).to.deep.equal(['Old']);
      for (let round = 0; round < 2; round++) {
        await young.write(object, 'Young');
        expect(await reasonIn(object), `round ${round}`).to.deep.equal(['Old']);
        await old.write(object, 'Old');
      }
      expect(old.warnings).to.deep.equal([]);
      expect(young.warnings).to.have.length(1);
      expect(young.warnings[0]).to.match(
        /^condition Ready of Shop .*: the field manager old also applies it, and owns it now; rename one$/,
      );
    });

    it('takes a condition over in a later write if the first write fails', async () => {
      const object = await scene.create();
      const [old, young] = [writerOf('old'), writerOf('young')];
      await old.write(object, 'Old');
      const client: Client = {
        ...forwarding(scene.client),
        apply: () => Promise.reject(new Error('the server is away')),
      };
      const conditions = [{ type: 'Ready', status: 'True', reason: 'Young', message: '' }] as const;
      const current = await scene.read(object);
      const away = { context: { ...young.context, client } };
      const failure = await young.writer
        .write(current, { conditions }, away)
        .catch((error: unknown) => error);
      expect(errorMessage(failure)).to.equal('the server is away');
      await young.write(object, 'Young');
      expect(await reasonIn(object)).to.deep.equal(['Young']);
      expect(young.warnings).to.deep.equal([]);
    });

    it('takes a condition over in a later write if the first write fails, and leaves another condition to its owner', async () => {
      const object = await scene.create();
      const [old, young] = [writerOf('old'), writerOf('young')];
      const both = (reason: string) =>
        ['Ready', 'Synced'].map((type) => ({ type, status: 'True', reason, message: '' }) as const);
      const write = async (
        { writer, context }: typeof old,
        conditions: readonly ConditionUpdate[],
      ) => writer.write(await scene.read(object), { conditions }, { context });
      await write(old, both('Old').slice(0, 1));
      await write(young, both('Young').slice(0, 1));
      await write(old, both('Old'));
      const apply = () => Promise.reject(new Error('the server is away'));
      const away = { ...young.context, client: { ...forwarding(scene.client), apply } };
      await write({ ...young, context: away }, both('Young')).catch(() => undefined);
      await write(young, both('Young'));
      expect(await reasonIn(object)).to.have.members(['Old', 'Young']);
    });

    it('writes its other conditions although it leaves one condition to another writer', async () => {
      const object = await scene.create();
      const [old, young] = [writerOf('old'), writerOf('young')];
      for (const each of [old, young, old])
        await each.write(object, each === old ? 'Old' : 'Young');
      const current = await scene.read(object);
      const conditions = ['Ready', 'Synced'].map((type) => {
        return { type, status: 'True', reason: 'Young', message: '' } as const;
      });
      const { object: written } = await young.writer.write(current, { conditions }, young);
      expect(
        written.status?.conditions?.map(({ type, reason }) => `${type} ${reason}`).sort(),
      ).to.deep.equal(['Ready Old', 'Synced Young']);
    });

    it('writes a condition whose message alone changes at most every five seconds, and a changed status at once', async () => {
      const object = await scene.create();
      const { writer, context } = writerOf('shop');
      const write = async (message: string, status: 'True' | 'False' = 'True') => {
        const conditions = [{ type: 'Ready', status, reason: 'R', message }];
        return writer.write(await scene.read(object), { conditions }, { context });
      };
      await write('1 of 3');
      await scene.clock.advance(1_000);
      expect((await write('2 of 3')).waitMs).to.equal(4_000);
      await scene.clock.advance(4_000);
      const { object: later, waitMs } = await write('3 of 3');
      expect([later.status?.conditions?.[0]?.message, waitMs]).to.deep.equal(['3 of 3', undefined]);
      const { object: changed } = await write('failed', 'False');
      expect(changed.status?.conditions?.[0]?.message).to.equal('failed');
    });

    it('writes nothing if two messages are equal up to the length at which it cuts them', async () => {
      const object = await scene.create();
      const { writer, context } = writerOf('shop');
      const write = async (end: string) => {
        const message = 'x'.repeat(32_768) + end;
        const conditions = [{ type: 'Ready', status: 'True', reason: 'R', message }] as const;
        return writer.write(await scene.read(object), { conditions }, { context });
      };
      await write('1');
      const last = await scene.writesDuring(async () => {
        expect((await write('2')).waitMs).to.equal(undefined);
      });
      expect(last).to.equal(0);
    });

    it('replaces half a surrogate pair in a message, which a server refuses, and writes the message only once', async () => {
      const object = await scene.create();
      const { writer, context } = writerOf('shop');
      const message = 'half of a character: \ud83d';
      const conditions = [{ type: 'Ready', status: 'True', reason: 'R', message }] as const;
      const write = async () => writer.write(await scene.read(object), { conditions }, { context });
      const writes = await scene.writesDuring(async () => {
        await write();
        expect((await write()).waitMs).to.equal(undefined);
      });
      expect(writes).to.equal(1);
    });

    it('delays a changed message even if it had to change the reason into a valid one', async () => {
      const object = await scene.create();
      const { writer, context } = writerOf('shop');
      const write = async (message: string) => {
        const conditions = [
          { type: 'Ready', status: 'True', reason: 'no space', message },
        ] as const;
        return writer.write(await scene.read(object), { conditions }, { context });
      };
      await write('1 of 3');
      expect((await write('2 of 3')).waitMs).to.equal(5_000);
      expect(await reasonIn(object)).to.deep.equal(['noSpace']);
    });

    it('recognizes its own writes, but not writes that change more than the status', async () => {
      const object = await scene.create();
      const { writer, write } = writerOf('shop');
      const before = await scene.read(object);
      const { object: written } = await write(object, 'Done');
      expect(writer.isOwnWrite(before, written)).to.equal(true);
      expect(writerOf('shop').writer.isOwnWrite(before, written)).to.equal(false);
      const body = { spec: { size: 2 } };
      const { apiVersion, kind, metadata } = object;
      const key = { namespace: 'default', name: metadata.name ?? '' };
      const edited = await scene.client.patch<Shop>({ apiVersion, kind }, key, {
        type: 'merge',
        body,
      });
      expect(writer.isOwnWrite(written, edited)).to.equal(false);
    });

    it('writes no status if the schema has none, and logs this once', async () => {
      const type = { apiVersion: 'status.example.com/v1', kind: 'Booth' };
      const booth = writerOf('shop', { type, generation: true });
      for (let round = 0; round < 2; round++) {
        const { object } = await booth.write(await scene.create('Booth'), 'Done');
        expect(object.status ?? {}).to.deep.equal({});
      }
      expect(booth.warnings).to.have.length(1);
      expect(booth.warnings[0]).to.match(
        /^the schema of Booth has no status\.conditions and status\.observedGeneration: /,
      );
    });
  });

  describe('with merge patches', () => {
    it('writes conditions again after an admission policy has refused them', async () => {
      const object = await scene.create();
      const { writer, context } = writerOf('ours', { strategy: 'merge' });
      const message = `shops.status.example.com "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`;
      const refused = new ApiError(
        { reason: 'Invalid', message },
        { verb: 'patch', kind: 'Shop', name: 'a', status: 422 },
      );
      const client: Client = {
        ...forwarding(scene.client),
        patch: () => Promise.reject(refused),
      };
      const conditions = [{ type: 'Ready', status: 'True', reason: 'R', message: '' }] as const;
      const write = async (place: object) =>
        writer.write(
          await scene.read(object),
          { conditions },
          { context: { ...context, ...place } },
        );
      await write({ client });
      await write({});
      expect(await reasonIn(object)).to.deep.equal(['R']);
    });

    it('stops writing a condition that another writer replaces three times in a row', async () => {
      const object = await scene.create();
      const ours = writerOf('ours', { strategy: 'merge' });
      const theirs = writerOf('theirs', { strategy: 'merge' });
      for (let round = 1; round <= 3; round++) {
        await ours.write(object, 'Ours');
        expect(await reasonIn(object), `round ${round}`).to.deep.equal(['Ours']);
        // Each write is from a new process, which has counted no writes yet.
        await writerOf('theirs', { strategy: 'merge' }).write(object, 'Theirs');
      }
      await ours.write(object, 'Ours');
      expect(await reasonIn(object)).to.deep.equal(['Theirs']);
      expect(ours.warnings).to.have.length(1);
      expect(ours.warnings[0]).to.match(
        /^condition Ready of Shop .*: another writer sets it, so it is not written/,
      );
      await theirs.write(object, 'Later');
      await ours.write(object, 'Ours');
      expect(await reasonIn(object)).to.deep.equal(['Later']);
      expect(ours.warnings).to.have.length(1);
    });

    it('does not write a condition while the rest of the status does not fit the schema, and writes it after that rest has changed', async () => {
      const object = await scene.create();
      const fields = { conditions: s.conditions(), phase: s.string() };
      const type = defineResource({
        ...{ group: 'status.example.com', kind: 'Shop' },
        versions: [
          {
            ...{ name: 'v1', schema: s.object({ spec: s.unknownObject() }) },
            status: s.object(fields),
          },
        ],
      }) as TypeReference<KubernetesObject> as TypeReference<Shop>;
      const ours = writerOf('ours', { strategy: 'merge', type });
      const writes = await scene.writesDuring(async () => {
        for (let round = 0; round < 2; round++) await ours.write(object, 'Done');
      });
      expect([writes, ours.warnings]).to.deep.equal([
        0,
        ['a condition cannot be written: see the events and the log instead'],
      ]);
      const update = { fields: { phase: 'Open' } };
      await patchStatus(scene.client, object, update, { fieldManager: 'other' });
      await ours.write(object, 'Done');
      expect(await reasonIn(object)).to.deep.equal(['Done']);
    });

    it('checks the status that is on the server, even if the cache has removed fields from the object', async () => {
      const status = s.object({ phase: s.string(), conditions: s.conditions() });
      const type = defineResource({
        ...{ group: 'status.example.com', kind: 'Shop' },
        versions: [{ name: 'v1', schema: s.object({ spec: s.unknownObject() }), status }],
      });
      const whole = await patchStatus(
        scene.client,
        await scene.create(),
        { fields: { phase: 'Open' } },
        { fieldManager: 'other' },
      );
      const { writer, warnings, context } = writerOf('ours', { type, strategy: 'merge' });
      const { apiVersion, kind, metadata } = whole;
      const conditions = [{ type: 'Ready', status: 'True', reason: 'Ours' }] as const;
      await writer.write({ apiVersion, kind, metadata }, { conditions }, { context });
      expect(warnings).to.deep.equal([]);
      expect(await scene.read(whole)).to.have.nested.property('status.phase', 'Open');
      expect(await reasonIn(whole)).to.deep.equal(['Ours']);
    });

    const edits = { status: 'False', reason: 'Theirs', message: 'theirs' } as const;
    for (const [name, value] of Object.entries(edits)) {
      it(`stops writing a condition of which another writer replaces only the ${name}`, async () => {
        const object = await scene.create();
        const ours = writerOf('ours', { strategy: 'merge' });
        const type = { apiVersion: object.apiVersion, kind: object.kind };
        for (let round = 1; round <= 4; round++) {
          await ours.write(object, 'Ours');
          const { status } = await scene.read(object);
          const conditions = status?.conditions?.map((each) => ({ ...each, [name]: value }));
          const body = { status: { conditions } };
          const key = { namespace: 'default', name: object.metadata.name ?? '' };
          const patch = { type: 'merge', body } as const;
          await scene.client.patch(type, key, patch, { subresource: 'status' });
          // A change of only the message is written after five seconds.
          await scene.clock.advance(5_000);
        }
        expect(ours.warnings).to.have.length(1);
      });
    }

    it('does not write conditions again to a kind whose schema has none', async () => {
      const type = { apiVersion: 'status.example.com/v1', kind: 'Booth' };
      const booth = writerOf('ours', { type, strategy: 'merge' });
      const objects = [await scene.create('Booth'), await scene.create('Booth')];
      const writes = await scene.writesDuring(async () => {
        for (const object of objects) await booth.write(object, 'Ours');
      });
      expect(writes).to.equal(1);
      expect(booth.warnings).to.deep.equal([]);
    });

    it('writes nothing to a new object with the name of the given object', async () => {
      const given = await scene.create();
      const { apiVersion, kind, metadata } = given;
      const { namespace = '', name = '' } = metadata;
      await scene.client.delete({ apiVersion, kind }, { namespace, name });
      const other = { ...given, metadata: { namespace, name } };
      await scene.client.create<Shop>(other);
      const { writer, context } = writerOf('ours', { strategy: 'merge' });
      const conditions = [{ type: 'Ready', status: 'True', reason: 'Ours' }] as const;
      const { object } = await writer.write(given, { conditions }, { context });
      expect(object).to.equal(given);
      expect(await reasonIn(given)).to.equal(undefined);
    });

    it('keeps writing a condition that no one else writes, however often its status changes', async () => {
      const object = await scene.create();
      const ours = writerOf('ours', { strategy: 'merge' });
      for (let round = 1; round <= 6; round++) {
        await ours.write(object, `Round${round}`);
        expect(await reasonIn(object)).to.deep.equal([`Round${round}`]);
      }
      expect(ours.warnings).to.deep.equal([]);
    });

    it('keeps writing a condition whose reason and message it must change to be valid, however often its status changes', async () => {
      const object = await scene.create();
      const { writer, warnings, context } = writerOf('ours', { strategy: 'merge' });
      for (let round = 1; round <= 6; round++) {
        const message = 'x'.repeat(40_000);
        const reason = `round ${round}`;
        const conditions = [{ type: 'Ready', status: 'False', reason, message }] as const;
        await writer.write(await scene.read(object), { conditions }, { context });
        expect(await reasonIn(object)).to.deep.equal([`round${round}`]);
      }
      expect(warnings).to.deep.equal([]);
    });

    for (const kind of ['Kiosk', 'Cart', 'Stall']) {
      it(`keeps writing a condition that no one else writes, although the schema of ${kind} changes it`, async () => {
        const type = { apiVersion: 'status.example.com/v1', kind };
        const object = await scene.create(kind);
        const ours = writerOf('ours', { type, strategy: 'merge' });
        for (let round = 1; round <= 6; round++) {
          await ours.write(object, `Round${round}`);
          expect(await reasonIn(object)).to.deep.equal([`Round${round}`]);
        }
        expect(ours.warnings).to.deep.equal([]);
      });
    }

    it('keeps writing a condition that another writer replaces now and then', async () => {
      const object = await scene.create();
      const ours = writerOf('ours', { strategy: 'merge' });
      for (let round = 1; round <= 5; round++) {
        await ours.write(object, 'Ours');
        await writerOf('theirs', { strategy: 'merge' }).write(object, 'Theirs');
        await scene.clock.advance(60_000);
      }
      await ours.write(object, 'Ours');
      expect(await reasonIn(object)).to.deep.equal(['Ours']);
      expect(ours.warnings).to.deep.equal([]);
    });
  });
});
