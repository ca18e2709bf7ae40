import { expect } from 'chai';
import { loadOperators } from '../../../lib/declarative/spec/load-operator.js';
import { isInvalidSpec } from '../../../lib/declarative/spec/invalid-spec-error.js';

const whole = `
apiVersion: dcontroller.io/v1alpha1
kind: Operator
metadata:
  name: svc-health
spec:
  controllers:
    - name: pods
      sources:
        - apiGroup: ""
          kind: Pod
          namespace: shop
          labelSelector: { matchLabels: { app: web } }
          predicate: { and: [ResourceVersionChanged, { not: labelsChanged }] }
        - { kind: HealthView, as: health }
        - { kind: Tick, type: Periodic, parameters: { period: 1m30s } }
        - { apiGroup: source.dcontroller.io, kind: OneShot }
      pipeline: { '@join': true }
      target: { apiGroup: "", kind: Service, type: Patcher }
---
apiVersion: v1
kind: Pod
metadata: { name: beside }
`;

/** Returns the problems of a text, one per line. */
function problemsOf(text: string): string[] {
  try {
    loadOperators(text, 'operator.yaml');
  } catch (error) {
    if (isInvalidSpec(error)) return error.message.split('\n');
    throw error;
  }
  return [];
}

/** A controller with these fields over the defaults. */
function controller(fields: object): string {
  const usual = { name: 'one', sources: [{ apiGroup: '', kind: 'Pod' }], target: { kind: 'V' } };
  return JSON.stringify({ controllers: [{ ...usual, ...fields }] });
}

/** A selector with one expression. */
function selecting(fields: object): object {
  return { matchExpressions: [{ key: 'a', operator: 'In', ...fields }] };
}

