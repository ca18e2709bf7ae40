import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { Manager } from '../../lib/manager/index.js';
import { operatorWebhooks } from '../../lib/manager/operator-webhooks.js';
import {
  allowed,
  conversionWebhook,
  mutatingWebhook,
  validatingWebhook,
} from '../../lib/manager/webhooks/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { rememberingLogger } from './manager-setup.js';
import type { LogLine } from './manager-setup.js';

const Shop = defineResource({
  ...{ group: 'shops.example', kind: 'Shop' },
  versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }) }],
});
const webhooks = [
  mutatingWebhook(ConfigMap, () => allowed()),
  validatingWebhook(ConfigMap, () => allowed()),
  conversionWebhook(Shop),
];

describe('operatorWebhooks', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start();
  });
  after(() => cluster.stop());

  it('generates its own certificates, and declares the access to store and trust them', () => {
    const client = cluster.client();
    const operator = { name: 'shops', webhooks };
    const served = operatorWebhooks(operator, { client, namespace: 'system', port: 0 });
    expect(served).to.deep.include({ webhooks, port: 0 });
    const access = new Manager({ client, webhooks: served }).requiredAccess();
    expect(
      access.map(({ type, names = [], verbs, namespace = '' }) =>
        [type?.kind, names.join(), verbs.join(), namespace].join(' '),
      ),
    ).to.deep.equal([
      'Secret shops-webhook-certificates get,update system',
      'Secret  create system',
      'ValidatingWebhookConfiguration shops-validating-webhook-configuration get,patch ',
      'MutatingWebhookConfiguration shops-mutating-webhook-configuration get,patch ',
      'CustomResourceDefinition shops.shops.example get,patch ',
    ]);
  });

  it('needs no access to the API server if the certificates come from files', () => {
    const client = cluster.client();
    const options = { client, namespace: 'system', certificateFolder: '/certs' };
    const served = operatorWebhooks({ name: 'shops', webhooks }, options);
    expect(new Manager({ client, webhooks: served }).requiredAccess()).to.deep.equal([]);
  });

  it('returns undefined if there are no webhooks, or no namespace for certificates, and warns about the latter', () => {
    const client = cluster.client();
    const lines: LogLine[] = [];
    const logger = rememberingLogger(lines);
    expect(operatorWebhooks({ name: 'shops' }, { client, logger })).to.equal(undefined);
    expect(lines).to.deep.equal([]);
    for (const namespace of [undefined, '']) {
      const operator = { name: 'shops', webhooks: webhooks.slice(0, 1) };
      expect(operatorWebhooks(operator, { client, logger, namespace })).to.equal(undefined);
    }
    expect(lines.map(({ message }) => message)).to.deep.equal(
      Array(2).fill(
        'webhooks are not served: give the namespace of the operator, or a folder with a certificate',
      ),
    );
  });
});
