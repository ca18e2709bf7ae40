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

describe('loadOperators', () => {
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

  it('reads all fields, and skips other objects', () => {
    const [operator, ...others] = loadOperators(whole, 'operator.yaml');
    expect(others).to.have.length(0);
    expect(operator?.name).to.equal('svc-health');
    const [pods] = operator?.spec.controllers ?? [];
    expect(pods?.target).to.deep.include({ apiGroup: '', kind: 'Service', type: 'Patcher' });
    const [pod, health, tick, once] = pods?.sources ?? [];
    expect(pod).to.deep.include({ apiGroup: '', kind: 'Pod', type: 'Watcher', namespace: 'shop' });
    expect(pod?.predicate).to.deep.equal({
      type: 'and',
      predicates: [
        { type: 'basic', name: 'ResourceVersionChanged' },
        { type: 'not', predicate: { type: 'basic', name: 'LabelChanged' } },
      ],
    });
    expect(health).to.deep.include({ apiGroup: undefined, as: 'health' });
    expect(tick).to.deep.include({ type: 'Periodic', periodMs: 90_000 });
    expect(once).to.deep.include({ type: 'OneShot', periodMs: 0 });
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

  it('reads virtual sources by their group', () => {
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

  it('accepts a bare list of controllers, in YAML or JSON', () => {
    const [operator] = loadOperators(controller({}), 'one.json');
    expect(operator?.name).to.equal(undefined);
    expect(operator?.spec.controllers).to.have.length(1);
  });

  it('defaults the period to five minutes', () => {
    for (const more of [{}, { parameters: {} }]) {
      const source = { kind: 'T', type: 'Periodic', ...more };
      const [operator] = loadOperators(controller({ sources: [source] }), 'one.json');
      expect(operator?.spec.controllers[0]?.sources[0]?.periodMs).to.equal(300_000);
    }
  });

  it('reports all problems with file, line, path and suggestion', () => {
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
    ['invalid YAML', 'a: [', 'Flow sequence'],
    ['a text without an operator', 'kind: Pod', 'there is no operator'],
    ['no controllers', 'controllers: []', 'want a list with at least one entry'],
    ['a controller that is a string', 'controllers: [a]', 'want a map with name'],
    ['a controller without a name', controller({ name: '' }), 'name is missing'],
    ['no sources', controller({ sources: [] }), 'sources: want a list'],
    ['no target', controller({ target: undefined }), 'want a map with apiGroup'],
    ['a source without a kind', controller({ sources: [{ apiGroup: '' }] }), 'kind is missing'],
    ['a kind that is a number', controller({ target: { kind: 1 } }), 'kind is missing'],
    [
      'an invalid period',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: { period: '5 min' } }] }),
      'period "5 min": want a duration',
    ],
    [
      'an unknown parameter of a Periodic source',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: { perid: '5m' } }] }),
      'did you mean period?',
    ],
    [
      'parameters that are not a map',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: '5m' }] }),
      'want a map with period',
    ],
    [
      'a negative period',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: { period: '-1s' } }] }),
      'period "-1s": want a duration of 10ms at least',
    ],
    [
      'a too short period',
      controller({ sources: [{ kind: 'T', type: 'Periodic', parameters: { period: '1ns' } }] }),
      'period "1ns": want a duration of 10ms at least',
    ],
    [
      'an unknown predicate',
      controller({ sources: [{ kind: 'T', predicate: 'GenerationChange' }] }),
      'did you mean GenerationChanged?',
    ],
    [
      'a predicate with the name of a property of every object',
      controller({ sources: [{ kind: 'T', predicate: { constructor: [] } }] }),
      'unknown combination of predicates constructor',
    ],
    [
      'a negation of two predicates',
      controller({
        sources: [{ kind: 'T', predicate: { not: ['LabelChanged', 'GenerationChanged'] } }],
      }),
      'want one predicate, got 2',
    ],
    [
      'an empty combination of predicates',
      controller({ sources: [{ kind: 'T', predicate: { and: [] } }] }),
      'want a list of predicates',
    ],
    [
      'two combinations in one predicate',
      controller({ sources: [{ kind: 'T', predicate: { and: ['LabelChanged'], or: [] } }] }),
      'want a predicate, or one of and, or, not',
    ],
    [
      'a namespace that is a number',
      controller({ sources: [{ kind: 'T', namespace: 1 }] }),
      'namespace: want a string',
    ],
    [
      'an empty namespace, which no object has',
      controller({ sources: [{ kind: 'T', namespace: '' }] }),
      'namespace is empty: leave it out',
    ],
    [
      'an empty version',
      controller({ sources: [{ apiGroup: 'apps', version: '', kind: 'T' }] }),
      'version is empty: leave it out',
    ],
    [
      'a selector that is a string',
      controller({ sources: [{ kind: 'T', labelSelector: 'a=b' }] }),
      'want a map with matchLabels, matchExpressions',
    ],
    [
      'a label that is not a string',
      controller({ sources: [{ kind: 'T', labelSelector: { matchLabels: { on: true } } }] }),
      'labelSelector.matchLabels.on: true: labels are strings; did you mean "true"?',
    ],
    [
      'labels that are not a map',
      controller({ sources: [{ kind: 'T', labelSelector: { matchLabels: ['a'] } }] }),
      'labelSelector.matchLabels: want a map of strings',
    ],
    [
      'a value of a selector that is not a string',
      controller({ sources: [{ kind: 'T', labelSelector: selecting({ values: ['a', 1] }) }] }),
      'labelSelector.matchExpressions[0].values[1]: 1: labels are strings; did you mean "1"?',
    ],
    [
      'values that are not a list',
      controller({ sources: [{ kind: 'T', labelSelector: selecting({ values: 'a' }) }] }),
      'labelSelector.matchExpressions[0].values: want a list of strings',
    ],
    [
      'a selector without a key',
      controller({ sources: [{ kind: 'T', labelSelector: selecting({ key: null }) }] }),
      'key is missing: want a string',
    ],
    [
      'a selector without values',
      controller({ sources: [{ kind: 'T', labelSelector: selecting({}) }] }),
      "for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      'expressions that are not a list',
      controller({ sources: [{ kind: 'T', labelSelector: { matchExpressions: { key: 'a' } } }] }),
      'labelSelector.matchExpressions: want a list of maps with key, operator, values',
    ],
    [
      'a selector with an unknown operator',
      controller({
        sources: [
          { kind: 'T', labelSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } },
        ],
      }),
      'labelSelector',
    ],
    [
      'an unknown virtual source',
      controller({ sources: [{ apiGroup: 'source.dcontroller.io', kind: 'Twice' }] }),
      'unknown virtual source Twice',
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(problemsOf(text).join('\n')).to.include(want);
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
