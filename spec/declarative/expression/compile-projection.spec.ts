import { expect } from 'chai';
import { compileProjection } from '../../../lib/declarative/expression/compile-expression.js';
import {
  compileContext,
  formatSpecPath,
  type SpecProblem,
} from '../../../lib/declarative/spec-problem.js';
import { deepFreeze } from '../../../lib/object/deep-freeze.js';

const document = deepFreeze({
  metadata: { name: 'a', namespace: 'web', labels: { app: 'x' } },
  spec: { ports: [{ port: 80 }] },
});

describe('compileProjection', () => {
  it('builds a new document from a map', () => {
    expect(project({ metadata: { name: '$.metadata.name' }, port: '$..port' })).to.deep.equal({
      metadata: { name: 'a' },
      port: 80,
    });
  });

  it('merges the maps of a list deeply, later ones over earlier ones, and appends lists', () => {
    const built = project([
      { '$.': '$.' },
      { metadata: { name: { '@concat': ['$.metadata.name', '-b'] } } },
      { '$.metadata.labels.tier': 'front', spec: { ports: [{ port: 443 }] } },
    ]);
    expect(built).to.deep.equal({
      metadata: { name: 'a-b', namespace: 'web', labels: { app: 'x', tier: 'front' } },
      spec: { ports: [{ port: 80 }, { port: 443 }] },
    });
  });

  it('evaluates each map of a list on the input document', () => {
    const built = project([{ metadata: { name: 'new' } }, { was: '$.metadata.name' }]);
    expect(built).to.deep.equal({ metadata: { name: 'new' }, was: 'a' });
  });

  it('supports @merge of earlier versions of dcontroller, which merges a list of maps, or one map into the document', () => {
    const list = project({ '@merge': [{ metadata: { name: 'b' } }, { was: '$.metadata.name' }] });
    expect(list).to.deep.equal({ metadata: { name: 'b' }, was: 'a' });
    expect(project({ '@merge': { metadata: { name: 'b' } } })).to.deep.equal({
      ...document,
      metadata: { ...document.metadata, name: 'b' },
    });
  });

  it('accepts any expression that evaluates to a map', () => {
    expect(project('$.metadata.labels')).to.deep.equal({ app: 'x' });
    expect(project(['$.metadata.labels', { '@dict': { b: 1 } }])).to.deep.equal({ app: 'x', b: 1 });
  });

  it('fails on a document for which the expression is not a map', () => {
    expect(() => project('$.spec.ports')).to.throw('@project: want a map, got [{"port":80}]');
    expect(() => project([{ a: 1 }, '$.missing'])).to.throw('@project: want a map, got null');
  });

  it('refuses expressions that cannot evaluate to a map when it compiles them', () => {
    const problems: SpecProblem[] = [];
    for (const source of [1, [], [{ a: 1 }, 'x'], { '@len': '$.a' }, [{ a: { '@eqq': 1 } }]]) {
      compileProjection(source, compileContext(problems, ['@project']));
    }
    expect(
      problems.map((problem) => `${formatSpecPath(problem.path)}: ${problem.message}`),
    ).to.deep.equal([
      '["@project"]: @project: want a map, or a list of maps, got a number',
      '["@project"]: @project: want a map, or a list of maps',
      '["@project"][1]: @project: want a map, or a list of maps, got a string',
      '["@project"]: @project: want a map, or a list of maps, got a number',
      '["@project"][0].a["@eqq"]: there is no operator @eqq',
    ]);
  });

  it('treats __proto__ as an ordinary key when it merges maps', () => {
    const source = JSON.parse('[{"__proto__": {"a": 1}}, {"__proto__": {"b": 2}}]') as unknown;
    expect(JSON.stringify(project(source))).to.equal('{"__proto__":{"a":1,"b":2}}');
    const later = JSON.parse('[{"a": 1}, {"__proto__": {"b": 2}}]') as unknown;
    expect(JSON.stringify(project(later))).to.equal('{"a":1,"__proto__":{"b":2}}');
  });
});

function project(source: unknown): unknown {
  const problems: SpecProblem[] = [];
  const projection = compileProjection(source, compileContext(problems));
  expect(problems).to.deep.equal([]);
  return projection(document);
}
