import { expect } from 'chai';
import {
  isOwnView,
  isView,
  loadOneOperator,
  planOperator,
  sameKind,
  sameTarget,
  viewKindsOf,
  withController,
} from '../../../lib/declarative/operator/operator-plan.js';
import type { OperatorPlan } from '../../../lib/declarative/operator/operator-plan.js';
import { operatorStatus } from '../../../lib/declarative/operator/operator-status.js';
import { loadOperators } from '../../../lib/declarative/spec/load-operator.js';
import type { ControllerSpec } from '../../../lib/declarative/spec/operator-spec.js';
import type { Condition } from '../../../lib/object/conditions.js';
import { formatTime } from '../../../lib/object/micro-time.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const sources = [{ apiGroup: '', kind: 'Pod' }];
const one = { name: 'one', sources, target: { kind: 'View' } };
const two = { name: 'two', sources, target: { kind: 'View' } };

/** The controllers of a plan with the lines of their problems, and those of the operator. */
function told({ controllers, problems, describe: line }: OperatorPlan): object {
  return {
    controllers: controllers.map(({ name, specPath, problems: own }) => [
      ...[name, specPath.join('.'), own.map(line)],
    ]),
    problems: problems.map(line),
  };
}

describe('The compiled specification of an operator', () => {
  it('contains its controllers in the order in which they are written, each with its path', () => {
    const plan = {
      controllers: [
        ['one', 'controllers.0', []],
        ['two', 'controllers.1', []],
      ],
      problems: [],
    };
    const spec = { controllers: [one, two] };
    expect(told(planOperator('op', spec))).to.deep.equal(plan);
    const object = { apiVersion: 'dcontroller.io/v1alpha1', kind: 'Operator', spec };
    expect(told(planOperator('op', object as never))).to.deep.equal(plan);
    const [loaded] = loadOperators(JSON.stringify(spec), 'file.yaml');
    expect(told(planOperator('op', loaded!))).to.deep.equal(plan);
  });

  it('lists the problem of a controller at this controller only, and a problem of the specification at every controller', () => {
    const nameless = { ...two, name: '', target: { kind: '' } };
    const spec = { controllers: [one, nameless], more: 1 };
    const unknown = 'unknown field more; want controllers';
    const lines = (at: string) => [
      `operator op: ${at}more: ${unknown}`,
      `operator op: ${at}controllers[1].name: name is missing: want a string`,
      `operator op: ${at}controllers[1].target.kind: kind is missing: want a string`,
    ];
    const planned = (at: string) => ({
      controllers: [
        ['one', 'controllers.0', lines(at).slice(0, 1)],
        ['controllers[1]', 'controllers.1', lines(at)],
      ],
      problems: lines(at).slice(0, 1),
    });
    expect(told(planOperator('op', spec))).to.deep.equal(planned(''));
    expect(told(planOperator('op', { kind: 'Operator', spec } as never))).to.deep.equal(
      planned('spec.'),
    );
  });

  it('reports a specification that is not a map', () => {
    for (const value of [7, null, ['a']]) {
      expect(told(planOperator('op', { kind: 'Operator', spec: value } as never))).to.deep.equal({
        controllers: [],
        problems: ['operator op: spec: want a map with controllers'],
      });
    }
  });

  it('accepts a further controller, whose path follows that of the last controller', () => {
    const plan = planOperator('op', { controllers: [one] });
    const added = withController(plan, two);
    expect(told(added)).to.deep.equal({
      controllers: [
        ['one', 'controllers.0', []],
        ['two', 'controllers.1', []],
      ],
      problems: [],
    });
    expect(told(withController(added, { ...one, sources: [] }))).to.have.deep.nested.property(
      'controllers[2]',
      [
        'one',
        'controllers.2',
        [
          'operator op: controllers[2].sources: sources: want a list with at least one entry',
          'operator op: controllers[2].name: two controllers are called one',
        ],
      ],
    );
    expect(plan.controllers).to.have.length(1);
  });
});

