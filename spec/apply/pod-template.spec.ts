import { expect } from 'chai';
import {
  isRequiredByPods,
  keepsRevision,
  podReferencesOf,
  podTemplateIn,
  withPodTemplate,
} from '../../lib/apply/index.js';

const image = 'registry.example/web:1';

describe('podReferencesOf', () => {
  it('collects each name once from volumes, projected volumes, envFrom and env of all containers', () => {
    const references = podReferencesOf({
      spec: {
        serviceAccountName: 'runner',
        imagePullSecrets: [{ name: 'of-pull' }, { name: 'of-pull' }],
        volumes: [
          { name: 'a', configMap: { name: 'of-volume' } },
          { name: 'b', secret: { secretName: 'of-volume' } },
          { name: 'c', persistentVolumeClaim: { claimName: 'data' } },
          {
            name: 'e',
            csi: { driver: 'csi.example.com', nodePublishSecretRef: { name: 'of-driver' } },
          },
          { name: 'f', cephfs: { monitors: [], secretRef: { name: 'of-mount' } } },
          { name: 'g', azureFile: { shareName: 'a', secretName: 'of-share' } },
          {
            name: 'd',
            projected: {
              sources: [
                { configMap: { name: 'of-projection' } },
                { secret: { name: 'of-projection' } },
                { serviceAccountToken: { path: 'token' } },
              ],
            },
          },
        ],
        initContainers: [
          {
            ...{ name: 'init', image, envFrom: [{ configMapRef: { name: 'of-init' } }] },
            env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'of-init', key: 'a' } } }],
          },
        ],
        containers: [
          {
            ...{ name: 'web', image },
            envFrom: [
              { secretRef: { name: 'of-env-from' } },
              { configMapRef: { name: 'of-volume' } },
            ],
            env: [
              { name: 'A', valueFrom: { configMapKeyRef: { name: 'of-env', key: 'a' } } },
              { name: 'B', value: 'plain' },
              { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            ],
          },
        ],
      },
    });
    expect(references).to.deep.equal({
      configMaps: ['of-volume', 'of-projection', 'of-init', 'of-env'],
      secrets: ['of-volume', 'of-projection', 'of-init', 'of-env-from'],
      nodeSecrets: ['of-pull', 'of-driver', 'of-mount', 'of-share'],
      claims: ['data'],
      serviceAccount: 'runner',
    });
  });
});

describe('isRequiredByPods', () => {
  it('is true if any reference to the object is required, and false if all are optional', () => {
    const reference = (optional?: boolean) => ({
      ...{ name: 'a', key: 'k' },
      ...(optional !== undefined && { optional }),
    });
    const template = (...optional: readonly (boolean | undefined)[]) => ({
      spec: {
        containers: [
          {
            ...{ name: 'web', image },
            env: optional.map((each, n) => ({
              ...{ name: `E${n}`, valueFrom: { configMapKeyRef: reference(each) } },
            })),
          },
        ],
      },
    });
    const needs = (
      kind: 'ConfigMap' | 'Secret',
      name: string,
      ...optional: (boolean | undefined)[]
    ) => isRequiredByPods(template(...optional), { kind, name });
    expect(needs('ConfigMap', 'a', undefined)).to.equal(true);
    expect(needs('ConfigMap', 'a', true, false)).to.equal(true);
    expect(needs('ConfigMap', 'a', true)).to.equal(false);
    expect(needs('Secret', 'a', false)).to.equal(false);
    expect(needs('ConfigMap', 'b', false)).to.equal(false);
    expect(isRequiredByPods({}, { kind: 'ConfigMap', name: 'a' })).to.equal(false);
  });
});

describe('keepsRevision', () => {
  it('is true for a workload with updateStrategy OnDelete, and for a paused Deployment', () => {
    const workload = (kind: string, spec?: object) => ({
      ...{ apiVersion: 'apps/v1', kind, metadata: { name: 'a' } },
      ...(spec !== undefined && { spec }),
    });
    const updateStrategy = { type: 'OnDelete' };
    for (const kind of ['StatefulSet', 'DaemonSet']) {
      expect(keepsRevision(workload(kind, { updateStrategy }))).to.equal(true);
      expect(keepsRevision(workload(kind, { updateStrategy: { type: 'RollingUpdate' } }))).to.equal(
        false,
      );
    }
    expect(keepsRevision(workload('Deployment', { paused: true }))).to.equal(true);
    expect(keepsRevision(workload('StatefulSet', { paused: true }))).to.equal(false);
    expect(keepsRevision(workload('Deployment', { paused: false }))).to.equal(false);
    expect(keepsRevision(workload('Deployment'))).to.equal(false);
  });
});

describe('podTemplateIn', () => {
  it('returns the Job template of a CronJob, and undefined for a kind without a pod template', () => {
    const template = { spec: { containers: [{ name: 'web', image }] } };
    const cronJob = {
      ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'a' } },
      spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } },
    };
    expect(podTemplateIn(cronJob)).to.equal(template);
    const other = { spec: { containers: [] } };
    const replaced = withPodTemplate(cronJob, other);
    expect(podTemplateIn(replaced)).to.equal(other);
    expect(replaced.spec.schedule).to.equal('* * * * *');
    expect(podTemplateIn(cronJob)).to.equal(template);
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    expect(podTemplateIn(configMap)).to.equal(undefined);
  });
});
