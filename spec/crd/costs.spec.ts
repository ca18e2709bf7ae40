import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { InvalidDefinitionError, defineResource, s } from '../../lib/crd/index.js';
import { costDefinitions, roomyExpressions } from './suite/cost-cases.js';
import { localCosts, recordedCounts, serverCosts } from './suite/cost-verdicts.js';
import type { CostVerdicts } from './suite/cost-verdicts.js';
import recorded from './recorded/cost-verdicts.json' with { type: 'json' };

const real: CostVerdicts = recorded;
const counts = recordedCounts(real);

describe('Estimated costs of CEL rules', () => {
  it('are recorded from a real API server for every case', () => {
    expect(Object.keys(real.definitions)).to.have.members(Object.keys(costDefinitions));
    expect(Object.keys(real.expressions)).to.have.members([...roomyExpressions]);
    expect(roomyExpressions.length).to.be.greaterThan(100);
  });

  it('equal those of the real API server exactly', async () => {
    const { expressions } = await localCosts(counts);
    expect(expressions).to.deep.equal(real.expressions);
  });

  it('are refused above the limit, with the messages of the real server', async () => {
    const { definitions } = await localCosts(counts);
    expect(definitions).to.deep.equal(real.definitions);
  });

  it('are the same on the embedded server, which refuses them above the limit', async () => {
    const cluster = await EmbeddedCluster.start();
    const verdicts = await serverCosts(cluster.client(), 'cost.example.com', counts);
    await cluster.stop();
    expect(verdicts).to.deep.equal(real);
  });

  it('are refused above the limit by defineResource, with field and remedy', () => {
    const names = s.array(s.string());
    const spec = s.object(
      { names },
      {
        rules: ['self.names.all(one, self.names.exists(other, one == other))'],
      },
    );
    const resource = defineResource({
      group: 'example.com',
      kind: 'Costly',
      versions: [{ name: 'v1', schema: s.object({ spec }) }],
    });
    expect(() => resource.crd)
      .to.throw(InvalidDefinitionError)
      .with.nested.property('problems[0]')
      .that.deep.equals({
        field: 'versions[0].schema.properties[spec].x-kubernetes-validations[0].rule',
        message:
          'Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      });
  });
});
