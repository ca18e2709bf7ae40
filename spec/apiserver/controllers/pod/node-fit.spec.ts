import { expect } from 'chai';
import { podFitsNode } from '../../../../lib/apiserver/controllers/scheduler.js';
import type { Node } from '../../../../lib/object/kinds.js';
import { pod } from '../workload-objects.js';

const labels = { zone: 'a', cores: '8' };

function node(spec: object = {}): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-0', labels }, spec };
}

function required(...nodeSelectorTerms: object[]): object {
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } };
}

const inZone = (...values: string[]) => ({
  matchExpressions: [{ key: 'zone', operator: 'In', values }],
});
const tainted = node({ taints: [{ key: 'role', value: 'db', effect: 'NoSchedule' }] });

describe('podFitsNode', () => {
  const cases: readonly [what: string, spec: object, on: Node, fits: boolean][] = [
    ['no requirements', {}, node(), true],
    ['a matching node selector', { nodeSelector: { zone: 'a' } }, node(), true],
    ['another node selector', { nodeSelector: { zone: 'b' } }, node(), false],
    ['one matching term', required(inZone('b'), inZone('a', 'c')), node(), true],
    ['no matching term', required(inZone('b')), node(), false],
    ['an empty term', required({}), node(), false],
    [
      'a numeric comparison',
      required({ matchExpressions: [{ key: 'cores', operator: 'Gt', values: ['4'] }] }),
      node(),
      true,
    ],
    [
      'the name of the node',
      required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-0'] }] }),
      node(),
      true,
    ],
    [
      'another name',
      required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['x'] }] }),
      node(),
      false,
    ],
    ['a taint', {}, tainted, false],
    ['a tolerated taint', { tolerations: [{ key: 'role', value: 'db' }] }, tainted, true],
    ['a taint of another value', { tolerations: [{ key: 'role', value: 'x' }] }, tainted, false],
    [
      'a taint of another effect',
      { tolerations: [{ key: 'role', value: 'db', effect: 'NoExecute' }] },
      tainted,
      false,
    ],
    ['a toleration of all taints', { tolerations: [{ operator: 'Exists' }] }, tainted, true],
    ['a soft taint', {}, node({ taints: [{ key: 'x', effect: 'PreferNoSchedule' }] }), true],
    ['a cordoned node', {}, node({ unschedulable: true }), false],
  ];
  for (const [what, spec, on, fits] of cases) {
    it(`returns ${fits} for ${what}`, () => {
      expect(podFitsNode(pod('p', spec), on)).to.equal(fits);
    });
  }
});