describe('A file with operators', () => {
  const text = (...names: readonly string[]): string =>
    names
      .map((name) =>
        JSON.stringify({
          ...{ apiVersion: 'dcontroller.io/v1alpha1', kind: 'Operator', metadata: { name } },
          spec: { controllers: [one] },
        }),
      )
      .join('\n---\n');

  it('yields the operator with the given name, or the only operator of the file', () => {
    expect(loadOneOperator('b', text('a', 'b'), 'file.yaml').name).to.equal('b');
    expect(loadOneOperator('other', text('a'), 'file.yaml').name).to.equal('a');
    const bare = JSON.stringify({ controllers: [one] });
    expect(loadOneOperator('other', bare, 'file.yaml').name).to.equal(undefined);
  });

  it('is refused if it has several operators and none with the given name', () => {
    expect(() =>
      loadOneOperator(
        'shp',
        `${text('shop', 'b')}\n---\ncontrollers: [${JSON.stringify(one)}]`,
        'f.yaml',
      ),
    ).to.throw(
      'f.yaml: there is no operator shp among shop, b, one without a name; did you mean shop?',
    );
  });

  it('can contain a list of operators, and objects of other kinds', () => {
    const operator = {
      ...{ apiVersion: 'dcontroller.io/v1alpha1', kind: 'Operator', metadata: { name: 'a' } },
      spec: { controllers: [one] },
    };
    const items = [
      operator,
      { apiVersion: 'v1', kind: 'Pod', spec: { controllers: [one] } },
      { apiVersion: 'other.io/v1', kind: 'Operator', spec: {} },
      { kind: 'Operator', spec: {} },
      'text',
      {
        apiVersion: 'dcontroller.io/v1',
        kind: 'Operator',
        metadata: { name: 7 },
        spec: { controllers: [two] },
      },
    ];
    for (const kind of ['List', 'OperatorList']) {
      const found = loadOperators(JSON.stringify({ kind, items }), 'file.yaml');
      expect(
        found.map(({ name, source, spec }) => [name, source, spec.controllers[0]?.name]),
      ).to.deep.equal([
        ['a', 'file.yaml', 'one'],
        [undefined, 'file.yaml', 'two'],
      ]);
    }
    expect(() => loadOperators(JSON.stringify({ kind: 'PodList', items }), 'f.yaml')).to.throw(
      'f.yaml: there is no operator: want a document with kind: Operator, or with controllers',
    );
    const wrong = JSON.stringify({ kind: 'List', items: [{ ...operator, spec: {} }] });
    expect(() => loadOperators(wrong, 'f.yaml')).to.throw(
      /^f\.yaml:1:\d+: items\[0\]\.spec\.controllers: controllers: want a list with at least one entry$/,
    );
  });
});

describe('Sources and targets of controllers', () => {
  const view = { kind: 'V', type: 'Updater' } as const;
  const pod = { apiGroup: '', kind: 'Pod', type: 'Updater' } as const;
  const far = { apiGroup: 'far.view.dcontroller.io', kind: 'V', type: 'Updater' } as const;

  it('are equal if group, kind and type are equal, whatever the version', () => {
    expect(sameTarget(view, { ...view, version: 'v2' })).to.equal(true);
    for (const other of [pod, far, { ...view, kind: 'W' }, { ...view, type: 'Patcher' } as const]) {
      expect(sameTarget(view, other)).to.equal(false);
    }
    expect(sameTarget(undefined, view)).to.equal(false);
    expect(sameKind(view, { ...view, type: 'Patcher' })).to.equal(true);
    expect([sameKind(view, far), sameKind(pod, { ...pod, kind: 'Node' })]).to.deep.equal([
      ...[false, false],
    ]);
  });

  it('are divided into views of the same operator, views of another operator, and other kinds', () => {
    const all = [view, far, pod, { ...far, apiGroup: 'op.view.dcontroller.io' }];
    expect(all.map((each) => isOwnView(each, 'op'))).to.deep.equal([true, false, false, true]);
    expect(all.map(isView)).to.deep.equal([true, true, false, true]);
  });

  it('yield the list of kinds of views without duplicates', () => {
    const source = (resource: object, type = 'Watcher') => ({ ...resource, type, periodMs: 0 });
    const spec = (target: object, ...read: readonly object[]): ControllerSpec =>
      ({ name: 'c', sources: read, target }) as unknown as ControllerSpec;
    const tick = source({ kind: 'Tick' }, 'Periodic');
    expect(
      viewKindsOf('op', [
        spec(view, source(pod), source(far), tick, source({ kind: 'In' })),
        spec(pod, source(view), source({ ...far, apiGroup: 'op.view.dcontroller.io' })),
      ]),
    ).to.deep.equal([
      { operator: 'far', kind: 'V' },
      { operator: 'op', kind: 'In' },
      { operator: 'op', kind: 'V' },
    ]);
  });
});

