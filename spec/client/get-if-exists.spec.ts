import { expect } from 'chai';
import { getIfExists } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/index.js';
import { configMapNamed } from './embedded-client.js';
import { failureOf, refusal, scripted } from './scripted-transport.js';

const key = { name: 'web', namespace: 'default' };

describe('getIfExists', () => {
  it('reads an object like get, with its options', async () => {
    const { client, transport } = scripted(() => ({ json: configMapNamed('web') }));
    const found = await getIfExists(client, ConfigMap, key, { subresource: 'status' });
    expect(found?.metadata.name).to.equal('web');
    const path = '/api/v1/namespaces/default/configmaps/web/status';
    expect(transport.calls).to.deep.equal([`GET ${path}`]);
  });

  it('returns undefined for a missing object', async () => {
    const { client } = scripted(() => refusal(404, 'NotFound'));
    expect(await getIfExists(client, ConfigMap, key)).to.equal(undefined);
  });

  it('throws every error other than NotFound', async () => {
    const { client } = scripted(() => refusal(403, 'Forbidden'));
    const error = await failureOf(getIfExists(client, ConfigMap, key));
    expect(error).to.have.property('status', 403);
  });
});
