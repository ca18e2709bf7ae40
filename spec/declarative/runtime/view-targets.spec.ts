import { TargetWriter } from '../../../lib/declarative/runtime/target-writer.js';
import { expect } from 'chai';
import type { WriteContext } from '../../../lib/declarative/runtime/target-writer.js';
import { Views } from '../../../lib/declarative/views/views.js';
import { keyString } from '../../../lib/object/object-key.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

describe('Views as targets', () => {
  let views: Views;
  let type: ResourceType;
  let writer: TargetWriter;
  let context: WriteContext;

  before(async () => {
    views = await Views.start({ clock: new VirtualClock() });
    type = await views.ensure('shop', 'Health');
    writer = new TargetWriter({ type, how: 'Updater', fieldManager: 'shop/health' });
    context = { client: views.client, signal: new AbortController().signal };
  });
  after(() => views.stop());

  for (const key of [{ name: 'web' }, { namespace: 'nowhere', name: 'web-TCP-80' }]) {
    it(`are written and deleted unchanged as ${keyString(key)}`, async () => {
      const labels = { 'any/thing at all': 'a value, too' };
      const document = { metadata: { ...key, labels }, status: 'ok', list: [{ a: 1 }], n: 1 };
      expect(await writer.write(key, document, context)).to.equal('created');
      const written = await views.client.get(type, key);
      expect(written).to.deep.include({ status: 'ok', list: [{ a: 1 }], n: 1 });
      expect(written.metadata.labels).to.deep.equal(labels);
      expect(await writer.write(key, document, context)).to.equal('unchanged');
      const next = { metadata: key, status: { of: 'a map' } };
      expect(await writer.write(key, next, context)).to.equal('configured');
      const replaced = await views.client.get(type, key);
      expect(replaced['status']).to.deep.equal({ of: 'a map' });
      expect(replaced).not.to.have.any.keys('list', 'n');
      expect((await writer.written(context)).map(keyString)).to.deep.equal([keyString(key)]);
      expect(await writer.write(key, undefined, context)).to.equal('deleted');
      expect(await writer.written(context)).to.deep.equal([]);
    });
  }

  it('are different objects in different namespaces', async () => {
    const keys = [
      { name: 'one' },
      { namespace: 'x', name: 'one' },
      { namespace: 'y', name: 'one' },
    ];
    for (const key of keys) await writer.write(key, { metadata: key }, context);
    const written = (await writer.written(context)).map(keyString).sort();
    expect(written).to.deep.equal(['one', 'x/one', 'y/one']);
    for (const key of keys) await writer.write(key, undefined, context);
    expect(await writer.written(context)).to.deep.equal([]);
  });

  it('are patched without a change of other fields', async () => {
    const key = { name: 'patched' };
    const options = { type, fieldManager: 'shop/patch' } as const;
    const patcher = new TargetWriter({ ...options, how: 'Patcher' });
    await writer.write(key, { metadata: key, a: 1 }, context);
    await patcher.write(key, { metadata: key, b: 2 }, context);
    expect(await writer.write(key, { metadata: key, a: 2 }, context)).to.equal('configured');
    expect(await views.client.get(type, key)).to.deep.include({ a: 2, b: 2 });
    await patcher.write(key, undefined, context);
    expect(await views.client.get(type, key)).not.to.have.any.keys('b');
  });
});
