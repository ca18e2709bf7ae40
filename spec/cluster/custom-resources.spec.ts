import { expect } from 'chai';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import type { CustomResourceDefinition } from '../../lib/object/kinds.js';
import { silentLogger } from '../../lib/system/logger.js';
import type { Logger } from '../../lib/system/logger.js';
import { systemRandom } from '../../lib/system/random.js';
import { ParseableTenant } from '../../samples/parseable/tenant.js';
import recordedCel from '../crd/recorded/cel-verdicts.json' with { type: 'json' };
import recordedCosts from '../crd/recorded/cost-verdicts.json' with { type: 'json' };
import recordedFeatures from '../crd/recorded/feature-verdicts.json' with { type: 'json' };
import { keptByVersions, writtenByOtherVersion } from '../crd/suite/pruned-versions.js';
import { warningsOf } from '../crd/suite/warning-scene.js';
import recordedWarnings from '../crd/recorded/warnings.json' with { type: 'json' };
import { serverVerdicts } from '../crd/suite/cel-verdicts.js';
import { recordedCounts, serverCosts } from '../crd/suite/cost-verdicts.js';
import { featureVerdicts } from '../crd/suite/recordings.js';
import { sharedControlPlane } from './control-plane/shared.js';

describe('custom resources on a real API server', () => {
  let client: ConnectedClient;
  const warnings: string[] = [];
  const group = (): string => `g-${systemRandom.uuid().slice(0, 8)}.example.com`;

  before(async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    const warn = (message: string): void => {
      warnings.push(message);
    };
    const logger: Logger = { ...silentLogger, warn, child: () => logger };
    client = await clientFromKubeConfig({ path: kubeConfigPath, logger });
  });

  after(() => client.close());

  it('are accepted and refused by CEL rules as the recording says', async () => {
    expect(await serverVerdicts(client, group())).to.deep.equal(recordedCel);
  });

  it('are accepted and refused for schema features as the recording says', async () => {
    expect(await featureVerdicts(client, group())).to.deep.equal(recordedFeatures);
  });

  it('have the estimated costs of CEL rules that the recording says', async () => {
    const costs = await serverCosts(client, group(), recordedCounts(recordedCosts));
    expect(costs).to.deep.equal(recordedCosts);
  });

  it('cause the warnings that the recording says', async () => {
    const { kubeConfigPath: path } = await sharedControlPlane();
    const warned = await warningsOf((logger) => clientFromKubeConfig({ path, logger }), group());
    expect(warned).to.deep.equal(recordedWarnings);
  });

  it('lose fields that are not in the schema of the written version, as on the embedded server', async () => {
    expect(await writtenByOtherVersion(client, group())).to.deep.equal(keptByVersions);
  });

  it("store the Parseable sample's definition unchanged, without a warning", async () => {
    warnings.length = 0;
    const { crd } = ParseableTenant;
    const named = { ...crd, metadata: { name: `parseabletenants.${group()}` } };
    named.spec.group = named.metadata.name.replace('parseabletenants.', '');
    const stored = await client.create<CustomResourceDefinition>(named, { dryRun: true });
    expect(stored.spec.versions).to.deep.equal(crd.spec.versions);
    expect(warnings).to.deep.equal([]);
  });
});
