import { expect } from 'chai';
import { withFieldManager } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { scripted } from './scripted-transport.js';

const key = { namespace: 'shop', name: 'web' };
const configMap: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
const patch = { type: 'merge', body: {} } as const;

describe('withFieldManager', () => {
  const writes: readonly (readonly [
    string,
    (client: Client, name?: string) => Promise<unknown>,
  ])[] = [
    ['create', (c, fieldManager) => c.create(configMap, { fieldManager })],
    ['update', (c, fieldManager) => c.update(configMap, { fieldManager })],
    ['patch', (c, fieldManager) => c.patch(ConfigMap, key, patch, { fieldManager })],
    ['apply', (c, fieldManager) => c.apply(configMap, { fieldManager })],
  ];
  for (const [verb, write] of writes) {
    it(`sets the field manager of ${verb}, unless the call sets one`, async () => {
      const { client, transport } = scripted(() => ({ json: configMap }));
      const managed = withFieldManager(client, 'mine');
      await write(managed);
      await write(managed, 'other');
      const managers = transport.requests.map(({ path }) => /fieldManager=(\w+)/.exec(path)?.[1]);
      expect(managers).to.deep.equal(['mine', 'other']);
    });
  }

  for (const name of ['', 'x'.repeat(129)]) {
    it(`rejects a name of ${name.length} characters`, () => {
      const { client } = scripted(() => ({ json: {} }));
      const construct = () => withFieldManager(client, name);
      expect(construct).to.throw('fieldManager').with.property('code', 'InvalidOption');
    });
  }
});
