import { expect } from 'chai';
import { Api, deployment, deployments, merge } from '../api.js';
import type { Answer } from '../api.js';
import { causeFields, causeMessages } from '../causes.js';

const apps = '/apis/apps/v1/namespaces/default';
const batch = '/apis/batch/v1/namespaces/default';

const container = { name: 'c', image: 'nginx:1.27' };
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container] } };
const selector = { matchLabels: { app: 'a' } };

function statefulSet(spec: object = {}): object {
  return { metadata: { name: 'a' }, spec: { serviceName: 'a', selector, template, ...spec } };
}

function job(spec: object = {}): object {
  const podSpec = { containers: [container], restartPolicy: 'Never' };
  return { metadata: { name: 'a' }, spec: { template: { spec: podSpec }, ...spec } };
}

/** A Deployment of pods with this spec, which bypasses pod admission. */
function running(spec: object): object {
  return deployment('web', {
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container], ...spec } },
  });
}

describe('pod templates', () => {
  it('are validated in PodTemplate objects', async () => {
    const podTemplate = {
      metadata: { name: 'a' },
      template: { spec: { containers: [{ name: 'C' }], restartPolicy: 'Sometimes' } },
    };
    const refused = await new Api().call(
      'POST',
      '/api/v1/namespaces/default/podtemplates',
      podTemplate,
    );
    expect(causeFields(refused)).to.have.members([
      'template.spec.containers[0].name',
      'template.spec.containers[0].image',
      'template.spec.restartPolicy',
    ]);
  });

  it('receive every default of the real server', async () => {
    const probe = { httpGet: { port: 80 } };
    const volumes = [
      { name: 'c', configMap: { name: 'c' } },
      {
        name: 'p',
        projected: {
          sources: [
            { downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'metadata.name' } }] } },
          ],
        },
      },
      { name: 'e' },
    ];
    const containers = [
      { name: 'c', image: 'nginx', ports: [{ containerPort: 80 }], readinessProbe: probe },
    ];
    const body = running({ containers, volumes });
    const { spec } = (await new Api().create(deployments, body)) as unknown as {
      spec: { template: { spec: object } };
    };
    expect(spec.template.spec).to.deep.equal({
      containers: [
        {
          name: 'c',
          image: 'nginx',
          imagePullPolicy: 'Always',
          ports: [{ containerPort: 80, protocol: 'TCP' }],
          readinessProbe: {
            httpGet: { path: '/', port: 80, scheme: 'HTTP' },
            timeoutSeconds: 1,
            periodSeconds: 10,
            successThreshold: 1,
            failureThreshold: 3,
          },
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      volumes: [
        { name: 'c', configMap: { name: 'c', defaultMode: 420 } },
        {
          name: 'p',
          projected: {
            defaultMode: 420,
            sources: [
              {
                downwardAPI: {
                  items: [
                    { path: 'x', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } },
                  ],
                },
              },
            ],
          },
        },
        { name: 'e', emptyDir: {} },
      ],
    });
  });

  const c = 'spec.template.spec.containers';
  const refused: [object, string][] = [
    [{ containers: [] }, c],
    [{ containers: [container, container] }, `${c}[1].name`],
    [{ containers: [{ ...container, name: 'C' }] }, `${c}[0].name`],
    [{ containers: [{ name: 'c' }] }, `${c}[0].image`],
    [{ containers: [{ ...container, env: [{ name: '1=2' }] }] }, `${c}[0].env[0].name`],
    [
      { containers: [{ ...container, ports: [{ containerPort: 0 }] }] },
      `${c}[0].ports[0].containerPort`,
    ],
    [
      { containers: [{ ...container, volumeMounts: [{ name: 'no', mountPath: '/x' }] }] },
      `${c}[0].volumeMounts[0].name`,
    ],
    [
      {
        containers: [{ ...container, resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }],
      },
      `${c}[0].resources.requests`,
    ],
    [
      {
        containers: [
          { ...container, livenessProbe: { successThreshold: 2, exec: { command: ['x'] } } },
        ],
      },
      `${c}[0].livenessProbe.successThreshold`,
    ],
    [
      { volumes: [{ name: 'v', emptyDir: {}, configMap: { name: 'x' } }] },
      'spec.template.spec.volumes[0].configMap',
    ],
    [{ restartPolicy: 'Never' }, 'spec.template.spec.restartPolicy'],
    [{ terminationGracePeriodSeconds: -1, dnsPolicy: 'Odd' }, 'spec.template.spec.dnsPolicy'],
  ];
  for (const [spec, field] of refused) {
    it(`are refused with ${JSON.stringify(spec).slice(0, 100)}`, async () => {
      const answer = await new Api().call('POST', deployments, running(spec));
      expect(answer.code).to.equal(422);
      expect(causeFields(answer)).to.include(field);
    });
  }
});