describe('loadOperators, which reads operators from YAML or JSON', () => {
  it('reads plain scalars and merge keys as Kubernetes does', () => {
    const text = (value: string) => whole.replace('{ app: web }', value);
    expect(problemsOf(text('{ app: "yes" }'))).to.deep.equal([]);
    for (const value of ['{ app: yes }', '{ app: off }', '{ <<: { app: 1 } }']) {
      expect(problemsOf(text(value)).join('\n'), value).to.contain('matchLabels');
    }
    expect(problemsOf(text('{ <<: { app: web } }'))).to.deep.equal([]);
  });

  it('refuses a text that nests too deeply, directly or by aliases', () => {
    const levels = (from: string, open: number) => '['.repeat(open) + from + ']'.repeat(open);
    const aliased = ['a: &a 1', `b: &b ${levels('*a', 300)}`, `c: ${levels('*b', 300)}`];
    for (const text of ['- '.repeat(5_000), aliased.join('\n')]) {
      expect(() => loadOperators(text, 'file.yaml')).to.throw(/nests deeper than 500 levels/);
    }
  });

  it('reads all fields of an operator, and skips objects of other kinds', () => {
    const [operator, ...others] = loadOperators(whole, 'operator.yaml');
    expect(others).to.have.length(0);
    expect(operator?.name).to.equal('svc-health');
    const absent = {
      ...{ apiGroup: undefined, version: undefined, as: undefined, namespace: undefined },
      ...{ labelSelector: undefined, predicate: undefined, periodMs: 0 },
    };
    const pod = {
      ...{ ...absent, apiGroup: '', kind: 'Pod', type: 'Watcher', namespace: 'shop' },
      labelSelector: { matchLabels: { app: 'web' } },
      predicate: {
        type: 'and',
        predicates: [
          { type: 'basic', name: 'ResourceVersionChanged' },
          { type: 'not', predicate: { type: 'basic', name: 'LabelChanged' } },
        ],
      },
    };
    expect(operator?.spec).to.deep.equal({
      controllers: [
        {
          name: 'pods',
          sources: [
            pod,
            { ...absent, kind: 'HealthView', as: 'health', type: 'Watcher' },
            { ...absent, kind: 'Tick', type: 'Periodic', periodMs: 90_000 },
            { ...absent, apiGroup: 'source.dcontroller.io', kind: 'OneShot', type: 'OneShot' },
          ],
          pipeline: { '@join': true },
          target: { apiGroup: '', version: undefined, kind: 'Service', type: 'Patcher' },
        },
      ],
    });
  });

  it('accepts empty parts of a selector', () => {
    const labelSelector = {
      matchLabels: null,
      matchExpressions: [{ key: 'a', operator: 'Exists' }],
    };
    const sources = [
      { kind: 'T', labelSelector },
      { kind: 'U', labelSelector: {} },
    ];
    const pipeline = { '@join': true };
    const [operator] = loadOperators(controller({ sources, pipeline }), 'one.json');
    const read = operator?.spec.controllers[0]?.sources.map((source) => source.labelSelector);
    const matchExpressions = [{ key: 'a', operator: 'Exists', values: [] }];
    expect(read).to.deep.equal([{ matchExpressions }, {}]);
  });

  it('reads sources of type OneShot and Periodic from their group', () => {
    const parameters = { period: '10ms' };
    const sources = [
      { apiGroup: 'oneshot.virtual-source.dcontroller.io', kind: 'Once' },
      { apiGroup: 'periodic.virtual-source.dcontroller.io', kind: 'Tick', parameters },
      { apiGroup: 'source.dcontroller.io', kind: 'Periodic' },
    ];
    const [operator] = loadOperators(controller({ sources }), 'one.json');
    const read = operator?.spec.controllers[0]?.sources;
    expect(read?.map(({ type, kind, periodMs }) => [type, kind, periodMs])).to.deep.equal([
      ['OneShot', 'Once', 0],
      ['Periodic', 'Tick', 10],
      ['Periodic', 'Periodic', 300_000],
    ]);
  });

  it('accepts a list of controllers without an operator, in YAML or JSON', () => {
    const [operator] = loadOperators(controller({}), 'one.json');
    expect(operator?.name).to.equal(undefined);
    expect(operator?.spec.controllers).to.have.length(1);
  });

  it('sets the period of a Periodic source to five minutes by default', () => {
    for (const more of [{}, { parameters: {} }]) {
      const source = { kind: 'T', type: 'Periodic', ...more };
      const [operator] = loadOperators(controller({ sources: [source] }), 'one.json');
      expect(operator?.spec.controllers[0]?.sources[0]?.periodMs).to.equal(300_000);
    }
  });

  it('reports each problem with its file, line and path, and with a suggestion', () => {
    const text = whole.replace('Patcher', 'Pather').replace('namespace: shop', 'namspace: shop');
    expect(problemsOf(text)).to.deep.equal([
      'operator.yaml:12:21: spec.controllers[0].sources[0].namspace: unknown field namspace; want apiGroup, version, kind, type, as, namespace, labelSelector, predicate, parameters; did you mean namespace?',
      'operator.yaml:19:52: spec.controllers[0].target.type: type Pather: want Updater, Patcher; did you mean Patcher?',
    ]);
  });

  it('checks the pipelines of all controllers, in the order of the file', () => {
    const text = `
controllers:
  - name: form
    sources: [{ apiGroup: "", kind: Pod, typ: Watcher }]
    pipeline: [{ '@sellect': true }]
    target: { kind: A }
  - name: pipeline
    sources: [{ apiGroup: "", kind: Pod }, { apiGroup: "", kind: Node }]
    pipeline: [{ '@project': { metadata: { name: { '@concatt': [a] } } } }]
    target: { kind: B, type: Pather }
  - name: unreadable
    sources: [{ apiGroup: "" }]
    pipeline: [{ '@sellect': true }]
    target: { kind: C }
`;
    const places = problemsOf(text).map((line) => line.split(': ').slice(0, 2).join(' '));
    expect(places).to.deep.equal([
      'operator.yaml:4:47 controllers[0].sources[0].typ',
      'operator.yaml:5:30 controllers[0].pipeline[0]["@sellect"]',
      'operator.yaml:9:15 controllers[1].pipeline',
      'operator.yaml:9:64 controllers[1].pipeline[0]["@project"].metadata.name["@concatt"]',
      'operator.yaml:10:30 controllers[1].target.type',
      'operator.yaml:12:15 controllers[2].sources[0].kind',
    ]);
    expect(problemsOf(text)[1]).to.include('did you mean @select?');
  });

  for (const [what, text, want] of [
    [
      'a text without an operator',
      'kind: Pod',
      'there is no operator: want a document with kind: Operator, or with controllers',
    ],
    [
      'an operator without controllers',
      'controllers: []',
      'controllers: controllers: want a list with at least one entry',
    ],
    [
      'a controller that is a string',
      'controllers: [a]',
      'controllers[0]: want a map with name, sources, pipeline, target',
    ],
    [
      'a controller without a name',
      controller({ name: '' }),
      'controllers[0].name: name is missing: want a string',
    ],
    [
      'a controller without sources',
      controller({ sources: [] }),
      'controllers[0].sources: sources: want a list with at least one entry',
    ],
    [
      'a controller without a target',
      controller({ target: undefined }),
      'controllers[0].target: want a map with apiGroup, version, kind, type',
    ],
    [
      'a source without a kind',
      controller({ sources: [{ apiGroup: '' }] }),
      'controllers[0].sources[0].kind: kind is missing: want a string',
    ],
    [
      'a kind that is a number',
      controller({ target: { kind: 1 } }),
      'controllers[0].target.kind: kind is missing: want a string',
    ],
    [
      'an invalid period',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: { period: '5 min' } }] }),
      'controllers[0].sources[0].parameters.period: period "5 min": want a duration of 10ms at least, for example 30s or 5m',
    ],
    [
      'an unknown parameter of a Periodic source',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: { perid: '5m' } }] }),
      'controllers[0].sources[0].parameters.perid: unknown field perid; want period; did you mean period?',
    ],
    [
      'parameters that are not a map',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: '5m' }] }),
      'controllers[0].sources[0].parameters: want a map with period',
    ],
    [
      'two sources of one name after a Periodic one',
      controller({
        sources: [
          { kind: 'T', type: 'Periodic' },
          { apiGroup: '', kind: 'Pod' },
          { kind: 'A', as: 'Pod' },
        ],
        pipeline: [{ '@join': true }],
      }),
      'controllers[0].sources[2].as: another source is called Pod already: give this one another alias; did you mean as: Pod2?',
    ],
    [
      'a negative period',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: { period: '-1s' } }] }),
      'controllers[0].sources[0].parameters.period: period "-1s": want a duration of 10ms at least, for example 30s or 5m',
    ],
    [
      'a too short period',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: { period: '1ns' } }] }),
      'controllers[0].sources[0].parameters.period: period "1ns": want a duration of 10ms at least, for example 30s or 5m',
    ],
    [
      'an unknown predicate',
      controller({ sources: [{ kind: 'T', predicate: 'GenerationChange' }] }),
      'controllers[0].sources[0].predicate: unknown predicate GenerationChange; want GenerationChanged, ResourceVersionChanged, LabelChanged, AnnotationChanged; did you mean GenerationChanged?',
    ],
    [
      'a predicate with the name of a property of every object',
      controller({ sources: [{ kind: 'T', predicate: { constructor: [] } }] }),
      'controllers[0].sources[0].predicate.constructor: unknown combination of predicates constructor; want and, or, not',
    ],
    [
      'a negation of two predicates',
      controller({
        sources: [{ kind: 'T', predicate: { not: ['LabelChanged', 'GenerationChanged'] } }],
      }),
      'controllers[0].sources[0].predicate.not: want one predicate, got 2',
    ],
    [
      'an empty combination of predicates',
      controller({ sources: [{ kind: 'T', predicate: { and: [] } }] }),
      'controllers[0].sources[0].predicate.and: want a list of predicates',
    ],
    [
      'two combinations in one predicate',
      controller({ sources: [{ kind: 'T', predicate: { and: ['LabelChanged'], or: [] } }] }),
      'controllers[0].sources[0].predicate: want a predicate, or one of and, or, not with predicates',
    ],
    [
      'a namespace that is a number',
      controller({ sources: [{ kind: 'T', namespace: 1 }] }),
      'controllers[0].sources[0].namespace: namespace: want a string',
    ],
    [
      'an empty namespace, which no object has',
      controller({ sources: [{ kind: 'T', namespace: '' }] }),
      'controllers[0].sources[0].namespace: namespace is empty: leave it out, or give a string',
    ],
    [
      'an empty version',
      controller({ sources: [{ apiGroup: 'apps', version: '', kind: 'T' }] }),
      'controllers[0].sources[0].version: version is empty: leave it out, or give a string',
    ],
    [
      'a selector that is a string',
      controller({ sources: [{ kind: 'T', labelSelector: 'a=b' }] }),
      'controllers[0].sources[0].labelSelector: want a map with matchLabels, matchExpressions',
    ],
    [
      'a label that is not a string',
      controller({ sources: [{ kind: 'T', labelSelector: { matchLabels: { on: true } } }] }),
      'controllers[0].sources[0].labelSelector.matchLabels.on: true: labels are strings; did you mean "true"?',
    ],
    [
      'labels that are not a map',
      controller({ sources: [{ kind: 'T', labelSelector: { matchLabels: ['a'] } }] }),
      'controllers[0].sources[0].labelSelector.matchLabels: want a map of strings',
    ],
    [
      'a value of a selector that is not a string',
      controller({ sources: [{ kind: 'T', labelSelector: selecting({ values: ['a', 1] }) }] }),
      'controllers[0].sources[0].labelSelector.matchExpressions[0].values[1]: 1: labels are strings; did you mean "1"?',
    ],
    [
      'values that are not a list',
      controller({ sources: [{ kind: 'T', labelSelector: selecting({ values: 'a' }) }] }),
      'controllers[0].sources[0].labelSelector.matchExpressions[0].values: want a list of strings',
    ],
    [
      'a selector without a key',
      controller({ sources: [{ kind: 'T', labelSelector: selecting({ key: null }) }] }),
      'controllers[0].sources[0].labelSelector.matchExpressions[0].key: key is missing: want a string',
    ],
    [
      'a selector without values',
      controller({ sources: [{ kind: 'T', labelSelector: selecting({}) }] }),
      `controllers[0].sources[0].labelSelector: label selector {"matchExpressions":[{"key":"a","operator":"In","values":[]}]}: values: Invalid value: for 'in', 'notin' operators, values set can't be empty`,
    ],
    [
      'expressions that are not a list',
      controller({ sources: [{ kind: 'T', labelSelector: { matchExpressions: { key: 'a' } } }] }),
      'controllers[0].sources[0].labelSelector.matchExpressions: want a list of maps with key, operator, values',
    ],
    [
      'a selector with an unknown operator',
      controller({
        sources: [
          { kind: 'T', labelSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } },
        ],
      }),
      'controllers[0].sources[0].labelSelector: label selector {"matchExpressions":[{"key":"a","operator":"Is","values":[]}]}: operator Is of a: want In, NotIn, Exists or DoesNotExist',
    ],
    [
      'a source that is a string',
      controller({ sources: ['Pod'] }),
      'controllers[0].sources[0]: want a map with apiGroup, version, kind, type, as, namespace, labelSelector, predicate, parameters',
    ],
    [
      'a source that is null',
      controller({ sources: [null] }),
      'controllers[0].sources[0]: want a map with apiGroup, version, kind, type, as, namespace, labelSelector, predicate, parameters',
    ],
    [
      'a target with a field too many',
      controller({ target: { kind: 'V', as: 'v' } }),
      'controllers[0].target.as: unknown field as; want apiGroup, version, kind, type',
    ],
    [
      'a group that is not a string',
      controller({ target: { kind: 'V', apiGroup: 1 } }),
      'controllers[0].target.apiGroup: apiGroup: want a string',
    ],
    [
      'an alias that is not a name',
      controller({ sources: [{ apiGroup: '', kind: 'Pod', as: 'a/b' }] }),
      `controllers[0].sources[0].as: as a/b: "a/b" must be lower case letters, digits and '-', beginning with a letter, ending with no '-'`,
    ],
    [
      'a type that no source has',
      controller({ sources: [{ kind: 'T', type: 'Periodc' }] }),
      'controllers[0].sources[0].type: type Periodc: want Watcher, OneShot, Periodic; did you mean Periodic?',
    ],
    [
      'a predicate that is a number',
      controller({ sources: [{ kind: 'T', predicate: 1 }] }),
      'controllers[0].sources[0].predicate: want a predicate, or one of and, or, not with predicates',
    ],
    [
      'an empty predicate',
      controller({ sources: [{ kind: 'T', predicate: {} }] }),
      'controllers[0].sources[0].predicate: want a predicate, or one of and, or, not with predicates',
    ],
    [
      'a misspelled combination of predicates',
      controller({ sources: [{ kind: 'T', predicate: { nott: 'LabelChanged' } }] }),
      'controllers[0].sources[0].predicate.nott: unknown combination of predicates nott; want and, or, not; did you mean not?',
    ],
    [
      'a combination that is not a list',
      controller({ sources: [{ kind: 'T', predicate: { Or: 'LabelChanged' } }] }),
      'controllers[0].sources[0].predicate.Or: want a list of predicates',
    ],
    [
      'an unknown predicate in a combination',
      controller({ sources: [{ kind: 'T', predicate: { or: ['LabelChanged', 'Never'] } }] }),
      'controllers[0].sources[0].predicate.or[1]: unknown predicate Never; want GenerationChanged, ResourceVersionChanged, LabelChanged, AnnotationChanged',
    ],
    [
      'an unknown predicate in a negation',
      controller({ sources: [{ kind: 'T', predicate: { not: ['Never'] } }] }),
      'controllers[0].sources[0].predicate.not[0]: unknown predicate Never; want GenerationChanged, ResourceVersionChanged, LabelChanged, AnnotationChanged',
    ],
    [
      'an expression that is a string',
      controller({ sources: [{ kind: 'T', labelSelector: { matchExpressions: ['a'] } }] }),
      'controllers[0].sources[0].labelSelector.matchExpressions[0]: want a map with key, operator, values',
    ],
    [
      'an expression without an operator',
      controller({ sources: [{ kind: 'T', labelSelector: selecting({ operator: undefined }) }] }),
      'controllers[0].sources[0].labelSelector.matchExpressions[0].operator: operator is missing: want a string',
    ],
    [
      'a period that is a number',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: { period: 5 } }] }),
      'controllers[0].sources[0].parameters.period: period 5: want a duration of 10ms at least, for example 30s or 5m',
    ],
    [
      'a period just below 10 ms',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: { period: '9.9ms' } }] }),
      'controllers[0].sources[0].parameters.period: period "9.9ms": want a duration of 10ms at least, for example 30s or 5m',
    ],
    [
      'an unknown virtual source',
      controller({ sources: [{ apiGroup: 'source.dcontroller.io', kind: 'Twice' }] }),
      'controllers[0].sources[0].kind: unknown kind Twice in the group source.dcontroller.io; want OneShot, Periodic',
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      const problems = problemsOf(text).map((line) =>
        line.replace(/^operator.yaml(:1:\d+)?: /, ''),
      );
      expect(problems).to.deep.equal([want]);
    });
  }

  it('refuses invalid YAML', () => {
    expect(problemsOf('a: [').join()).to.include('Flow sequence');
  });

  it('reports only the first syntax error of a document, because the parser misreads the rest', () => {
    const text = 'controllers:\n  - { a: $.x[1 }\n    target: { kind: A }\n';
    expect(problemsOf(text)).to.have.length(1);
    expect(problemsOf(text).join()).to.match(/^operator\.yaml:2:13: /);
    expect(problemsOf(`${text}---\n${text}`)).to.have.length(2);
  });

  it('reports each repeated key and each wrong value of a YAML document', () => {
    const text = 'controllers: []\ncontrollers: []\nkind: .inf\nkind: B\nname: .nan\n';
    expect(problemsOf(text).map((line) => line.slice(0, 17))).to.deep.equal([
      'operator.yaml:2:1',
      'operator.yaml:3:7',
      'operator.yaml:4:1',
      'operator.yaml:5:7',
    ]);
  });

  for (const [written, predicate] of [
    ['GENERATIONCHANGED', { type: 'basic', name: 'GenerationChanged' }],
    ['annotationsChanged', { type: 'basic', name: 'AnnotationChanged' }],
    ['labelsChanged', { type: 'basic', name: 'LabelChanged' }],
    ['labelchanged', { type: 'basic', name: 'LabelChanged' }],
    [{ BasicPredicate: 'annotationChanged' }, { type: 'basic', name: 'AnnotationChanged' }],
    [
      { BoolPredicate: { Not: { basicPredicate: 'LabelChanged' } } },
      { type: 'not', predicate: { type: 'basic', name: 'LabelChanged' } },
    ],
    [
      { OR: ['LabelChanged', { and: ['GenerationChanged'] }] },
      {
        type: 'or',
        predicates: [
          { type: 'basic', name: 'LabelChanged' },
          { type: 'and', predicates: [{ type: 'basic', name: 'GenerationChanged' }] },
        ],
      },
    ],
  ] as const) {
    it(`reads the predicate ${JSON.stringify(written)}`, () => {
      const text = controller({ sources: [{ kind: 'T', predicate: written }] });
      const [operator] = loadOperators(text, 'one.json');
      expect(operator?.spec.controllers[0]?.sources[0]?.predicate).to.deep.equal(predicate);
    });
  }

  it('refuses duplicate controller names, and more than 255 controllers', () => {
    const one = { name: 'a', sources: [{ kind: 'A' }], target: { kind: 'B' } };
    const twins = JSON.stringify({ controllers: [one, one] });
    expect(problemsOf(twins).join()).to.include('two controllers are called a');
    const many = Array.from({ length: 256 }, (_, n) => ({ ...one, name: `c${n}` }));
    expect(problemsOf(JSON.stringify({ controllers: many })).join()).to.include('want 255 at most');
  });
});
