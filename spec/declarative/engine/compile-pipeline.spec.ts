import { expect } from 'chai';
import { planOf, problemsOf } from './pipelines.js';

const two = [{ kind: 'Pod', apiGroup: '' }, { kind: 'Service' }];
const join = { '@join': { '@eq': ['$.Pod.spec.x', '$.Service.spec.x'] } };

describe('compilePlan', () => {
  const good: [string, unknown, { kind: string; apiGroup?: string; as?: string }[]][] = [
    ['an undefined pipeline', undefined, [{ kind: 'Pod' }]],
    ['one stage', { '@select': true }, [{ kind: 'Pod' }]],
    ['a list of stages', [join, { '@project': { metadata: '$.Pod.metadata' } }], two],
    [
      'a pipeline in the form of earlier versions of dcontroller',
      { '@aggregate': [{ '@select': true }] },
      [{ kind: 'Pod' }],
    ],
    [
      'a join in the form of earlier versions of dcontroller',
      { ...join, '@aggregate': [{ '@project': { metadata: '$.Pod.metadata' } }] },
      two,
    ],
    [
      'sources with an alias',
      { '@join': { '@eq': ['$.A.x', '$.B.x'] } },
      [
        { kind: 'Pod', apiGroup: '', as: 'A' },
        { kind: 'Pod', as: 'B' },
      ],
    ],
  ];
  for (const [what, stages, sources] of good) {
    it(`accepts ${what}`, () => {
      expect(problemsOf(stages, sources)).to.deep.equal([]);
    });
  }

  const bad: [unknown, string[]][] = [
    ['text', ['pipeline: want a map with one member as the stage, such as "@select"']],
    [[{}], ['pipeline[0]: want a map with one member as the stage, such as "@select"']],
    [
      { '@select': true, '@project': {} },
      [
        'pipeline: want a map with one member as the stage, such as "@select", got 2; put stages into a list',
      ],
    ],
    [
      { '@aggregate': [{ '@select': true }, { '@projct': {} }] },
      [
        'pipeline["@aggregate"][1]["@projct"]: there is no stage @projct; the stages are @join, @select, @project, @unwind, @demux, @gather, @mux (@project)',
      ],
    ],
    [
      { '@select': true, '@aggregate': [] },
      [
        'pipeline: want a map with one member as the stage, such as "@select", got 2; put stages into a list',
      ],
    ],
    [
      [{ '@selct': true }, { '@gahter': [] }],
      [
        'pipeline[0]["@selct"]: there is no stage @selct; the stages are @join, @select, @project, @unwind, @demux, @gather, @mux (@select)',
        'pipeline[1]["@gahter"]: there is no stage @gahter; the stages are @join, @select, @project, @unwind, @demux, @gather, @mux (@gather)',
      ],
    ],
    [
      [{ '@select': true }, { '@join': true }],
      ['pipeline[1]["@join"]: want @join only once, as the first stage'],
    ],
    [
      { '@gather': '$.a' },
      ['pipeline["@gather"]: @gather: want a list of two: the key, and the path of the values'],
    ],
    [
      { '@gather': ['$.a', '$.b', '$.c'] },
      ['pipeline["@gather"]: @gather: want a list of two: the key, and the path of the values'],
    ],
    [
      { '@mux': ['$.a', 'b'] },
      ['pipeline["@mux"][1]: @mux: want a JSONPath, for example "$.spec.ports"'],
    ],
    [
      { '@unwind': ['$.a'] },
      ['pipeline["@unwind"]: @unwind: want a JSONPath, for example "$.spec.ports"'],
    ],
    [
      { '@unwind': '$' },
      [
        'pipeline["@unwind"]: @unwind: want a path that names one field or list item: $ is the document itself',
      ],
    ],
    [
      { '@unwind': '$.a[*]' },
      [
        'pipeline["@unwind"]: @unwind: want a path that names one field or list item: names and indexes, no wildcard, slice, filter or ..',
      ],
    ],
    [
      { '@unwind': '$[0]' },
      [
        'pipeline["@unwind"]: @unwind: want a path that names one field or list item: a document is a map, not a list',
      ],
    ],
    [
      { '@unwind': '$$.a' },
      [
        'pipeline["@unwind"]: @unwind: want a path that names one field or list item: $$ is not available outside list operators',
      ],
    ],
    [{ '@select': 'text' }, ['pipeline["@select"]: @select: want true or false, got a string']],
  ];
  for (const [stages, problems] of bad) {
    it(`refuses ${JSON.stringify(stages)}`, () => {
      expect(problemsOf(stages)).to.deep.equal(problems);
    });
  }

  it('reports errors in expressions, each with its path', () => {
    const stages = [
      { '@select': { '@equal': [1, 1] } },
      { '@project': [{}, { name: { '@concat': 7 } }] },
      { '@unwind': '$.a[' },
      { '@gather': [{ '@conact': [] }, '$.a['] },
    ];
    const places = problemsOf(stages).map((problem) => problem.slice(0, problem.indexOf(':')));
    expect(places).to.deep.equal([
      'pipeline[0]["@select"]["@equal"]',
      'pipeline[1]["@project"][1].name["@concat"]',
      'pipeline[2]["@unwind"]',
      'pipeline[3]["@gather"][0]["@conact"]',
      'pipeline[3]["@gather"][1]',
    ]);
  });

  it('accepts literals in a join condition, and JSONPaths in the value of @set', () => {
    const left = { '@set': ['$.Pod.spec', '$.shown', { '@literal': '$.name' }] };
    expect(problemsOf({ '@join': { '@eq': [left, '$.Service.spec'] } }, two)).to.deep.equal([]);
  });

  it('requires a join for several sources', () => {
    expect(problemsOf({ '@select': true }, two)).to.deep.equal([
      'pipeline: several sources (Pod, Service): want @join as the first stage',
    ]);
  });

  it('reports each problem of a join once', () => {
    const condition = {
      '@and': [{ '@eq': ['$.Pod.x', '$.Servce.x'] }, { '@eq': ['$.Pod.x'] }, { '@gtt': [1, 2] }],
    };
    const problems = problemsOf({ '@join': condition }, two);
    expect(problems[0]).to.equal(
      'pipeline["@join"]: unknown source $.Servce; want Pod, Service (Service)',
    );
    const places = problems.map((problem) => problem.slice(0, problem.indexOf(':')));
    expect(places).to.deep.equal([
      'pipeline["@join"]',
      'pipeline["@join"]["@and"][1]["@eq"]',
      'pipeline["@join"]["@and"][2]["@gtt"]',
    ]);
  });

  it('refuses a join condition that has another operator in the same map as @and, @eq or @in', () => {
    const equality = { '@eq': ['$.Pod.x', '$.Service.x'] };
    for (const first of [{ '@and': [equality] }, equality, { '@in': equality['@eq'] }]) {
      const problems = problemsOf({ '@join': { ...first, '@or': [true] } }, two);
      expect(problems, JSON.stringify(first)).to.have.length(1);
      expect(problems[0]).to.match(/^pipeline\["@join"\]: /);
    }
  });

  it('requires a distinct name for each source', () => {
    const sources = [
      { kind: 'Pod', apiGroup: '' },
      { kind: 'Pod' },
      { kind: 'Service', as: 'Pod' },
      { kind: 'Service', as: '$x' },
    ];
    expect(problemsOf({ '@join': true }, sources)).to.deep.equal([
      'sources[1].kind: kind Pod is a source in two groups, core ("") and the operator\'s views: give one an alias (as: Pod2)',
      'sources[2].as: another source is called Pod already: give this one another alias (as: Pod2)',
      'sources[3].as: invalid name "$x"; want letters, digits, _ and -',
    ]);
    const twice = [{ kind: 'Pod' }, { kind: 'Pod' }];
    expect(problemsOf({ '@join': true }, twice)).to.deep.equal([
      'sources[1].kind: kind Pod is a source twice: give one an alias (as: Pod2)',
    ]);
  });

  it('requires a source', () => {
    expect(problemsOf([], [])).to.deep.equal(['sources: want at least one source']);
  });
});

