import { expect } from 'chai';
import type { Condition, KubernetesObject } from '../../lib/object/index.js';
import { commonPauseAnnotations, pauseOf } from '../../lib/status/index.js';

const [ours, common] = Object.keys(commonPauseAnnotations) as [string, string];
const waits = '; its deletion waits until the annotation is gone';

describe('pauseOf, what a pause annotation means for an object and its condition Paused', () => {
  function object(
    annotations: Readonly<Record<string, string>>,
    metadata: Partial<KubernetesObject['metadata']> = {},
  ): KubernetesObject {
    return { apiVersion: 'v1', kind: 'Shop', metadata: { name: 'a', annotations, ...metadata } };
  }
  const byOurs = `annotation ${ours}: "true"`;
  const shown = (message?: string, reason = 'PausedByAnnotation') => ({
    ...{ type: 'Paused', status: 'True' as Condition['status'], reason },
    ...(message !== undefined && { message }),
  });
  const pause = (given: KubernetesObject, ...conditions: ReturnType<typeof shown>[]) =>
    pauseOf(given, conditions, commonPauseAnnotations);

  it('finds that each of the common annotations pauses an object, but only with the value "true"', () => {
    expect(ours).to.equal('operator-builder.io/paused');
    expect(common).to.equal('cluster.x-k8s.io/paused');
    for (const name of [ours, common]) {
      const by = `annotation ${name}: "true"`;
      const update = { type: 'Paused', status: 'True', reason: 'PausedByAnnotation', message: by };
      expect(pause(object({ [name]: 'true' }))).to.deep.equal({ by, update, wasPaused: false });
      const free = { by: undefined, update: undefined, wasPaused: false };
      expect(pause(object({ [name]: 'false' }))).to.deep.equal(free);
    }
  });

  it('names the annotation that comes first in the options, whatever the order in the object', () => {
    expect(pause(object({ [common]: 'true', [ours]: 'true' })).by).to.equal(byOurs);
  });

  it('sets the condition to False when the annotation that it names is removed', () => {
    const update = { type: 'Paused', status: 'False', reason: 'NotPaused' };
    const over = { by: undefined, update, wasPaused: true };
    for (const message of [byOurs, byOurs + waits]) {
      expect(pause(object({}), shown(message))).to.deep.equal(over);
      expect(pause(object({ [ours]: 'false' }), shown(message))).to.deep.equal(over);
    }
    expect(pause(object({}), { ...shown(byOurs), status: 'False' })).to.deep.equal({
      ...{ by: undefined, update: undefined, wasPaused: false },
    });
  });

  it('leaves a condition that another controller wrote with another reason or for another annotation', () => {
    const kept = { by: undefined, update: undefined, wasPaused: true };
    expect(pause(object({}), shown('by hand', 'Maintenance'))).to.deep.equal(kept);
    const frozen = object({ frozen: 'yes' }, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    const theirs = 'annotation frozen: "yes"';
    expect(pause(frozen, shown(theirs))).to.deep.equal(kept);
    expect(pause(frozen, shown(theirs + waits))).to.deep.equal(kept);
  });

  it('returns a condition to write, unless the current condition already names the annotation', () => {
    const paused = object({ [ours]: 'true' });
    const current = { by: byOurs, update: undefined, wasPaused: true };
    expect(pause(paused, shown(byOurs))).to.deep.equal(current);
    for (const old of ['annotation old: "true"', undefined]) {
      expect(pause(paused, shown(old)).update).to.have.property('message', byOurs);
    }
    const resumed = { ...shown(byOurs), status: 'False' } as const;
    expect(pause(paused, resumed).update).to.include({ status: 'True', message: byOurs });
  });

  it('keeps a condition that names another annotation of the object or has another reason', () => {
    const both = object({ [ours]: 'true', frozen: 'yes' });
    const theirs = 'annotation frozen: "yes"';
    expect(pause(both, shown(theirs))).to.deep.equal({
      ...{ by: byOurs, update: undefined, wasPaused: true },
    });
    for (const message of ['by hand', undefined]) {
      expect(pause(both, shown(message, 'Maintenance')).update).to.equal(undefined);
    }
  });

  it('adds once to the condition that the deletion waits, whichever annotation the condition names', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const deleted = object({ [ours]: 'true', frozen: 'yes' }, { deletionTimestamp });
    expect(pause(deleted).update).to.have.property('message', byOurs + waits);
    const theirs = 'annotation frozen: "yes"';
    expect(pause(deleted, shown(theirs)).update).to.have.property('message', theirs + waits);
    for (const message of [byOurs + waits, theirs + waits]) {
      expect(pause(deleted, shown(message)).update).to.equal(undefined);
    }
  });
});
