import { expect } from 'chai';
import type { NodeSpec, ParseableTenant } from '../../../samples/parseable/tenant.js';
import { tenantProblems } from '../../../samples/parseable/tenant-problems.js';

const node: NodeSpec = {
  name: 'one',
  type: 'server',
  kind: 'Deployment',
  replicas: 1,
  k8sConfig: 'small',
  parseableConfig: 'local',
};

function tenantWith(...nodes: Partial<NodeSpec>[]): ParseableTenant {
  return {
    apiVersion: 'parseable.io/v1beta1',
    kind: 'ParseableTenant',
    metadata: { name: 'logs', namespace: 'default' },
    spec: {
      deploymentOrder: ['server'],
      nodes: nodes.map((changes) => ({ ...node, ...changes })),
      k8sConfig: [{ name: 'small', image: 'parseable/parseable:v1.5.0' }],
      parseableConfig: [{ name: 'local' }],
    },
  };
}

describe('tenantProblems', () => {
  it('finds nothing wrong with a good tenant, in each spelling of the kinds', () => {
    const kinds = ['Deployment', 'Statefulset', 'StatefulSet'];
    const tenant = tenantWith(...kinds.map((kind) => ({ name: kind, kind })));
    expect(tenantProblems(tenant)).to.deep.equal([]);
  });

  const cases: [string, Partial<NodeSpec>, RegExp][] = [
    ['k8sConfig', { k8sConfig: 'big' }, /big is not in spec.k8sConfig: it has small/],
    ['parseableConfig', { parseableConfig: 's3' }, /s3 is not in spec.parseableConfig/],
    ['type', { type: 'ingest' }, /ingest is not in spec.deploymentOrder: it has server/],
    ['kind', { kind: 'DaemonSet' }, /DaemonSet is no kind of node/],
  ];
  for (const [field, change, message] of cases) {
    it(`names the path of a wrong ${field} and what is allowed`, () => {
      const problems = tenantProblems(tenantWith({}, { name: 'two', ...change }));
      expect(problems).to.have.length(1);
      expect(problems[0]?.path).to.equal(`spec.nodes[1].${field}`);
      expect(problems[0]?.message).to.match(message);
    });
  }

  it('refuses two nodes of one name', () => {
    expect(tenantProblems(tenantWith({}, {}))).to.deep.equal([
      { path: 'spec.nodes[1].name', message: 'one is the name of spec.nodes[0] already' },
    ]);
  });
});