describe('a join condition', () => {
  const warnings = (condition: unknown, kinds = ['A', 'B', 'C']) =>
    planOf({ '@join': condition }, kinds).warnings.map(({ path, message }) => ({
      path: path.join('.'),
      tied: /links (.*?), so/.exec(message)?.[1],
    }));

  for (const condition of [
    true,
    { '@or': [{ '@eq': ['$.A.x', '$.B.x'] }] },
    { '@lt': ['$.A.x', '$.B.x'] },
    { '@eq': ['$.A.x', 7] },
    { '@eq': ['$.A', '$'] },
    { '@eq': ['$.A.x', { '@concat': ['$.A.y', '$.B.y'] }] },
    { '@eq': ['$.A.x', { '@concat': ['$.B.y', '@now'] }] },
    { '@eq': ['$.A.x', '$.B.list[?(@.y == $.A.y)].x'] },
  ]) {
    it(`causes a warning when it cannot use an index: ${JSON.stringify(condition)}`, () => {
      const path = 'pipeline.@join';
      expect(warnings(condition, ['A', 'B'])).to.deep.equal([{ path, tied: 'B to A' }]);
    });
  }

  it('causes a warning for each source without an equality to another source', () => {
    const condition = { '@and': [{ '@eq': ['$.A.x', '$.C.x'] }] };
    expect(warnings(condition)).to.deep.equal([{ path: 'pipeline.@join', tied: 'B to A' }]);
  });

  for (const condition of [
    { '@eq': ["$['A']['x']", { '@concat': ['$.B.a', '$.B.b'] }] },
    { '@in': ['$.A.x', { '@map': ['$$.x', '$.B.list'] }] },
    { '@and': [{ '@and': [{ '@eq': ['$.B.x', '$.A.x'] }, { '@gt': ['$.B.y', 1] }] }, true] },
    { '@eq': ['$.A.x', "$.B.list[?(@.y == 'z')].x"] },
  ]) {
    it(`causes no warning when it can use an index: ${JSON.stringify(condition)}`, () => {
      expect(warnings(condition, ['A', 'B'])).to.deep.equal([]);
    });
  }
});
