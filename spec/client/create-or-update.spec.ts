import { expect } from 'chai';
import { createOrPatch, createOrUpdate } from '../../lib/client/index.js';
import type { ConfigMap } from '../../lib/object/kinds.js';
import { configMapNamed, embeddedClient } from './embedded-client.js';
import { failureOf, refusal, scripted } from './scripted-transport.js';

const wanted = configMapNamed('web');

/** Changes its argument in place. */
const inPlace = (object: ConfigMap): ConfigMap => {
  object.data = { ...object.data, mine: '1' };
  return object;
};

for (const createOr of [createOrUpdate, createOrPatch]) {
  describe(createOr.name, () => {
    it('passes a copy of the live object to mutate, which is allowed to change the copy', async () => {
      const { client } = embeddedClient();
      await client.create(configMapNamed('web', { other: '1' }));
      const frozen = Object.freeze(configMapNamed('web'));
      const { operation, object } = await createOr(client, frozen, { mutate: inPlace });
      expect(operation).to.equal('updated');
      expect(object.data).to.deep.equal({ other: '1', mine: '1' });
    });

    it('rejects when mutate returns an object with another name', async () => {
      const { client, server } = embeddedClient();
      const mutate = () => configMapNamed('other');
      const error = await failureOf(createOr(client, wanted, { mutate }));
      expect(error).to.have.property('code', 'InvalidObject');
      expect(error.message).to.contain('default/web').and.to.contain('default/other');
      expect(error.message).to.contain(
        'mutate must not change the kind, the namespace or the name',
      );
      expect(server.requests.count(({ verb }) => verb === 'create')).to.equal(0);
    });

    it('rejects with the error of the read, and creates nothing', async () => {
      const { client, transport } = scripted(() => refusal(403, 'Forbidden'));
      const error = await failureOf(createOr(client, wanted, { mutate: inPlace }));
      expect(error).to.have.property('status', 403);
      expect(transport.calls).to.have.length(1);
    });

    it('sends its options fieldManager and dryRun with the write', async () => {
      const { client } = scripted(({ path }, nth) => {
        if (nth === 1) return { json: wanted };
        expect(path).to.contain('fieldManager=me').and.to.contain('dryRun=All');
        return { json: wanted };
      });
      const options = { mutate: inPlace, fieldManager: 'me', dryRun: true };
      expect(await createOr(client, wanted, options)).to.have.property('operation', 'updated');
    });
  });
}

describe('createOrPatch', () => {
  it('sends only the changed fields, with the resource version of the object that it read', async () => {
    const live = {
      ...configMapNamed('web', { other: '1' }),
      metadata: { ...wanted.metadata, resourceVersion: '7' },
    };
    const { client, transport } = scripted(() => ({ json: live }));
    await createOrPatch(client, wanted, { mutate: inPlace });
    expect(JSON.parse(transport.requests[1]?.body as string)).to.deep.equal({
      data: { mine: '1' },
      metadata: { resourceVersion: '7' },
    });
  });
});
