import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { Namespace } from '../../../lib/object/kinds.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import {
  configMapResource,
  newResourceContext,
  processUpdate,
} from '../../../lib/resource/index.js';

describe("the field manager of a resource's objects", () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start();
  });

  after(() => cluster.stop());

  /** Keeps a ConfigMap in a new namespace. @returns the owner of its data */
  async function managerOf(
    own: string | undefined,
    ofContext: string | undefined,
  ): Promise<string> {
    const client = cluster.client();
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: 'ns-' } };
    const owner = await client.create<Namespace>(namespace as Namespace);
    const { name = '' } = owner.metadata;
    const resource = configMapResource({
      name: 'settings',
      fieldManager: own,
      getDesiredState: () => [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'a', namespace: name },
          data: { a: '1' },
        },
      ],
    });
    await processUpdate(newResourceContext({ client, fieldManager: ofContext }), owner, [resource]);
    const { metadata } = await client.get(ConfigMap, { namespace: name, name: 'a' });
    return metadata.managedFields?.map(({ manager = '' }) => manager).join() ?? '';
  }

  it("is the resource's option, else that of the ResourceContext, else the resource's name", async () => {
    expect(await managerOf('mine', 'shops')).to.equal('mine');
    expect(await managerOf(undefined, 'shops')).to.equal('shops');
    expect(await managerOf(undefined, undefined)).to.equal('settings');
  });
});
