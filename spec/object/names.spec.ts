import { expect } from 'chai';
import {
  dns1035LabelProblem,
  dns1123LabelProblem,
  dns1123SubdomainProblem,
  labelValueProblem,
  labelsProblem,
  pathSegmentProblem,
  qualifiedNameProblem,
} from '../../lib/object/names.js';

const long = (length: number): string => 'a'.repeat(length);

const rules = [
  {
    name: 'a DNS-1123 label',
    problem: dns1123LabelProblem,
    good: ['a', '1', 'a-b', '0-9', long(63)],
    bad: ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a\n', long(64)],
  },
  {
    name: 'a DNS-1123 subdomain',
    problem: dns1123SubdomainProblem,
    good: ['a', 'a.b', '1.2-3.c', long(253)],
    bad: ['', '.', 'a.', '.a', 'a..b', 'a.-b', 'a-.b', 'A.b', 'a/b', long(254)],
  },
  {
    name: 'a DNS-1035 label',
    problem: dns1035LabelProblem,
    good: ['a', 'a1', 'a-1', long(63)],
    bad: ['', '1a', '-a', 'a-', 'A', 'a.b', long(64)],
  },
  {
    name: 'a qualified name',
    problem: qualifiedNameProblem,
    good: ['a', 'A_b.c-D', '1', 'example.com/a', `${long(253)}/${long(63)}`],
    bad: ['', '/', 'a/', '/a', 'a/b/c', 'Example.com/a', '-a', 'a-', 'a b', 'ä', long(64)],
  },
  {
    name: 'a label value',
    problem: labelValueProblem,
    good: ['', 'a', 'A_b.c-D', '1.0', long(63)],
    bad: ['-', 'a-', '.a', 'a/b', 'a b', 'ä', 'a\n', long(64)],
  },
  {
    name: 'a path segment',
    problem: pathSegmentProblem,
    good: ['a', 'system:node', 'A b', '...', '-'],
    bad: ['', '.', '..', 'a/b', '50%'],
  },
];

for (const { name, problem, good, bad } of rules) {
  describe(name, () => {
    it('is valid in every form that Kubernetes allows', () => {
      expect(good.map(problem)).to.deep.equal(good.map(() => undefined));
    });
    it('is invalid in every other form, with a reason', () => {
      for (const text of bad) expect(problem(text), JSON.stringify(text)).to.be.a('string');
    });
  });
}

describe('labelsProblem', () => {
  it('names the first invalid key or value', () => {
    expect(labelsProblem({ app: 'web', 'example.com/tier': '' })).to.equal(undefined);
    expect(labelsProblem({ 'a b': '' })).to.contain('label key "a b"');
    expect(labelsProblem({ app: '-' })).to.contain('label app');
  });
});
