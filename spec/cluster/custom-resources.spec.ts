import { expect } from 'chai';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { CustomResourceDefinition } from '../../lib/object/kinds.js';
import { systemRandom } from '../../lib/system/random.js';
import { ParseableTenant } from '../../samples/parseable/tenant.js';
import recordedCel from '../crd/recorded/cel-verdicts.json' with { type: 'json' };
import recordedFeatures from '../crd/recorded/feature-verdicts.json' with { type: 'json' };
import { serverVerdicts } from '../crd/suite/cel-verdicts.js';
import { featureVerdicts } from '../crd/suite/recordings.js';
import { sharedControlPlane } from './control-plane/shared.js';

describe('Custom resources on a real API server', () => {
  let client: ConnectedClient;
  const warnings: string[] = [];
  const group = (): string => `g-${systemRandom.uuid().slice(0, 8)}.example.com`;

  before(async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    client = await clientFromKubeConfig({
      path: kubeConfigPath,
      onWarning: (warning) => warnings.push(warning),
    });
  });

  after(() => client.close());

  it('judges CEL expressions as it was recorded', async () => {
    expect(await serverVerdicts(client, group())).to.deep.equal(recordedCel);
  });

  it('judges features of schemas as it was recorded', async () => {
    expect(await featureVerdicts(client, group())).to.deep.equal(recordedFeatures);
  });

  it("stores the Parseable sample's definition unchanged, without a warning", async () => {
    warnings.length = 0;
    const { crd } = ParseableTenant;
    const dryRun = await client.apply(crd, { dryRun: true, fieldManager: 'spec', force: true });
    expect(dryRun.spec.versions).to.deep.equal(crd.spec.versions);
    expect(warnings).to.deep.equal([]);
    expect(CustomResourceDefinition.kind).to.equal(dryRun.kind);
  });
});
