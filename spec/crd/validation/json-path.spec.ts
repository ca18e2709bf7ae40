import { expect } from 'chai';
import { compileJsonPath, readJsonPath } from '../../../lib/crd/validation/json-path.js';

const object = {
  spec: { replicas: 2, 'dotted.key': 'x', ports: [{ port: 80 }, { port: 443 }] },
  status: {
    conditions: [
      { type: 'Available', status: 'True' },
      { type: 'Degraded', status: 'False' },
    ],
  },
};

describe('compileJsonPath', () => {
  const cases: [string, unknown[]][] = [
    ['.spec.replicas', [2]],
    ['{.spec.replicas}', [2]],
    ['$.spec.replicas', [2]],
    ['.spec.missing', []],
    ["['spec']['dotted.key']", ['x']],
    ['.spec.dotted\\.key', ['x']],
    ['.spec.ports[1].port', [443]],
    ['.spec.ports[-1].port', [443]],
    ['.spec.ports[*].port', [80, 443]],
    ['.spec.ports[-1:].port', [443]],
    ['.spec.ports[:1].port', [80]],
    ['.spec.ports[0:2:2].port', [80]],
    ['.spec.ports[0:3].port', []],
    ['.spec.ports[-3:].port', []],
    ['.spec.ports[1:1].port', []],
    ['.spec.replicas[0:1]', []],
    ['.status.conditions[?(@.type!="Degraded")].status', []],
    ['.', [object]],
    ['.status.conditions[?(@.type=="Degraded")].status', ['False']],
    [".status.conditions[?(@.type=='Available')].status", ['True']],
    ['.status.conditions[?(@.type=="Missing")].status', []],
  ];
  for (const [path, values] of cases) {
    it(`reads the values at ${path}`, () => {
      expect(readJsonPath(object, compileJsonPath(path))).to.deep.equal(values);
    });
  }
});