describe('The status of an operator', () => {
  const clock = new VirtualClock();
  const lastTransitionTime = formatTime(clock.now());
  const ready = (status: Condition['status'], reason: string, message = ''): Condition => ({
    ...{ type: 'Ready', status, reason, message, lastTransitionTime },
  });
  const plan = planOperator('op', { controllers: [one] });
  const target = { kind: 'View', type: 'Updater' };

  interface Reported {
    readonly conditions?: readonly Condition[];
    readonly problems?: readonly { path: string[]; message: string }[];
  }

  function statusOf(
    reported: readonly Reported[],
    {
      problems = plan.problems,
      generation,
    }: { problems?: OperatorPlan['problems']; generation?: number } = {},
  ) {
    const controllers = reported.map(({ conditions = [], problems: own = [] }, index) => ({
      ...{ name: `c${index}`, problems: own, spec: plan.controllers[0]?.spec },
      status: () => ({ conditions, lastErrors: ['an error'] }),
    }));
    return operatorStatus({
      ...{ plan: { ...plan, problems }, controllers: controllers as never },
      ...{ generation, conditions: [], clock },
    });
  }

  for (const [what, reported, expected] of [
    ['all controllers are ready', [ready('True', 'Ready', 'fine')], ready('True', 'Ready')],
    ['it has no controllers', [], ready('True', 'Ready')],
    [
      'one controller cannot run',
      [
        ready('True', 'Ready'),
        ready('False', 'NotReady', 'no kind'),
        ready('Unknown', 'Starting', 'x'),
      ],
      ready('False', 'NotReady', 'c1: no kind'),
    ],
    [
      'one controller fails and another one starts',
      [ready('Unknown', 'Starting', 'soon'), ready('Unknown', 'ReconciliationFailed', 'no')],
      ready('Unknown', 'ReconciliationFailed', 'c0: soon\nc1: no'),
    ],
    [
      'one controller starts',
      [ready('Unknown', 'Starting', 'soon')],
      ready('Unknown', 'Starting', 'c0: soon'),
    ],
  ] as const) {
    it(`is ${expected.status} if ${what}`, () => {
      const { conditions, controllers } = statusOf(reported.map((one) => ({ conditions: [one] })));
      expect(conditions).to.deep.equal([expected]);
      expect(controllers).to.deep.equal(
        reported.map((condition, index) => ({
          ...{ name: `c${index}`, conditions: [condition], lastErrors: ['an error'], target },
        })),
      );
    });
  }

  it('contains the generation of the object that holds the specification', () => {
    const status = statusOf([{ conditions: [ready('True', 'Ready')] }], { generation: 7 });
    const observed = { ...ready('True', 'Ready'), observedGeneration: 7 };
    expect(status).to.deep.equal({
      observedGeneration: 7,
      conditions: [observed],
      controllers: [{ name: 'c0', conditions: [observed], lastErrors: ['an error'], target }],
    });
  });

  it('contains the problems of a controller that cannot run, but not the target of the controller', () => {
    const problems = Array.from({ length: 12 }, (_, n) => ({ path: ['x'], message: `no ${n}` }));
    const lines = problems.map(({ message }) => `operator op: x: ${message}`);
    const { conditions, controllers } = statusOf([{ problems }]);
    const message = lines.join('\n');
    expect(controllers).to.deep.equal([
      {
        ...{ name: 'c0', conditions: [ready('False', 'NotReady', message)] },
        lastErrors: lines.slice(0, 10),
      },
    ]);
    expect(conditions).to.deep.equal([ready('False', 'NotReady', `c0: ${message}`)]);
  });

  it('contains the problems of the operator as one text, whose middle is cut out', () => {
    const problems = [{ path: [], message: 'x'.repeat(5_000) }];
    const [condition] = statusOf([{ conditions: [ready('False', 'NotReady')] }], {
      problems,
    }).conditions;
    expect(condition).to.deep.include({ status: 'False', reason: 'NotReady' });
    expect(condition?.message)
      .to.match(/^operator op: x+ … x+$/)
      .and.have.length(4_000);
  });
});
