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
  it("accepts a valid tenant, with each accepted spelling of a node's kind", () => {
    const kinds = ['Deployment', 'Statefulset', 'StatefulSet'];
    const tenant = tenantWith(...kinds.map((kind, n) => ({ name: `node-${n}`, kind })));
    expect(tenantProblems(tenant)).to.deep.equal([]);
  });

  const cases: [string, Partial<NodeSpec>, RegExp][] = [
    ['k8sConfig', { k8sConfig: 'big' }, /big is not in spec.k8sConfig: it has small/],
    ['parseableConfig', { parseableConfig: 's3' }, /s3 is not in spec.parseableConfig/],
    ['type', { type: 'ingest' }, /ingest is not in spec.deploymentOrder: it has server/],
    ['kind', { kind: 'DaemonSet' }, /DaemonSet is not a kind of node/],
  ];
  for (const [field, change, message] of cases) {
    it(`names the path of an invalid ${field}, and the allowed values`, () => {
      const problems = tenantProblems(tenantWith({}, { name: 'two', ...change }));
      expect(problems).to.have.length(1);
      expect(problems[0]?.path).to.equal(`spec.nodes[1].${field}`);
      expect(problems[0]?.message).to.match(message);
    });
  }

  it('rejects nodes whose objects would have the same name', () => {
    const nodes = [
      { name: 'a', parseableConfig: 'b-c' },
      { name: 'a-b', parseableConfig: 'c' },
    ];
    const tenant = tenantWith(...nodes);
    const parseableConfig = nodes.map(({ parseableConfig: name }) => ({ name }));
    const problems = tenantProblems({ ...tenant, spec: { ...tenant.spec, parseableConfig } });
    expect(problems).to.deep.equal([
      {
        path: 'spec.nodes[1]',
        message: 'its ConfigMap a-b-c has the name of that of spec.nodes[0]',
      },
    ]);
  });

  it('rejects names that Kubernetes does not accept', () => {
    const problems = tenantProblems(tenantWith({ name: 'Upper_Case' }));
    expect(problems[0]?.path).to.equal('spec.nodes[0].name');
    expect(problems.map(({ message }) => message).join()).to.include('Service Upper_Case-small');
  });

  for (const kind of ['constructor', '__proto__', 'toString']) {
    it(`rejects ${kind} as the kind of a node`, () => {
      expect(tenantProblems(tenantWith({ kind }))).to.have.length(1);
    });
  }

  it('rejects two nodes of the same name', () => {
    expect(tenantProblems(tenantWith({}, {}))).to.deep.equal([
      { path: 'spec.nodes[1].name', message: 'one is the name of spec.nodes[0] already' },
    ]);
  });
});
