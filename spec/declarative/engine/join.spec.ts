import { expect } from 'chai';
import type { Document } from '../../../lib/declarative/document.js';
import { JoinTable } from '../../../lib/declarative/engine/join-node.js';
import { FailureLog } from '../../../lib/declarative/engine/linear-node.js';
import { added, object, pipelineOf, planOf, removed, runner, updated } from './pipelines.js';

const named = (...names: readonly string[]) => ({
  '@project': {
    metadata: { name: { '@concat': names }, namespace: 'ns' },
    all: '$.',
  },
});

const deployments = ['dep1', 'dep2'].map((name, number) =>
  object(`default/${name}`, { spec: { replicas: 3 - 2 * number } }),
);
const [dep1 = {}, dep2 = {}] = deployments;
const replicaSets = ['1', '2'].map((number) =>
  object(`default/rs${number}`, {
    spec: { dep: `dep${number}` },
    status: { ready: Number(number) },
  }),
);
const [pod1, pod2, pod3] = [
  object('default/pod1', { spec: { parent: 'dep1' } }),
  object('other/pod2', { spec: { parent: 'dep1' } }),
  object('default/pod3', { spec: { parent: 'dep2' } }),
];

describe('@join', () => {
  it('joins objects with the object that they name as their parent', () => {
    const run = runner(
      [
        { '@join': { '@eq': ['$.Dep.metadata.name', '$.Pod.spec.parent'] } },
        {
          '@project': {
            metadata: {
              name: { '@concat': ['$.Dep.metadata.name', '--', '$.Pod.metadata.name'] },
              namespace: '$.Pod.metadata.namespace',
            },
          },
        },
      ],
      ['Pod', 'Dep'],
    );
    expect(run.push(added(pod1, pod2, pod3))).to.deep.equal([]);
    expect(run.push(added(dep1), 'Dep')).to.deep.equal([
      'upsert default/dep1--pod1',
      'upsert other/dep1--pod2',
    ]);
    expect(
      run.push(updated(pod1, object('default/pod1', { spec: { parent: 'dep9' } }))),
    ).to.deep.equal(['delete default/dep1--pod1']);
    expect(run.push(removed(dep1), 'Dep')).to.deep.equal(['delete other/dep1--pod2']);
  });

  it('joins documents of the same namespace', () => {
    const run = runner(
      [
        { '@join': { '@eq': ['$.Dep.metadata.namespace', '$.Pod.metadata.namespace'] } },
        named('$.Dep.metadata.name', '-', '$.Pod.metadata.name'),
      ],
      ['Pod', 'Dep'],
    );
    run.push(added(pod1, pod2, pod3));
    expect(run.push(added(dep1), 'Dep')).to.deep.equal([
      'upsert ns/dep1-pod1',
      'upsert ns/dep1-pod3',
    ]);
  });

  it('joins documents by their labels', () => {
    const label = (key: string, app: string): Document => ({
      metadata: { namespace: 'ns', name: key, labels: { app } },
    });
    const run = runner(
      [
        {
          '@join': {
            '@selector': [{ app: '$.Dep.metadata.labels.app' }, '$.Pod.metadata.labels'],
          },
        },
        named('$.Dep.metadata.name', '-', '$.Pod.metadata.name'),
      ],
      ['Pod', 'Dep'],
    );
    run.push(added(label('pod1', 'app1'), label('pod2', 'app2'), label('pod3', 'app1')));
    expect(run.push(added(label('dep', 'app1')), 'Dep')).to.deep.equal([
      'upsert ns/dep-pod1',
      'upsert ns/dep-pod3',
    ]);
  });

  it('joins and groups by equal lists of 100 items, both in documents and in results of @gather', () => {
    const list = Array.from({ length: 100 }, (_, v) => v);
    const gatherer = pipelineOf([{ '@gather': ['$.all', '$.v'] }], ['A']);
    const made = gatherer.push('A', added(...list.map((v) => object(`ns/${v}`, { all: 1, v }))));
    const given = added(object('ns/given', { v: list }));
    const pairs = pipelineOf({ '@join': { '@eq': ['$.Made.v', '$.Given.v'] } }, ['Made', 'Given']);
    pairs.push('Made', made);
    expect(pairs.push('Given', given)).to.have.length(1);
    const groups = pipelineOf([{ '@gather': ['$.v', '$.metadata.name'] }], ['A']);
    groups.push('A', [...made, ...given]);
    expect(groups.snapshot()).to.have.length(1);
  });

  it('joins by an equality of which one operand depends on both sources', () => {
    const both = { '@concat': ['$.Dep.spec.of', '$.Pod.spec.end'] };
    for (const sides of [
      ['$.Pod.spec.parent', both],
      [both, '$.Pod.spec.parent'],
    ]) {
      const run = runner(
        [{ '@join': { '@eq': sides } }, named('$.Pod.metadata.name')],
        [...['Pod', 'Dep']],
      );
      const pods = ['1', '2'].map((end) => object(`ns/pod${end}`, { spec: { parent: 'a1', end } }));
      run.push(added(...pods));
      expect(run.push(added(object('ns/dep', { spec: { of: 'a' } })), 'Dep')).to.deep.equal([
        'upsert ns/pod1',
      ]);
    }
  });

  it('joins three sources', () => {
    const condition = [
      { '@eq': ['$.Dep.metadata.name', '$.Pod.spec.parent'] },
      { '@eq': ['$.Dep.metadata.name', '$.Rs.spec.dep'] },
    ];
    const run = runner(
      [
        { '@join': { '@and': condition } },
        {
          '@project': {
            metadata: '$.Pod.metadata',
            replicas: '$.Dep.spec.replicas',
            ready: '$.Rs.status.ready',
          },
        },
      ],
      ['Pod', 'Dep', 'Rs'],
    );
    run.push(added(pod1, pod2, pod3));
    run.push(added(...replicaSets), 'Rs');
    expect(run.push(added(dep2), 'Dep')).to.deep.equal(['upsert default/pod3']);
    expect(run.push(added(dep1), 'Dep')).to.deep.equal([
      'upsert default/pod1',
      'upsert other/pod2',
    ]);
    expect(run.desired('default/pod1')).to.include({ replicas: 3, ready: 1 });
    const moved = object('default/pod1', { spec: { parent: 'dep2' } });
    expect(run.push(updated(pod1, moved))).to.deep.equal(['upsert default/pod1']);
    expect(run.desired('default/pod1')).to.include({ replicas: 1, ready: 2 });
  });

  it('joins routes with a gateway by their lists of parents', () => {
    const stages = [
      {
        '@join': {
          '@and': [
            { '@eq': ['$.Gateway.metadata.namespace', '$.Route.metadata.namespace'] },
            {
              '@in': ['$.Gateway.metadata.name', { '@map': ['$$.name', '$.Route.spec.parents'] }],
            },
          ],
        },
      },
      named('$.Gateway.metadata.name', '-', '$.Route.metadata.name'),
    ];
    expect(planOf(stages, ['Gateway', 'Route']).warnings).to.deep.equal([]);
    const run = runner(stages, ['Gateway', 'Route']);
    const route = (name: string, ...parents: readonly string[]) =>
      object(`ns/${name}`, { spec: { parents: parents.map((parent) => ({ name: parent })) } });
    run.push(added(route('r1', 'udp', 'tcp', 'udp'), route('r2', 'tcp'), object('ns/r3')), 'Route');
    expect(run.push(added(object('ns/udp')))).to.deep.equal(['upsert ns/udp-r1']);
    expect(run.push(added(object('ns/tcp'), object('other/tcp')))).to.deep.equal([
      'upsert ns/tcp-r1',
      'upsert ns/tcp-r2',
    ]);
    const [failure, ...more] = run.pipeline.failures();
    expect(more).to.deep.equal([]);
    expect(failure).to.include({ stage: '@join', subject: 'Route ns/r3' });
  });

  it('joins a source with itself under two aliases', () => {
    const stages = { '@join': { '@eq': ['$.Child.spec.parent', '$.Parent.metadata.name'] } };
    const pipeline = pipelineOf(stages, ['Child', 'Parent']);
    const [root, leaf] = [object('ns/root'), object('ns/leaf', { spec: { parent: 'root' } })];
    for (const source of ['Child', 'Parent']) pipeline.push(source, added(root, leaf));
    expect(pipeline.snapshot().map(({ document }) => document)).to.deep.equal([
      { Child: leaf, Parent: root },
    ]);
    expect(pipeline.push('Parent', removed(root)).map(({ weight }) => weight)).to.deep.equal([-1]);
  });

  it('returns documents under the name of their source if there is a single source', () => {
    const pipeline = pipelineOf([{ '@join': { '@exists': '$.Pod.spec.parent' } }]);
    pipeline.push('Pod', added(pod1, object('ns/other')));
    expect(pipeline.snapshot().map(({ document }) => document)).to.deep.equal([{ Pod: pod1 }]);
  });

  it('does not treat two missing values as equal', () => {
    const pipeline = pipelineOf({ '@join': { '@eq': ['$.A.x', '$.B.x'] } }, ['A', 'B']);
    pipeline.push('A', added({ a: 1 }, { a: 2, x: 0 }));
    pipeline.push('B', added({ b: 1 }, { b: 2, x: null }, { b: 3, x: 0 }));
    expect(pipeline.snapshot().map(({ document }) => document)).to.deep.equal([
      { A: { a: 2, x: 0 }, B: { b: 3, x: 0 } },
    ]);
    expect(pipeline.push('A', removed({ a: 1 }))).to.deep.equal([]);
  });

  it('matches null in a list by @in, but not by @eq', () => {
    const condition = {
      '@and': [{ '@in': ['$.A.x', '$.B.list'] }, { '@eq': ['$.A.name', '$.B.name'] }],
    };
    const [a, b] = [{ name: 'n' }, { name: 'n', list: [1, null] }];
    const pipeline = pipelineOf({ '@join': condition }, ['A', 'B']);
    pipeline.push('A', added(a));
    pipeline.push('B', added(b));
    expect(pipeline.snapshot().map(({ document }) => document)).to.deep.equal([{ A: a, B: b }]);
    const never = { '@and': [...condition['@and'], { '@eq': ['$.A.x', '$.B.x'] }] };
    const strict = pipelineOf({ '@join': never }, ['A', 'B']);
    strict.push('A', added(a));
    strict.push('B', added(b));
    expect(strict.snapshot()).to.deep.equal([]);
  });

  it('drops an object for which the condition fails, and reports the object once until it is removed', () => {
    const pipeline = pipelineOf({ '@join': { '@eq': [{ '@add': ['$.A.x', 1] }, '$.B.x'] } }, [
      'A',
      'B',
    ]);
    const misfit = object('ns/misfit', { x: 'text' });
    pipeline.push('B', added({ b: 1, x: 2 }, { b: 2, x: 2 }));
    pipeline.push('A', added(misfit, { a: 1, x: 1 }));
    expect(pipeline.snapshot()).to.have.length(2);
    expect(pipeline.takeNewFailures()).to.have.length(1);
    expect(pipeline.takeNewFailures()).to.have.length(0);
    expect([...pipeline.failures()][0]).to.deep.include({
      subject: 'A ns/misfit',
      path: ['pipeline', '@join', '@eq', 0],
    });
    pipeline.push('A', removed(misfit));
    expect([...pipeline.failures()]).to.deep.equal([]);
  });

  it('evaluates conditions on one source first, so that no other condition fails for an object that they exclude', () => {
    const condition = [{ '@eq': [{ '@add': ['$.A.x', 1] }, '$.B.x'] }, { '@exists': '$.A.x' }];
    const pipeline = pipelineOf({ '@join': { '@and': condition } }, ['A', 'B']);
    pipeline.push('A', added(object('ns/a')));
    expect([...pipeline.failures()]).to.deep.equal([]);
  });

  it('evaluates each object once, even if its row is requested again', () => {
    let calls = 0;
    const plan = planOf({ '@join': { '@eq': ['$.A.x', '$.B.x'] } }, ['A', 'B']);
    const [source] = plan.join?.sources ?? [];
    if (source === undefined || plan.join === undefined) throw new Error('no join');
    const [side] = source.sides;
    if (side === undefined) throw new Error('no side');
    const counted = { ...side, expression: (own: Document) => (calls++, side.expression(own)) };
    const failures = new FailureLog();
    const table = new JoinTable({
      source: { ...source, sides: [counted] },
      indexes: [[0]],
      failures,
    });
    const delta = { document: { x: 1 }, weight: 1 };
    const row = table.rowOf(delta);
    if (row === undefined) throw new Error('no row');
    table.change(row, 1);
    expect([...(table.find(0, '1') ?? [])]).to.deep.equal([row]);
    expect(table.rowOf(delta)).to.equal(row);
    expect(calls).to.equal(1);
    table.change(row, -1);
    expect(table.find(0, '1')).to.equal(undefined);
    expect([...table.rows()]).to.deep.equal([]);
  });
});
