import { expect } from 'chai';
import { dryRun } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { configMapNamed, embeddedClient } from './embedded-client.js';

describe('dryRun', () => {
  it('returns the result of every write, but stores nothing', async () => {
    const { client, server } = embeddedClient();
    const kept = await client.create(configMapNamed('kept', { a: '1' }));
    const before = server.resourceVersion;
    const dry = dryRun(client);
    const key = { namespace: 'default', name: 'kept' };
    const body = { data: { a: '2' } };

    expect((await dry.create(configMapNamed('new'))).metadata.uid).to.be.a('string');
    expect((await dry.update({ ...kept, ...body })).data).to.deep.equal({ a: '2' });
    expect((await dry.patch(ConfigMap, key, { type: 'merge', body })).data).to.deep.equal({
      a: '2',
    });
    const applied = await dry.apply(configMapNamed('other'), { fieldManager: 'me', dryRun: false });
    expect(applied.created).to.equal(true);
    await dry.delete(ConfigMap, key);
    await dry.deleteCollection(ConfigMap, { namespace: 'default' });

    expect(server.resourceVersion).to.equal(before);
    expect(await dry.get(ConfigMap, key)).to.deep.equal(kept);
  });
});
