import { expect } from 'chai';
import { forwarding } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { failureKindOf } from '../../lib/controller/index.js';
import { isConflict, isNotFound, keyOf } from '../../lib/object/index.js';
import type { ConditionUpdate } from '../../lib/object/index.js';
import { patchStatus } from '../../lib/status/index.js';
import type { StatusUpdate, StatusWriting } from '../../lib/status/index.js';
import { StatusScene, newWriter } from './scene.js';
import type { Shop } from './scene.js';

describe('StatusWriter.write', () => {
  let scene: StatusScene;
  before(async () => {
    scene = await StatusScene.open();
  });
  after(() => scene.close());

  type Options = Parameters<typeof newWriter>[2];
  /** A writer that reads the object before each write. */
  const writerOf = (options: Options = {}) => {
    const { writer, context, warnings, notes } = newWriter(scene, 'shop', options);
    const write = async (object: Shop, update: StatusUpdate, how: Partial<StatusWriting> = {}) =>
      writer.write(await scene.read(object), update, { context, ...how });
    return { writer, write, context, warnings, notes };
  };
  const typeOf = (kind: string) => ({ apiVersion: 'status.example.com/v1', kind });
  const ready = (more: Partial<ConditionUpdate> = {}): ConditionUpdate => ({
    ...{ type: 'Ready', status: 'True', reason: 'Done', message: 'done', ...more },
  });
  const readyIn = ({ status }: Shop) => status?.conditions?.[0];
  const caught = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  for (const strategy of ['apply', 'merge'] as const) {
    it(`writes observedGeneration only for a reconcile, and only if the status has this field (${strategy})`, async () => {
      const object = await scene.create();
      const generation = object.metadata.generation;
      const plain = writerOf({ strategy });
      const { object: without } = await plain.write(object, { conditions: [ready()] });
      expect(without.status).not.to.have.property('observedGeneration');
      const { write } = writerOf({ strategy, generation: true });
      const paused = { conditions: [ready({ reason: 'Paused' })] };
      const { object: unseen } = await write(object, paused, { isObserved: false });
      expect(unseen.status).not.to.have.property('observedGeneration');
      const { object: seen } = await write(object, { conditions: [ready()] });
      expect(seen.status).to.have.property('observedGeneration', generation);
    });
  }

  it('delays a changed message, but not a new observedGeneration, a changed field, or a write outside of a reconcile', async () => {
    const object = await scene.create();
    const { write } = writerOf();
    const first = ready({ observedGeneration: 1 });
    await write(object, { conditions: [first] });
    await scene.clock.advance(2_000);
    const news = { ...first, message: 'news' };
    expect((await write(object, { conditions: [news] })).waitMs).to.equal(3_000);
    expect((await write(object, { conditions: [first] })).waitMs).to.equal(undefined);
    const textOf = async (update: StatusUpdate, how: Partial<StatusWriting> = {}) =>
      readyIn((await write(object, update, how)).object)?.message;
    const next = { ...news, observedGeneration: 2, message: 'next' };
    expect(await textOf({ conditions: [next] })).to.equal('next');
    const paused = { ...next, message: 'paused' };
    expect(await textOf({ conditions: [paused] }, { isObserved: false })).to.equal('paused');
    const opened = { ...paused, message: 'opened' };
    const update = { conditions: [opened], fields: { phase: 'Open' } };
    expect(await textOf(update)).to.equal('opened');
    const renamed = { ...opened, reason: 'Renamed', message: 'renamed' };
    expect(await textOf({ ...update, fields: {}, conditions: [renamed] })).to.equal('renamed');
  });

  it('delays a changed message although the schema of conditions has no observedGeneration', async () => {
    const object = await scene.create('Kiosk');
    const { write } = writerOf({ type: typeOf('Kiosk'), strategy: 'merge' });
    const first = ready({ observedGeneration: 1 });
    expect(readyIn((await write(object, { conditions: [first] })).object)).to.not.have.property(
      'observedGeneration',
    );
    const news = { ...first, message: 'news' };
    expect((await write(object, { conditions: [news] })).waitMs).to.equal(5_000);
    const next = { ...news, observedGeneration: 2 };
    expect((await write(object, { conditions: [next] })).waitMs).to.equal(undefined);
  });

  it('does not delay an unchanged condition if the schema of conditions has no message', async () => {
    const object = await scene.create('Cart');
    const { write } = writerOf({ type: typeOf('Cart'), strategy: 'merge' });
    const conditions = [ready({ message: 'done' })];
    expect(readyIn((await write(object, { conditions })).object)).to.not.have.property('message');
    expect((await write(object, { conditions })).waitMs).to.equal(undefined);
  });

  for (const strategy of ['apply', 'merge'] as const) {
    it(`sends a status once although the server adds defaults or removes fields (${strategy})`, async () => {
      const object = await scene.create('Kiosk');
      const { write, warnings } = writerOf({ type: typeOf('Kiosk'), strategy });
      const conditions = [ready({ observedGeneration: 1 })];
      const { object: written } = await write(object, { conditions });
      expect(readyIn(written)).to.include({ severity: 'Info', reason: 'Done' });
      expect(await scene.writesDuring(() => write(object, { conditions }))).to.equal(0);
      const changed = [ready({ status: 'False', observedGeneration: 1 })];
      expect(await scene.writesDuring(() => write(object, { conditions: changed }))).to.equal(1);
      const body = { status: { conditions: [] } };
      await scene.client.patch(
        object,
        keyOf(object),
        { type: 'merge', body },
        { subresource: 'status' },
      );
      const again = await write(object, { conditions: changed });
      expect(readyIn(again.object)).to.include({ status: 'False' });
      const gap = 'the schema of Kiosk has no status.conditions[].observedGeneration: ';
      expect(warnings.map((text) => text.slice(0, gap.length))).to.deep.equal(
        strategy === 'apply' ? [gap] : [],
      );
    });
  }

  it('leaves out all conditions if the schema lacks one of their members, and writes the other fields', async () => {
    const object = await scene.create('Cart');
    const { write, warnings } = writerOf({ type: typeOf('Cart') });
    const { object: written } = await write(object, {
      ...{ fields: { phase: 'Open' }, conditions: [ready()] },
    });
    expect(written.status).to.deep.equal({ phase: 'Open' });
    expect(warnings.join()).to.match(/^the schema of Cart has no status\.conditions: /);
  });

  it('leaves out optional fields that the schema lacks, and throws for other fields', async () => {
    const object = await scene.create();
    const { write, warnings } = writerOf({ optional: ['stages[].note', 'extra'] });
    const fields = { phase: 'Open', extra: 1 };
    const { object: written } = await write(object, { fields });
    expect(written.status).to.deep.equal({ phase: 'Open' });
    expect(warnings.join()).to.match(/^the schema of Shop has no status\.extra: /);
    const error = await caught(write(object, { fields: { ...fields, other: 1 } }));
    expect(String(error)).to.include('.status.other: field not declared in schema');
    expect(warnings).to.have.length(1);
  });

  const parts = { status: 'False', reason: 'Theirs', message: 'theirs' } as const;
  for (const [name, value] of Object.entries(parts)) {
    it(`leaves a condition to the other operator after that has applied its own ${name} a second time`, async () => {
      const object = await scene.create();
      const [theirs, ours] = [newWriter(scene, 'theirs'), newWriter(scene, 'ours')];
      const states = new Map([
        [theirs, ready({ [name]: value })],
        [ours, ready()],
      ]);
      for (const each of [theirs, ours, theirs, ours]) {
        const { writer, context } = each;
        const conditions = [states.get(each) ?? ready()];
        await writer.write(await scene.read(object), { conditions }, { context });
        await scene.clock.advance(5_000);
      }
      expect(readyIn(await scene.read(object))).to.have.property(name, value);
      expect([theirs.warnings.length, ours.warnings.length]).to.deep.equal([0, 1]);
    });
  }

  describe('to an object that has changed since it was read', () => {
    const merge = { strategy: 'merge' } as const;
    it('writes conditions of a reconcile if the spec is the same, but no condition that depends on the resourceVersion', async () => {
      const object = await scene.create();
      const { writer, context } = writerOf(merge);
      await patchStatus(scene.client, object, { fields: { url: 'a' } }, { fieldManager: 'other' });
      const update = { conditions: [ready()] };
      const refused = await caught(writer.write(object, update, { context, isObserved: false }));
      expect(isConflict(refused)).to.equal(true);
      const { object: written } = await writer.write(object, update, { context });
      expect(written.status).to.include({ url: 'a' });
      expect(readyIn(written)).to.include({ reason: 'Done' });
    });

    it('writes no conditions of a reconcile if the spec has changed', async () => {
      const object = await scene.create();
      const { writer, context } = writerOf(merge);
      const body = { spec: { size: 2 } };
      await scene.client.patch(object, keyOf(object), { type: 'merge', body });
      const refused = await caught(writer.write(object, { conditions: [ready()] }, { context }));
      expect(isConflict(refused)).to.equal(true);
    });
  });

  describe('to an object that was deleted', () => {
    it('writes nothing with server-side apply, and fails with a merge patch', async () => {
      const object = await scene.create();
      await scene.client.delete(object, keyOf(object));
      const update = { conditions: [ready()] };
      const applied = writerOf();
      const result = await applied.writer.write(object, update, applied);
      expect(result).to.deep.equal({ object });
      const merged = writerOf({ strategy: 'merge' });
      expect(isNotFound(await caught(merged.writer.write(object, update, merged)))).to.equal(true);
    });
  });

  describe('to an object whose kind has no subresource status', () => {
    const type = typeOf('Stand');
    const update = { conditions: [ready()] };
    it('throws an error that tells what to add to the CRD, with server-side apply', async () => {
      const object = await scene.create('Stand');
      const error = await caught(writerOf({ type }).write(object, update));
      expect(error).to.have.property('code', 'InvalidOption');
      expect(String(error)).to.include('no subresource status for the kind; add it to the CRD');
      expect(failureKindOf(error)).not.to.equal(undefined);
    });

    it('reports once that the kind stores no conditions, with merge patches', async () => {
      const object = await scene.create('Stand');
      const { writer, write, notes } = writerOf({ type, strategy: 'merge' });
      expect(writer.keeps(object)).to.equal(true);
      const writes = await scene.writesDuring(async () => {
        expect(await write(object, update)).to.have.property('object');
        const other = await scene.create('Stand');
        expect(await write(other, update)).to.deep.equal({ object: other });
      });
      expect(writes).to.equal(2);
      expect(writer.keeps(object)).to.equal(false);
      expect(notes).to.deep.equal([
        'Stand keeps no conditions, it has no status subresource: see the events and the log instead',
      ]);
    });

    it('reads from the server instead of a cache whether the object still exists', async () => {
      const object = await scene.create('Stand');
      const { writer, context, notes } = writerOf({ type, strategy: 'merge' });
      const cached: Client = {
        ...forwarding(scene.client),
        get: () => Promise.reject(new Error('the cache was read')),
      };
      const client = { ...cached, live: scene.client };
      await writer.write(object, update, { context: { ...context, client } });
      expect(notes).to.have.length(1);
    });
  });
});