describe('Deployments', () => {
  it('warn about their pod template when the generation changes', async () => {
    const api = new Api();
    const spread = { maxSkew: 1, topologyKey: 't', whenUnsatisfiable: 'DoNotSchedule' };
    await api.create(deployments, running({ topologySpreadConstraints: [spread] }));
    const change = (patch: object) => api.call('PATCH', `${deployments}/web`, patch, merge);
    const scaled = await change({ spec: { replicas: 3 } });
    expect(scaled.headers['warning']).to.match(/null labelSelector results in matching no pod/);
    const labelled = await change({ metadata: { labels: { a: 'b' } } });
    expect(labelled.headers).not.to.have.property('warning');
  });

  it('require an immutable selector that matches the labels of their template', async () => {
    const api = new Api();
    const none = deployment('web', { selector: { matchLabels: {} } });
    expect(causeFields(await api.call('POST', deployments, none))).to.include('spec.selector');
    const other = deployment('web', { selector: { matchLabels: { app: 'other' } } });
    expect(causeMessages(await api.call('POST', deployments, other))).to.deep.equal({
      'spec.template.metadata.labels':
        'Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    });
    await api.create(deployments, deployment('web'));
    const patch = {
      spec: {
        selector: { matchLabels: { tier: 'x' } },
        template: { metadata: { labels: { tier: 'x' } } },
      },
    };
    const answer = await api.call('PATCH', `${deployments}/web`, patch, merge);
    expect(causeMessages(answer)['spec.selector']).to.match(/: field is immutable$/);
  });

  it('must not set both maxSurge and maxUnavailable to 0', async () => {
    const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } };
    const answer = await new Api().call('POST', deployments, deployment('web', { strategy }));
    expect(causeFields(answer)).to.deep.equal(['spec.strategy.rollingUpdate.maxUnavailable']);
  });
});

describe('StatefulSets', () => {
  it('refuse a change of serviceName, but accept changes of replicas and minReadySeconds', async () => {
    const api = new Api();
    await api.create(`${apps}/statefulsets`, statefulSet());
    const allowed = { spec: { replicas: 3, minReadySeconds: 4 } };
    expect((await api.call('PATCH', `${apps}/statefulsets/a`, allowed, merge)).code).to.equal(200);
    const patch = { spec: { serviceName: 'b' } };
    const answer = await api.call('PATCH', `${apps}/statefulsets/a`, patch, merge);
    expect(causeMessages(answer)['spec']).to.match(
      /^Forbidden: updates to statefulset spec for fields other than 'replicas', .*'minReadySeconds' are forbidden$/,
    );
  });

  it('receive defaults for their policies and claims', async () => {
    const volumeClaimTemplates = [
      {
        metadata: { name: 'd' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
      },
    ];
    const body = statefulSet({ volumeClaimTemplates });
    const created = await new Api().create(`${apps}/statefulsets`, body);
    expect(created['spec']).to.deep.include({
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      replicas: 1,
      revisionHistoryLimit: 10,
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'd' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
            volumeMode: 'Filesystem',
          },
          status: { phase: 'Pending' },
        },
      ],
    });
  });
});

