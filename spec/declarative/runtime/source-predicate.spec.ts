import { expect } from 'chai';
import type { CacheEvent } from '../../../lib/cache/informer.js';
import { sourcePredicate } from '../../../lib/declarative/runtime/document-sources.js';
import { readController } from './controller-scene.js';

/** An update event between two states of metadata. */
function updated(old: object, now: object): CacheEvent {
  const object = (metadata: object) => ({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
    metadata: { name: 'a', uid: '1', generation: 1, resourceVersion: '1', ...metadata },
  });
  return { type: 'updated', old: object(old), object: object(now) };
}

const changes = {
  nothing: updated({}, {}),
  version: updated({}, { resourceVersion: '2' }),
  generation: updated({}, { generation: 2, resourceVersion: '2' }),
  label: updated({}, { labels: { a: '1' }, resourceVersion: '2' }),
  annotation: updated({}, { annotations: { a: '1' }, resourceVersion: '2' }),
};

// The predicate as written, and the changes that pass it.
const cases: readonly (readonly [predicate: unknown, heard: readonly (keyof typeof changes)[]])[] =
  [
    ['GenerationChanged', ['generation']],
    ['generationChanged', ['generation']],
    ['ResourceVersionChanged', ['version', 'generation', 'label', 'annotation']],
    ['LabelChanged', ['label']],
    ['labelsChanged', ['label']],
    ['AnnotationChanged', ['annotation']],
    [{ Or: ['LabelChanged', 'AnnotationChanged'] }, ['label', 'annotation']],
    [
      { and: ['resourceVersionChanged', { or: ['AnnotationChanged', 'LabelChanged'] }] },
      ['label', 'annotation'],
    ],
    [{ And: ['LabelChanged', 'AnnotationChanged'] }, []],
    [{ Not: 'GenerationChanged' }, ['nothing', 'version', 'label', 'annotation']],
    [{ Not: ['GenerationChanged'] }, ['nothing', 'version', 'label', 'annotation']],
    [{ And: [{ Not: ['LabelChanged'] }, 'GenerationChanged'] }, ['generation']],
    [
      { not: { or: ['labelChanged', 'annotationChanged', 'generationChanged'] } },
      ['nothing', 'version'],
    ],
  ];

describe('sourcePredicate, which decides which events a source handles', () => {
  for (const [predicate, heard] of cases) {
    it(`lets updates pass for ${JSON.stringify(predicate)} that change: ${heard.join(', ') || '(none)'}`, () => {
      const { sources } = readController({
        name: 'c',
        sources: [{ apiGroup: 'apps', kind: 'Deployment', predicate }],
        target: { kind: 'V' },
      });
      const spec = sources[0]?.predicate;
      if (spec === undefined) throw new Error('no predicate');
      const matters = sourcePredicate(spec);
      const names = Object.entries(changes).flatMap(([name, event]) =>
        matters(event) ? [name] : [],
      );
      expect(names).to.deep.equal(heard);
    });
  }
});
