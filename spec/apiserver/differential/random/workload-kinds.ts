import fc from 'fast-check';
import {
  conditions,
  few,
  labels,
  members,
  of,
  podSpec,
  selector,
  small,
  template,
  word,
} from './arbitraries.js';
import type { Body } from './arbitraries.js';
import { builtIn, spec } from './random-kind.js';
import type { RandomKind } from './random-kind.js';

/** The kinds of workloads. */
export const workloads: readonly RandomKind[] = [
  builtIn(
    { kind: 'Deployment', plural: 'deployments', hasScale: true },
    {
      apiVersion: 'apps/v1',
      fields: spec(
        members(
          { selector, template },
          {
            ...{ replicas: small, minReadySeconds: small, paused: fc.boolean() },
            ...{ revisionHistoryLimit: small },
            strategy: of<Body>(
              { type: 'Recreate' },
              { type: 'RollingUpdate' },
              {},
              { rollingUpdate: { maxSurge: 1 } },
              { type: 'RollingUpdate', rollingUpdate: { maxSurge: '50%', maxUnavailable: 0 } },
            ),
          },
        ),
      ),
      status: members(
        {},
        {
          ...{ replicas: small, readyReplicas: small, observedGeneration: small },
          conditions: conditions({ reason: word }),
        },
      ),
    },
  ),
  builtIn(
    { kind: 'StatefulSet', plural: 'statefulsets', hasScale: true },
    {
      apiVersion: 'apps/v1',
      fields: spec(
        members(
          { selector, template, serviceName: of('s') },
          {
            ...{ replicas: small, minReadySeconds: small },
            podManagementPolicy: of('OrderedReady', 'Parallel'),
            updateStrategy: of<Body>(
              {},
              { type: 'OnDelete' },
              { rollingUpdate: { partition: 1 } },
              { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
            ),
            persistentVolumeClaimRetentionPolicy: members(
              {},
              { whenDeleted: of('Retain', 'Delete'), whenScaled: of('Retain', 'Delete') },
            ),
            ordinals: members({}, { start: small }),
            volumeClaimTemplates: of<readonly Body[]>(
              [],
              [
                {
                  metadata: { name: 'data' },
                  spec: {
                    accessModes: ['ReadWriteOnce'],
                    resources: { requests: { storage: '1Gi' } },
                  },
                },
              ],
            ),
          },
        ),
      ),
      status: members(
        {},
        { replicas: small, readyReplicas: small, currentRevision: word, conditions: conditions() },
      ),
    },
  ),
  builtIn(
    { kind: 'Job', plural: 'jobs' },
    {
      apiVersion: 'batch/v1',
      fields: spec(
        members(
          {
            template: podSpec.map((pod) => ({
              metadata: { labels },
              spec: { restartPolicy: 'Never', ...pod },
            })),
          },
          {
            ...{ parallelism: small, completions: small, backoffLimit: small },
            ...{ suspend: fc.boolean(), activeDeadlineSeconds: of(10, 20) },
            ttlSecondsAfterFinished: small,
            podFailurePolicy: of<Body>(
              { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [1, 2] } }] },
              { rules: [] },
            ),
          },
        ),
      ),
      status: members({}, { active: small, failed: small, conditions: conditions() }),
    },
  ),
  builtIn(
    { kind: 'CronJob', plural: 'cronjobs' },
    {
      apiVersion: 'batch/v1',
      fields: spec(
        members(
          {
            schedule: of('* * * * *', '@hourly'),
            jobTemplate: podSpec.map((pod) => ({
              spec: { template: { spec: { restartPolicy: 'OnFailure', ...pod } } },
            })),
          },
          {
            ...{ suspend: fc.boolean(), concurrencyPolicy: of('Allow', 'Forbid') },
            ...{ successfulJobsHistoryLimit: small, timeZone: of('Etc/UTC') },
          },
        ),
      ),
      status: members(
        {},
        {
          lastScheduleTime: of('2026-01-01T00:00:00Z'),
          active: few(members({ name: word }, { kind: of('Job') })),
        },
      ),
    },
  ),
  builtIn(
    { kind: 'Pod', plural: 'pods' },
    {
      apiVersion: 'v1',
      fields: spec(
        fc
          .tuple(podSpec, members({}, { activeDeadlineSeconds: of(5, 6) }))
          .map(([pod, more]) => ({ ...pod, ...more })),
      ),
      status: members(
        {},
        {
          ...{ phase: of('Pending', 'Running'), conditions: conditions(), message: word },
          podIPs: few(members({ ip: of('10.1.0.1', '10.1.0.2') }), 1),
          containerStatuses: few(
            members({ name: of('c', 'd'), ready: fc.boolean() }, { restartCount: small }),
          ),
        },
      ),
    },
  ),
];
