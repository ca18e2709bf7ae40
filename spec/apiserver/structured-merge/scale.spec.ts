import { expect } from 'chai';
import {
  fieldManagerUpdate,
  parentManagedFields,
  scaleManagedFields,
} from '../../../lib/apiserver/structured-merge/index.js';
import { fieldPath } from '../../../lib/object/field-path.js';
import type {
  ManagedFieldsEntry,
  UnstructuredObject,
} from '../../../lib/object/kubernetes-object.js';
import { recordings, stepTime } from './scenarios/recording.js';
import type { RecordedStep, Recording } from './scenarios/recording.js';

const replicas = fieldPath('spec', 'replicas');

describe('the field manager returns the managedFields of a Scale that were recorded on a real server', () => {
  for (const recording of ['structures', 'custom'].flatMap(recordings)) {
    if (!recording.steps.some(({ subresource }) => subresource === 'scale')) continue;
    it(recording.title, () => {
      let live: UnstructuredObject | undefined;
      for (const [index, step] of recording.steps.entries()) {
        live = step.before ?? live;
        const after = step.after === 'same' ? live : (step.after ?? live);
        if (step.subresource === 'scale') {
          const got = scaled(recording, { step, index, live: live!, after: after! });
          expect(relevant(got), `step ${index}`).to.deep.equal(
            relevant(after!.metadata.managedFields),
          );
        }
        live = after;
      }
    });
  }
});

interface ScaleStep {
  readonly step: RecordedStep;
  readonly index: number;
  readonly live: UnstructuredObject;
  readonly after: UnstructuredObject;
}

function scaled({ on }: Recording, given: ScaleStep): ManagedFieldsEntry[] | undefined {
  const { live, after, step, index } = given;
  const { apiVersion } = on;
  const paths = new Map([[apiVersion, replicas]]);
  const entries = live.metadata.managedFields;
  const scale = (of: UnstructuredObject): UnstructuredObject => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'x', uid: 'u', managedFields: scaleManagedFields(entries, paths) ?? [] },
    spec: scaleSpec(of['spec'] as { replicas: number }),
  });
  const written = fieldManagerUpdate(scale(live), scale(after), {
    apiVersion: 'autoscaling/v1',
    schema: undefined,
    manager: step.manager,
    subresource: 'scale',
    now: stepTime(index),
  });
  return parentManagedFields(written.metadata.managedFields, { entries, paths, apiVersion });
}

// Go omits a number of 0 from a Scale, so a writer of 0 owns nothing.
function scaleSpec({ replicas: number }: { replicas: number }): object {
  return number === 0 ? {} : { replicas: number };
}

function relevant(entries: readonly ManagedFieldsEntry[] | undefined): unknown[] {
  return (entries ?? []).filter(({ manager }) => manager !== 'kube-controller-manager');
}

describe('parentManagedFields', () => {
  const entry = (manager: string, more: Partial<ManagedFieldsEntry>): ManagedFieldsEntry => ({
    manager,
    operation: 'Apply',
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    ...more,
  });
  const paths = new Map([
    ['apps/v1', replicas],
    ['apps/v1beta1', undefined],
  ]);

  it('keeps entries for versions without a replicas path, and drops entries for unknown versions', () => {
    const entries = [
      entry('none', { apiVersion: 'apps/v1beta1' }),
      entry('gone', { apiVersion: 'extensions/v1beta1' }),
    ];
    const kept = parentManagedFields(undefined, { entries, paths, apiVersion: 'apps/v1' });
    expect(kept?.map(({ manager }) => manager)).to.deep.equal(['none']);
    expect(scaleManagedFields(entries, paths)).to.equal(undefined);
  });

  it('drops an entry that owned only replicas if the Scale no longer has the entry', () => {
    const entries = [entry('op', {})];
    expect(parentManagedFields([], { entries, paths, apiVersion: 'apps/v1' })).to.equal(undefined);
  });

  it('keeps an entry that still owns replicas in the Scale', () => {
    const entries = [entry('op', { time: '2026-01-01T00:00:00Z' })];
    const scale = scaleManagedFields(entries, paths);
    expect(scale?.[0]?.apiVersion).to.equal('autoscaling/v1');
    const kept = parentManagedFields(scale, { entries, paths, apiVersion: 'apps/v1' });
    expect(kept).to.deep.equal(entries);
  });
});
