import { expect } from 'chai';
import type { Client } from '../../lib/client/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { ApiError } from '../../lib/object/api-error.js';
import { unconvertedCrds, unservedConversions } from '../../lib/operator/unconverted-crds.js';
import { errorMessage } from '../../lib/system/as-error.js';

const versions = ['v1', 'v2'].map((name) => ({
  ...{ name, storage: name === 'v1', schema: s.object({ spec: s.object({}) }) },
}));
const same = (object: object): never => object as never;
const conversion = { hub: 'v1', spokes: { v2: { toHub: same, fromHub: same } } };
const Kiosk = defineResource({
  ...{ group: 'front.example', kind: 'Kiosk', versions, conversion },
});
const Plain = defineResource({ group: 'front.example', kind: 'Plain', versions });

describe('A resource whose versions are converted by functions', () => {
  const operator = { name: 'a', resources: [Kiosk, Plain] } as never;
  const { signal } = new AbortController();
  const clientThat = (answer: () => Promise<unknown>): Client =>
    ({ get: answer }) as unknown as Client;
  const refused = (code: number, reason: string) => () =>
    Promise.reject(
      new ApiError(
        { code, reason },
        { verb: 'get', kind: 'CustomResourceDefinition', status: code },
      ),
    );

  it('needs a conversion webhook', () => {
    const webhook = (name: string, type = 'conversion') => ({ name, type });
    const withWebhooks = (...webhooks: readonly object[]) =>
      unservedConversions({ name: 'a', resources: [Kiosk, Plain], webhooks } as never);
    expect(unservedConversions({ name: 'a' } as never)).to.deep.equal([]);
    expect(unservedConversions(operator)).to.deep.equal([Kiosk]);
    expect(withWebhooks(webhook('plains.front.example'))).to.deep.equal([Kiosk]);
    expect(withWebhooks(webhook('kiosks.front.example', 'validating'))).to.deep.equal([Kiosk]);
    expect(withWebhooks(webhook('kiosks.front.example'))).to.deep.equal([]);
  });

  for (const [what, answer, names] of [
    ['calls no webhook', async () => ({ spec: {} }), ['kiosks.front.example']],
    [
      'has the strategy None',
      async () => ({ spec: { conversion: { strategy: 'None' } } }),
      ['kiosks.front.example'],
    ],
    ['calls its webhook', async () => ({ spec: { conversion: { strategy: 'Webhook' } } }), []],
    ['is not installed', refused(404, 'NotFound'), []],
    ['may not be read', refused(403, 'Forbidden'), []],
  ] as const) {
    it(`${names.length > 0 ? 'is' : 'is not'} reported if its CRD ${what}`, async () => {
      expect(await unconvertedCrds(clientThat(answer), operator, signal)).to.deep.equal(names);
    });
  }

  it('causes an error if its CRD cannot be read for another reason', async () => {
    const failing = clientThat(refused(500, 'InternalError'));
    const end = await unconvertedCrds(failing, operator, signal).catch(errorMessage);
    expect(end).to.match(/^get CustomResourceDefinition: 500/);
  });
});
