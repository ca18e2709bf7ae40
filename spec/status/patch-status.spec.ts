import { expect } from 'chai';
import { ensureCrd } from '../../lib/client/index.js';
import { failureKindOf } from '../../lib/controller/index.js';
import { defineResource, s, versionOfResource } from '../../lib/crd/index.js';
import { isConflict, isNotFound, keyOf } from '../../lib/object/index.js';
import { patchStatus } from '../../lib/status/index.js';
import type { PatchStatusOptions, StatusUpdate } from '../../lib/status/index.js';
import { StatusScene } from './scene.js';
import type { Shop } from './scene.js';

async function thrownBy(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('patchStatus', () => {
  let scene: StatusScene;
  before(async () => {
    scene = await StatusScene.open();
  });
  after(() => scene.close());

  const patch = (object: Shop, update: StatusUpdate, more: Partial<PatchStatusOptions> = {}) =>
    patchStatus(scene.client, object, update, {
      ...{ fieldManager: 'shop-operator', clock: scene.clock, ...more },
    });
  const ready = (status: 'True' | 'False', message = '') =>
    ({ type: 'Ready', status, reason: 'Checked', message }) as const;

  it('writes fields and conditions, and sends nothing if the object already has them', async () => {
    const update = { fields: { phase: 'Open', url: undefined }, conditions: [ready('True')] };
    const written = await patch(await scene.create(), update);
    expect(written.status).to.deep.equal({
      phase: 'Open',
      conditions: [{ ...ready('True'), lastTransitionTime: '2026-01-01T00:00:00Z' }],
    });
    expect(await scene.read(written)).to.deep.equal(written);
    const again = await scene.writesDuring(async () => {
      expect(await patch(written, update)).to.equal(written);
    });
    expect(again).to.equal(0);
  });

  it('changes the transition time of a condition only together with its status', async () => {
    const timeOf = ({ status }: Shop) => status?.conditions?.[0]?.lastTransitionTime;
    const first = await patch(await scene.create(), { conditions: [ready('True')] });
    await scene.clock.advance(60_000);
    const reworded = await patch(first, { conditions: [ready('True', 'still')] });
    expect(reworded.status?.conditions?.[0]?.message).to.equal('still');
    expect(timeOf(reworded)).to.equal(timeOf(first));
    const changed = await patch(reworded, { conditions: [ready('False')] });
    expect(timeOf(changed)).not.to.equal(timeOf(first));
  });

  it('removes fields and conditions that the caller no longer sets, and keeps those of other managers', async () => {
    const object = await scene.create();
    await patch(object, { fields: { url: 'a' } }, { fieldManager: 'other' });
    const synced = { ...ready('True'), type: 'Synced' };
    const fields = { phase: 'Open' };
    const both = await patch(await scene.read(object), {
      ...{ fields, conditions: [ready('True'), synced] },
    });
    expect(Object.keys(both.status ?? {}).sort()).to.deep.equal(['conditions', 'phase', 'url']);
    const fewer = await patch(both, { fields, conditions: [synced] });
    expect(fewer.status?.conditions?.map(({ type }) => type)).to.deep.equal(['Synced']);
    const less = await patch(fewer, {});
    expect(less.status).to.deep.equal({ url: 'a' });
  });

  it('writes the conditions of eight field managers that write at the same time', async () => {
    const object = await scene.create();
    const types = Array.from({ length: 8 }, (_, n) => `Check${n}`);
    const writes = types.map((type) =>
      patch(object, { conditions: [{ ...ready('True'), type }] }, { fieldManager: type }),
    );
    await Promise.all(writes);
    const { status } = await scene.read(object);
    expect(status?.conditions?.map(({ type }) => type)).to.have.members(types);
  });

  it('with keepOthers, keeps fields and conditions of earlier calls', async () => {
    const first = await patch(await scene.create(), {
      ...{ fields: { phase: 'Open' }, conditions: [ready('True')] },
    });
    const other = { ...ready('True'), type: 'Synced' };
    const next = await patch(
      first,
      { fields: { url: 'a' }, conditions: [other] },
      { keepOthers: true },
    );
    expect(next.status).to.deep.include({ phase: 'Open', url: 'a' });
    expect(next.status?.conditions?.map(({ type }) => type)).to.have.members(['Ready', 'Synced']);
  });

  it('with keepOthers, keeps fields and conditions of earlier calls even if the given object lacks them', async () => {
    const object = await scene.create();
    const synced = { ...ready('True'), type: 'Synced' };
    await patch(object, { fields: { phase: 'Open' }, conditions: [synced] });
    const next = await patch(
      object,
      { fields: { url: 'a' }, conditions: [ready('False')] },
      { keepOthers: true },
    );
    expect(next.status).to.deep.include({ phase: 'Open', url: 'a' });
    expect(next.status?.conditions?.map(({ type }) => type)).to.have.members(['Ready', 'Synced']);
  });

  it('keeps the transition time of a condition that it has set after the given object was read', async () => {
    const first = await patch(await scene.create(), { conditions: [ready('False')] });
    const second = await patch(first, { conditions: [ready('True')] });
    await scene.clock.advance(60_000);
    const third = await patch(first, { conditions: [ready('True', 'still')] });
    const timeOf = ({ status }: Shop) => status?.conditions?.[0]?.lastTransitionTime;
    expect(timeOf(third)).to.equal(timeOf(second));
  });

  it('keeps the conditions of others in an atomic list, and throws a Conflict if the object has been written since it was read', async () => {
    const object = await scene.create('Stall');
    const atomic = { atomicConditions: true };
    const theirs = { ...ready('True'), type: 'Theirs' };
    const first = await patch(
      object,
      { conditions: [theirs] },
      { ...atomic, fieldManager: 'other' },
    );
    const second = await patch(first, { conditions: [ready('True')] }, atomic);
    expect(second.status?.conditions?.map(({ type }) => type)).to.have.members([
      ...['Theirs', 'Ready'],
    ]);
    // From now on, the writer treats the list of conditions as a plain list.
    const third = await patch(second, { conditions: [ready('False')] });
    expect(third.status?.conditions).to.have.length(2);
    const stale = await thrownBy(() => patch(second, { conditions: [ready('False', 'late')] }));
    expect(isConflict(stale)).to.equal(true);
  });

  it('writes to an object that others have changed since it was read, and keeps their changes', async () => {
    const object = await scene.create();
    await patch(object, { fields: { url: 'a' } }, { fieldManager: 'other' });
    const written = await patch(object, { fields: { phase: 'Open' } });
    expect(written.status).to.deep.equal({ phase: 'Open', url: 'a' });
    expect(await scene.read(object)).to.deep.equal(written);
  });

  it('fails if the object was deleted, and writes nothing to a new object with its name', async () => {
    const object = await scene.create();
    const { apiVersion, kind } = object;
    await scene.client.delete({ apiVersion, kind }, keyOf(object));
    const write = () => patch(object, { fields: { phase: 'Open' } });
    expect(isNotFound(await thrownBy(write))).to.equal(true);
    await scene.client.create({ apiVersion, kind, metadata: keyOf(object) });
    expect(isConflict(await thrownBy(write))).to.equal(true);
    expect((await scene.read(object)).status).to.equal(undefined);
  });

  it('refuses a status that does not fit the schema of its type before it sends a write, and names the field', async () => {
    const object = await scene.create();
    const status = s.object({ phase: s.optional(s.string({ enum: ['Open', 'Closed'] })) });
    const type = defineResource({
      ...{ group: 'status.example.com', kind: 'Shop' },
      versions: [{ name: 'v1', schema: s.object({ spec: s.unknownObject() }), status }],
    });
    const write = (phase: string) => patch(object, { fields: { phase } }, { type });
    const writes = await scene.writesDuring(async () => {
      const error = await thrownBy(() => write('Ajar'));
      expect(failureKindOf(error)).to.equal('terminal');
      expect(error).to.have.nested.property('cause.code', 'InvalidObject');
      expect(String(error)).to.include(
        'is invalid: status.phase: Unsupported value: "Ajar": supported values: "Open", "Closed"',
      );
    });
    expect(writes).to.equal(0);
    expect((await write('Open')).status).to.deep.equal({ phase: 'Open' });
  });

  const text = s.optional(s.string());
  const Pair = defineResource({
    ...{ group: 'status.example.com', kind: 'Shop' },
    versions: [
      {
        ...{ name: 'v1', schema: s.object({ spec: s.unknownObject() }) },
        status: s.object(
          { phase: text, url: text },
          { rules: ['!(has(self.phase) && has(self.url))'] },
        ),
      },
    ],
  });

  it('does not require a field that only the cached object still has, and that this write removes', async () => {
    const written = await patch(await scene.create(), { fields: { phase: 'Open' } });
    const { managedFields, ...metadata } = written.metadata;
    expect(managedFields).to.not.equal(undefined);
    const cached = { ...written, metadata };
    const next = await patch(cached, { fields: { url: 'a' } }, { type: Pair });
    expect(next.status).to.deep.equal({ url: 'a' });
  });

  it('leaves the check of a status to the server if another manager owns a field of it other than conditions', async () => {
    const object = await scene.create();
    const theirs = { fields: { url: 'a' }, conditions: [ready('True')] };
    await patch(object, theirs, { fieldManager: 'other' });
    const fields = { phase: 'Open' };
    const written = await patch(await scene.read(object), { fields }, { type: Pair });
    expect(written.status).to.include({ phase: 'Open', url: 'a' });
    const updated = await scene.create();
    const body = { status: { url: 'a' } };
    const options = { subresource: 'status', fieldManager: 'shop-operator' };
    await scene.client.patch(updated, keyOf(updated), { type: 'merge', body }, options);
    const again = await patch(await scene.read(updated), { fields }, { type: Pair });
    expect(again.status).to.deep.equal({ phase: 'Open', url: 'a' });
  });

  it('checks a status of which other managers own only conditions', async () => {
    const object = await scene.create();
    const theirs = { conditions: [{ ...ready('True'), type: 'Theirs' }] };
    await patch(object, theirs, { fieldManager: 'other' });
    const first = await patch(await scene.read(object), { fields: { phase: 'Open' } });
    const writes = await scene.writesDuring(async () => {
      const fields = { phase: 'Open', url: 'a' };
      const error = await thrownBy(() => patch(first, { fields }, { type: Pair }));
      expect(error).to.have.nested.property('cause.code', 'InvalidObject');
    });
    expect(writes).to.equal(0);
  });

  it('checks the conditions of all managers together', async () => {
    const status = s.object(
      { conditions: s.conditions() },
      { rules: ['self.conditions.size() < 3'] },
    );
    const type = defineResource({
      ...{ group: 'status.example.com', kind: 'Shop' },
      versions: [{ name: 'v1', schema: s.object({ spec: s.unknownObject() }), status }],
    });
    const object = await scene.create();
    const theirs = ['A', 'B'].map((each) => ({ ...ready('True'), type: each }));
    const first = await patch(object, { conditions: theirs }, { fieldManager: 'other' });
    const error = await thrownBy(() => patch(first, { conditions: [ready('True')] }, { type }));
    expect(error).to.have.nested.property('cause.code', 'InvalidObject');
    const taken = [{ ...ready('False'), type: 'A' }];
    const written = await patch(first, { conditions: taken }, { type });
    expect(written.status?.conditions?.map((each) => each.status).sort()).to.deep.equal([
      ...['False', 'True'],
    ]);
  });

  it('reads the object from the server once before it refuses a status', async () => {
    const object = await scene.create();
    const fields = { phase: 'Open', url: 'a' };
    const requests = await scene.requestsDuring(async () => {
      const error = await thrownBy(() => patch(object, { fields }, { type: Pair }));
      expect(error).to.have.nested.property('cause.code', 'InvalidObject');
    });
    expect(requests).to.deep.equal(['get']);
  });

  it('checks a status by the schema of the version that the object has', async () => {
    const versions = [
      ...[{ name: 'v1', storage: true, phase: s.optional(s.string({ enum: ['Open'] })) }],
      ...[{ name: 'v1beta1', phase: text }],
    ].map(({ phase, ...version }) => ({
      ...version,
      schema: s.object({ spec: s.unknownObject() }),
      status: s.object({ phase }),
    }));
    const type = defineResource({
      ...{ group: 'status.example.com', kind: 'Gear', versions, conversion: 'prune' },
    });
    await ensureCrd(scene.client, type.crd, { clock: scene.clock });
    const metadata = { name: 'gear', namespace: 'default' };
    const apiVersion = 'status.example.com/v1beta1';
    const gear = await scene.client.create<Shop>({
      ...{ apiVersion, kind: 'Gear' },
      metadata,
      spec: {},
    });
    for (const [round, each] of [type, versionOfResource<Shop>(type, 'v1')].entries()) {
      const phase = `opening ${round}`;
      const written = await patch(gear, { fields: { phase } }, { type: each });
      expect(written.status).to.deep.equal({ phase });
    }
  });

  it('refuses an unknown option, and a value that JSON cannot represent', async () => {
    const object = await scene.create();
    const misspelt = { keepOther: true } as Partial<PatchStatusOptions>;
    const unknown = await thrownBy(() => patch(object, {}, misspelt));
    expect(String(unknown)).to.include('patchStatus: unknown option "keepOther"');
    expect(String(unknown)).to.include('did you mean "keepOthers"?');
    const invalid = await thrownBy(() => patch(object, { fields: { phase: NaN } }));
    expect(invalid).to.have.property('code', 'InvalidValue');
    expect(String(invalid)).to.match(
      /status of Shop default\/one-\d+: phase has no JSON form, got NaN/,
    );
  });
});
