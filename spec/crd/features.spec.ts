import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { Client } from '../../lib/client/index.js';
import { featureResource, features } from './suite/features.js';
import { localVerdict, serverVerdict } from './suite/feature-verdicts.js';
import type { CaseVerdict } from './suite/feature-verdicts.js';
import recorded from './recorded/feature-verdicts.json' with { type: 'json' };

const real: Readonly<Record<string, readonly CaseVerdict[] | undefined>> = recorded;

describe('Errors of schema features, as recorded from a real API server', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  before(async () => {
    const crds = features.map((feature) => featureResource(feature, 'features.example.com'));
    cluster = await EmbeddedCluster.start({ crds });
    client = cluster.client();
  });

  after(() => cluster.stop());

  for (const feature of features) {
    const resource = featureResource(feature, 'features.example.com');

    it(`are the same in the method validate of a kind: ${feature.title}`, () => {
      const verdicts = feature.cases.map((one) => localVerdict(resource, one));
      expect(verdicts).to.deep.equal(real[feature.title]);
    });

    it(`are the same on the embedded server: ${feature.title}`, async () => {
      const verdicts: CaseVerdict[] = [];
      for (const one of feature.cases) verdicts.push(await serverVerdict(client, resource, one));
      expect(verdicts).to.deep.equal(real[feature.title]);
    });
  }
});
