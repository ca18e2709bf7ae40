import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { Client } from '../../../lib/client/index.js';
import { ApiError } from '../../../lib/object/index.js';
import type { UnstructuredObject } from '../../../lib/object/index.js';

const kind = 'HorizontalPodAutoscaler';
const v1 = { apiVersion: 'autoscaling/v1', kind };
const v2 = { apiVersion: 'autoscaling/v2', kind };
const key = { namespace: 'default', name: 'web' };
const common = {
  scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' },
  ...{ minReplicas: 1, maxReplicas: 3 },
};
const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const behavior = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    policies: [
      { type: 'Percent', value: 50, periodSeconds: 30 },
      { type: 'Pods', value: 4, periodSeconds: 60 },
    ],
  },
  scaleDown: { selectPolicy: 'Disabled' },
};
/** The annotation of the real server (v1.36), with its defaults. */
const behaviorText =
  '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[' +
  '{"Type":"Percent","Value":50,"PeriodSeconds":30},{"Type":"Pods","Value":4,"PeriodSeconds":60}],' +
  '"Tolerance":null},"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Disabled",' +
  '"Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null}}';

describe('the versions v1 and v2 of a HorizontalPodAutoscaler', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start();
    client = cluster.client();
  });

  afterEach(() => cluster.stop());

  const create = (type: object, spec: object): Promise<UnstructuredObject> =>
    client.create({ ...type, metadata: key, spec } as unknown as UnstructuredObject);

  it('have a CPU target of 80% in v2 if v1 sets none', async () => {
    await create(v1, common);
    const { spec, metadata } = await client.get<UnstructuredObject>(v2, key);
    expect(spec).to.deep.equal({ ...common, metrics: [cpu(80)] });
    expect(metadata).not.to.have.property('annotations');
  });

  it('show the CPU target of v1 as a metric of v2', async () => {
    await create(v1, { ...common, targetCPUUtilizationPercentage: 42 });
    const { spec } = await client.get<UnstructuredObject>(v2, key);
    expect(spec).to.deep.equal({ ...common, metrics: [cpu(42)] });
  });

  const createWithMetrics = (text: string): Promise<UnstructuredObject> => {
    const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': text };
    return client.create({ ...v1, metadata: { ...key, annotations }, spec: common });
  };

  for (const text of ['[[1]]', '[{"type":"Pods","pods":1}]']) {
    it(`ignore the annotation of v1 for metrics if it is ${text}`, async () => {
      await createWithMetrics(text);
      const { spec } = await client.get<UnstructuredObject>(v2, key);
      expect(spec).to.deep.equal({ ...common, metrics: [cpu(80)] });
    });
  }

  for (const text of ['[{"__proto__":{"a":1}}]', '[{"type":"Pods","pods":null}]']) {
    it(`refuse the annotation of v1 for metrics if a metric has no source: ${text}`, async () => {
      const error: unknown = await createWithMetrics(text).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ApiError).and.deep.include({ status: 422 });
    });
  }

  it('store the behavior of v2 in an annotation of v1, which an update of v1 keeps', async () => {
    await create(v2, { ...common, metrics: [cpu(70)], behavior });
    const { spec } = await client.get<UnstructuredObject>(v2, key);
    const old = await client.get<UnstructuredObject>(v1, key);
    expect(old['spec']).to.deep.equal({ ...common, targetCPUUtilizationPercentage: 70 });
    expect(old.metadata.annotations).to.deep.equal({
      'autoscaling.alpha.kubernetes.io/behavior': behaviorText,
    });
    const annotations = { ...old.metadata.annotations, mine: 'kept' };
    await client.update({ ...old, metadata: { ...old.metadata, annotations } });
    const updated = await client.get<UnstructuredObject>(v2, key);
    expect(updated['spec']).to.deep.equal(spec);
    expect(updated.metadata.annotations).to.deep.equal({ mine: 'kept' });
  });
});
