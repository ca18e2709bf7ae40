import { expect } from 'chai';
import type { CacheEvent } from '../../lib/cache/informer.js';
import {
  and,
  annotationChanged,
  generationChanged,
  labelChanged,
  labelSelector,
  not,
  onEvents,
  or,
  resourceVersionChanged,
} from '../../lib/controller/kind-source.js';
import type { Predicate } from '../../lib/controller/kind-source.js';
import type { KubernetesObject, ObjectMeta } from '../../lib/object/kubernetes-object.js';

function object(metadata: ObjectMeta): KubernetesObject {
  return { apiVersion: 'v1', kind: 'O', metadata: { name: 'a', uid: 'u', ...metadata } };
}

function updated(before: ObjectMeta, after: ObjectMeta): CacheEvent {
  return { type: 'updated', old: object(before), object: object(after) };
}

function added(metadata: ObjectMeta): CacheEvent {
  return { type: 'added', object: object(metadata), isInInitialList: false };
}

function deleted(metadata: ObjectMeta): CacheEvent {
  return { type: 'deleted', object: object(metadata), finalStateUnknown: false };
}

const cases: readonly (readonly [string, Predicate, CacheEvent, boolean])[] = [
  ['a new generation', generationChanged(), updated({ generation: 1 }, { generation: 2 }), true],
  [
    'the same generation',
    generationChanged(),
    updated({ generation: 1 }, { generation: 1 }),
    false,
  ],
  ['no generation', generationChanged(), updated({}, {}), true],
  [
    'the generation of a recreated object',
    generationChanged(),
    updated({ generation: 1 }, { generation: 1, uid: 'other' }),
    true,
  ],
  ['generations of an addition', generationChanged(), added({ generation: 1 }), true],
  [
    'a new version',
    resourceVersionChanged(),
    updated({ resourceVersion: '1' }, { resourceVersion: '2' }),
    true,
  ],
  [
    'the same version',
    resourceVersionChanged(),
    updated({ resourceVersion: '1' }, { resourceVersion: '1' }),
    false,
  ],
  ['a label', labelChanged(), updated({ labels: { a: '1' } }, { labels: { a: '2' } }), true],
  ['no label', labelChanged(), updated({ labels: { a: '1' } }, { labels: { a: '1' } }), false],
  ['a removed label', labelChanged(), updated({ labels: { a: '1' } }, {}), true],
  ['another label', labelChanged('b'), updated({ labels: { a: '1' } }, {}), false],
  ['the named label', labelChanged('a'), updated({ labels: { a: '1' } }, {}), true],
  ['an annotation', annotationChanged(), updated({}, { annotations: { a: '' } }), true],
  ['another annotation', annotationChanged('b'), updated({}, { annotations: { a: '' } }), false],
  ['a match', labelSelector('app=web'), added({ labels: { app: 'web' } }), true],
  ['no match', labelSelector({ matchLabels: { app: 'web' } }), added({}), false],
  ['a match that ends', labelSelector('app'), updated({ labels: { app: '' } }, {}), true],
  ['and', and(onEvents({}), not(onEvents({}))), added({}), false],
  ['or', or(onEvents({}), not(onEvents({}))), added({}), true],
  ['a kind of event by its function', onEvents({ deleted: () => false }), deleted({}), false],
  ['a kind of event without a function', onEvents({ deleted: () => false }), added({}), true],
];

describe('predicates', () => {
  for (const [what, predicate, event, passes] of cases) {
    it(`${passes ? 'let pass' : 'filter out'}: ${what}`, () => {
      expect(predicate(event)).to.equal(passes);
    });
  }

  it('reject an invalid selector', () => {
    expect(() => labelSelector('a in'))
      .to.throw()
      .with.property('code', 'InvalidSelector');
  });
});
