import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { isImmutablePath } from '../../lib/apply/index.js';
import type { Client } from '../../lib/client/index.js';
import { isApiError } from '../../lib/object/index.js';
import type { UnstructuredObject } from '../../lib/object/index.js';

interface Case {
  readonly object: UnstructuredObject;
  /** New values for fields of `spec`. */
  readonly changes: Readonly<Record<string, unknown>>;
  readonly immutable: readonly string[];
}

const metadata = { namespace: 'default', name: 'a' };

function jobs(): Case {
  const template = {
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'main:1' }] },
  };
  const onExitCodes = { containerName: 'main', operator: 'In', values: [1] };
  const object = {
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata },
    spec: {
      ...{ completions: 3, parallelism: 1, completionMode: 'Indexed', suspend: false, template },
      ...{ backoffLimit: 4, backoffLimitPerIndex: 1, maxFailedIndexes: 1 },
      ...{ podReplacementPolicy: 'Failed', successPolicy: { rules: [{ succeededCount: 1 }] } },
      ...{ activeDeadlineSeconds: 9, ttlSecondsAfterFinished: 9 },
    },
  };
  const changes = {
    ...{ completions: 4, parallelism: 2, completionMode: 'NonIndexed', suspend: true },
    template: { spec: { terminationGracePeriodSeconds: 3 } },
    ...{ backoffLimit: 5, backoffLimitPerIndex: 2, maxFailedIndexes: 2 },
    ...{ podReplacementPolicy: 'TerminatingOrFailed' },
    successPolicy: { rules: [{ succeededCount: 2 }] },
    podFailurePolicy: { rules: [{ action: 'Ignore', onExitCodes }] },
    ...{ activeDeadlineSeconds: 8, ttlSecondsAfterFinished: 8, managedBy: 'example.com/jobs' },
    selector: { matchLabels: { a: 'b' } },
  };
  const immutable = [
    ...['completions', 'completionMode', 'template', 'backoffLimitPerIndex', 'successPolicy'],
    ...['podFailurePolicy', 'managedBy', 'selector'],
  ];
  return { object, changes, immutable };
}

function statefulSets(): Case {
  const labels = { app: 'a' };
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const object = {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata },
    spec: {
      ...{ selector: { matchLabels: labels }, serviceName: 'a', volumeClaimTemplates: [claim] },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'a' }] } },
    },
  };
  const changes = {
    ...{ serviceName: 'b', podManagementPolicy: 'Parallel', volumeClaimTemplates: [] },
    selector: { matchLabels: { b: 'b' } },
    ...{ replicas: 3, minReadySeconds: 4, revisionHistoryLimit: 5, ordinals: { start: 2 } },
    template: { spec: { terminationGracePeriodSeconds: 3 } },
    updateStrategy: { type: 'OnDelete', rollingUpdate: null },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
  };
  const immutable = ['serviceName', 'podManagementPolicy', 'volumeClaimTemplates', 'selector'];
  return { object, changes, immutable };
}

/** Returns the changed fields that the server refuses. */
async function refusedFields(
  client: Client,
  { object, changes }: Case,
): Promise<readonly string[]> {
  await client.create(object);
  const refused: string[] = [];
  for (const [field, value] of Object.entries(changes)) {
    const patch = { type: 'merge', body: { spec: { [field]: value } } } as const;
    try {
      await client.patch(object, metadata, patch, { dryRun: true });
    } catch (error) {
      expect(error, field).to.satisfy(isApiError).and.to.have.property('status', 422);
      refused.push(field);
    }
  }
  return refused;
}

describe('The immutable fields', () => {
  for (const one of [jobs(), statefulSets()]) {
    const { object, changes, immutable } = one;

    it(`of a ${object.kind} are those that the server refuses to change`, async () => {
      const cluster = await EmbeddedCluster.start();
      try {
        expect(await refusedFields(cluster.client(), one)).to.deep.equal(immutable);
      } finally {
        await cluster.stop();
      }
      const known = Object.keys(changes).filter((field) =>
        isImmutablePath(object, `spec.${field}`),
      );
      expect(known).to.deep.equal(immutable);
    });
  }
});