describe('Jobs', () => {
  it('accept a change of completions only together with parallelism if they are indexed', async () => {
    const api = new Api();
    const path = `${batch}/jobs/a`;
    const indexed = { suspend: true, completionMode: 'Indexed', completions: 3, parallelism: 2 };
    await api.create(`${batch}/jobs`, job(indexed));
    const patched = (spec: object): Promise<Answer> => api.call('PATCH', path, { spec }, merge);
    expect((await patched({ completions: 4 })).body.message).to.equal(
      'Job.batch "a" is invalid: spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism',
    );
    expect((await patched({ completions: 4, parallelism: 4 })).code).to.equal(200);
    const huge = await patched({ completions: 200_000, parallelism: 200_000 });
    // The real server reports each problem of an updated spec twice.
    expect(causeFields(huge)).to.deep.equal(['spec.parallelism', 'spec.parallelism']);
    const failing = await patched({ backoffLimitPerIndex: 1, maxFailedIndexes: 5 });
    expect(causeFields(failing)).to.include('spec.maxFailedIndexes');
  });

  it('report an index that is both completed and failed, also among many indexes', async () => {
    const api = new Api();
    const ofIndexes = { backoffLimitPerIndex: 1, maxFailedIndexes: 1 };
    const indexed = { completionMode: 'Indexed', completions: 400_000, parallelism: 1 };
    await api.create(`${batch}/jobs`, job({ ...indexed, ...ofIndexes }));
    const even = Array.from({ length: 150_000 }, (_, index) => 2 * index);
    const last = 299_999;
    const status = {
      completedIndexes: [...even, last].join(','),
      failedIndexes: even.map((index) => index + 1).join(','),
    };
    const answer = await api.call('PATCH', `${batch}/jobs/a/status`, { status }, merge);
    expect(answer.body.message).to.match(
      /failedIndexes and completedIndexes overlap at index: 299999/,
    );
  });

  it('select their pods by the uid of the Job', async () => {
    const created = await new Api().create(`${batch}/jobs`, job());
    const { uid = '' } = created.metadata;
    const { spec } = created as unknown as { spec: { selector: object; template: object } };
    const label = { 'batch.kubernetes.io/controller-uid': uid };
    expect(spec.selector).to.deep.equal({ matchLabels: label });
    expect(spec.template).to.deep.include({
      metadata: {
        labels: {
          ...label,
          'batch.kubernetes.io/job-name': 'a',
          'controller-uid': uid,
          'job-name': 'a',
        },
      },
    });
  });

  it('keep their pods when deleted without a propagation policy, with a warning', async () => {
    const api = new Api();
    await api.create(`${batch}/jobs`, job());
    const deleted = await api.call('DELETE', `${batch}/jobs/a`);
    expect(deleted.headers['warning']).to.match(/child pods are preserved by default/);
    expect(deleted.body.metadata.finalizers).to.deep.equal(['orphan']);
    const again = await api.call('DELETE', `${batch}/jobs/a`, { propagationPolicy: 'Background' });
    expect(again.headers).not.to.have.property('warning');
  });

  it('have an immutable template', async () => {
    const api = new Api();
    await api.create(`${batch}/jobs`, job());
    const patch = { spec: { template: { spec: { containers: [{ ...container, image: 'x' }] } } } };
    const answer = await api.call('PATCH', `${batch}/jobs/a`, patch, merge);
    expect(causeMessages(answer)['spec.template']).to.match(/: field is immutable$/);
  });

  it('accept scheduling directives, resources and labels in their template while suspended', async () => {
    const api = new Api();
    await api.create(`${batch}/jobs`, job({ suspend: true }));
    const required = { nodeSelectorTerms: [{ matchFields: [] }] };
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
    const templates = [
      { spec: { nodeSelector: { disk: 'ssd' } } },
      { spec: { affinity: { nodeAffinity } } },
      { spec: { affinity: null } },
      { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } },
      { spec: { schedulingGates: [{ name: 'example.com/a' }] } },
      { spec: { containers: [{ ...container, resources: { requests: { cpu: '1' } } }] } },
      { metadata: { labels: { team: 'a' }, annotations: { note: 'b' } } },
    ];
    for (const template of templates) {
      const patch = { spec: { template } };
      const { code, text } = await api.call('PATCH', `${batch}/jobs/a`, patch, merge);
      expect(code, text).to.equal(200);
    }
  });

  for (const spec of [
    { containers: [{ ...container, image: 'x' }] },
    { containers: [container, { ...container, name: 'd' }] },
    { restartPolicy: 'OnFailure' },
    { affinity: { podAffinity: {} } },
  ]) {
    it(`refuse ${JSON.stringify(spec)} in their template while suspended`, async () => {
      const api = new Api();
      await api.create(`${batch}/jobs`, job({ suspend: true }));
      const answer = await api.call(
        'PATCH',
        `${batch}/jobs/a`,
        { spec: { template: { spec } } },
        merge,
      );
      expect(causeMessages(answer)['spec.template.spec']).to.match(/: field is immutable$/);
    });
  }

  it('have an immutable template while they are suspended and a pod is still active', async () => {
    const api = new Api();
    await api.create(`${batch}/jobs`, job({ suspend: true }));
    const patch = { spec: { template: { spec: { nodeSelector: { disk: 'ssd' } } } } };
    const patched = async (status: object): Promise<Answer> => {
      await api.call('PATCH', `${batch}/jobs/a/status`, { status }, merge);
      return api.call('PATCH', `${batch}/jobs/a`, patch, merge);
    };
    const startTime = '2026-01-01T00:00:00Z';
    const conditions = [{ type: 'Suspended', status: 'True' }];
    for (const status of [{ startTime }, { conditions, active: 1 }]) {
      expect(causeFields(await patched(status))).to.deep.equal(['spec.template']);
    }
    expect((await patched({ active: null })).code).to.equal(200);
  });

  it('refuse the restart policy Always', async () => {
    const body = job({ template: { spec: { containers: [container] } } });
    const answer = await new Api().call('POST', `${batch}/jobs`, body);
    expect(causeFields(answer)).to.include('spec.template.spec.restartPolicy');
  });
});

describe('the subresource scale', () => {
  it('reads and writes the replicas of a workload', async () => {
    const api = new Api();
    await api.create(deployments, deployment('web'));
    const { body } = await api.get(`${deployments}/web/scale`);
    expect(body).to.deep.include({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 1 },
      status: { replicas: 0, selector: 'app=web' },
    });
    await api.call('PATCH', `${deployments}/web/scale`, { spec: { replicas: 3 } }, merge);
    expect((await api.get(`${deployments}/web`)).body).to.have.nested.property('spec.replicas', 3);
    const wrong = { spec: { replicas: -1 } };
    const answer = await api.call('PATCH', `${deployments}/web/scale`, wrong, merge);
    expect(causeFields(answer)).to.deep.equal(['spec.replicas']);
  });
});
